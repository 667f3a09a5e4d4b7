/** What a client still sends of a body after its request was answered. */
import type { IncomingMessage } from 'node:http'

/** Milliseconds without a byte, and in all, after which the rest is no longer waited for. */
const SILENCE_MS = 2_000
const LONGEST_MS = 30_000
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Takes the rest of the body within these bounds, beyond which the connection is closed; undefined where all has
 * arrived. An answer ends only afterwards: a connection closed earlier loses it for a client that writes before it reads.
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
