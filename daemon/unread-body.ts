/** Reads the rest of a body that a client still sends after its request was answered. */
import type { IncomingMessage } from 'node:http'

/** Milliseconds without a byte, and in total, after which the rest is not awaited any longer. */
const SILENCE_MS = 2_000
const LONGEST_MS = 30_000
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Reads the rest of the body within these limits, and closes the connection beyond them; undefined if the whole body
 * has arrived. The answer ends only afterwards: a client that writes before it reads would lose it if the connection
 * closed earlier.
 */
export function restOfBody(incoming: IncomingMessage): Promise<void> | undefined {
  if (incoming.complete || incoming.destroyed) return undefined
  return new Promise((resolve) => {
    let bytes = 0
    const onData = (piece: Uint8Array) => {
      bytes += piece.byteLength
      if (bytes > MOST_BYTES) giveUp()
      else silence.refresh()
    }
    const settle = () => {
      clearTimeout(silence)
      clearTimeout(longest)
      incoming.off('data', onData).off('end', settle).off('error', settle).off('close', settle)
      resolve()
    }
    const giveUp = () => {
      settle()
      incoming.socket.destroySoon()
    }
    const silence = setTimeout(giveUp, SILENCE_MS)
    const longest = setTimeout(giveUp, LONGEST_MS)
    incoming.on('data', onData).on('end', settle).on('error', settle).on('close', settle)
  })
}
