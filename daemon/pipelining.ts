/** Handles one request of a connection at a time, so that a client that sends many and reads no answer costs one answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The most requests of a connection that may wait. Clients that use pipelining at all send a few. */
const MOST_WAITING = 100

type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Line {
  isBusy: boolean
  waiting: (() => void)[]
}

/**
 * Answers the requests of a connection one after the other. Without that, Node begins every request of one packet at
 * once: a thousand large answers for seventy kilobytes. Too many waiting requests end the connection.
 */
export function oneAtATime(handle: Handle): Handle {
  const lines = new WeakMap<Socket, Line>()

  function begin(line: Line, request: IncomingMessage, response: ServerResponse): void {
    line.isBusy = true
    // One function for all responses, which costs less than a closure for each.
    response.on('close', onClose)
    handle(request, response)
  }

  /** The event also comes when the connection breaks; the waiting requests are not started then. */
  function onClose(this: ServerResponse): void {
    const { socket } = this.req
    const line = lines.get(socket)
    if (line === undefined) return
    const next = line.waiting.shift()
    if (next === undefined || socket.destroyed) line.isBusy = false
    else next()
  }

  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
    let line = lines.get(socket)
    if (line === undefined) {
      line = { isBusy: false, waiting: [] }
      lines.set(socket, line)
    }
    const of = line
    if (!of.isBusy) begin(of, request, response)
    else if (of.waiting.length < MOST_WAITING) of.waiting.push(() => begin(of, request, response))
    else socket.destroy()
  }
}
