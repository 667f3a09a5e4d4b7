/** One request of a connection at a time: whoever sends many at once, and reads none of the answers, has one of them made. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that wait for the one before them; clients that send ahead at all send a few. */
const MOST_WAITING = 100

type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Line {
  waiting: (() => void)[]
}

/**
 * Answers the requests of each connection one after the other: the next is begun when the answer before it is out. Without
 * that, Node begins all that one packet holds, a thousand large answers for seventy kilobytes. Too many end the connection.
 */
export function oneAtATime(handle: Handle): Handle {
  const lines = new WeakMap<Socket, Line>()
  const begin = (line: Line, request: IncomingMessage, response: ServerResponse) => {
    // Also where the connection broke: what waits behind it is never begun then.
    response.once('close', () => {
      const next = line.waiting.shift()
      if (next === undefined || request.socket.destroyed) lines.delete(request.socket)
      else next()
    })
    handle(request, response)
  }
  return (request, response) => {
    const { socket } = request
    const line = lines.get(socket)
    if (socket.destroyed) return
    if (line === undefined) {
      const first: Line = { waiting: [] }
      lines.set(socket, first)
      begin(first, request, response)
    } else if (line.waiting.length < MOST_WAITING) line.waiting.push(() => begin(line, request, response))
    else socket.destroy()
  }
}
