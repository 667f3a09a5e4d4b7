/** Ends a request that was answered before its whole body had arrived, as @hono/node-server ends those that it answers. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long, and how much, a client may go on sending after its answer before its connection is closed. */
const LONGEST_MS = 500
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Takes what is left of the body after the answer, because a connection that is closed at once may lose the answer.
 * Costs next to nothing where all of it was read.
 */
export function dropUnreadBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.readableEnded) return
  outgoing.once('finish', () => {
    if (incoming.readableEnded || incoming.destroyed) return
    let bytes = 0
    const onData = (piece: Uint8Array) => {
      bytes += piece.byteLength
      if (bytes > MOST_BYTES) close()
    }
    const settle = () => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', settle).off('error', settle).off('close', settle)
    }
    const close = () => {
      settle()
      incoming.socket.destroySoon()
    }
    const timer = setTimeout(close, LONGEST_MS).unref()
    incoming.on('data', onData).on('end', settle).on('error', settle).on('close', settle)
  })
}
