/** Handles one request of a connection at a time, so that a client that sends many and reads no answer costs one answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The most requests of a connection that may wait. Clients that use pipelining at all send a few. */
const MOST_WAITING = 100

type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Line {
  waiting: (() => void)[]
}

/**
 * Answers the requests of a connection one after the other. Without that, Node begins every request of one packet at
 * once: a thousand large answers for seventy kilobytes. Too many waiting requests end the connection.
 */
export function oneAtATime(handle: Handle): Handle {
  const lines = new WeakMap<Socket, Line>()
  const begin = (line: Line, request: IncomingMessage, response: ServerResponse) => {
    // The event also comes when the connection breaks; the waiting requests are not started then.
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
