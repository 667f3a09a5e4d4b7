/** Answers ordinary requests on their connection, without a Request and a Response; hono's router says which route they ask for. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Hono } from 'hono'
import { databaseVersionOf } from '../src/store/sqlite/unchanged-reads.ts'
import { atEndOfTurn } from './end-of-turn.ts'
import type { Kernel } from './kernel.ts'
import type { Mount } from './mount.ts'
import { type Answer, writeAnswer } from './pipeline/answer.ts'
import { type AskedRequest, answerRequest, type Handler } from './pipeline/pipeline.ts'
import { type Recording, type RequestEnv, type RequestRecord, recordHead } from './pipeline/request-record.ts'
import { restOfBody } from './unread-body.ts'

export interface DirectAnswers {
  router: Hono<RequestEnv>['router']
  mountedAs: Mount['mountedAs']
  kernel: Kernel
  recording: Recording
}

/** A request without its body, as Node's parser gives it. */
export type RequestLines = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>

/** Paths and queries that the URL standard leaves as they are, and that need no decoding. */
const PLAIN_TARGET = /^\/[\w/-]*(?:\?[\w=&.:-]*)?$/

/** Methods that routes of the contract have. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Answers requests of a route of the contract by a plain path in which no middleware has a part. Every other request is
 * left to `fetch`.
 */
export function directAnswers({ router, mountedAs, kernel, recording }: DirectAnswers) {
  const findOrigin = originFinder()
  const version = databaseVersionOf(kernel.store.db)
  const receive = atEndOfTurn<Received>((all) => {
    const answerThem = () => writeAnswers(kernel, recording, all)
    if (version === undefined) answerThem()
    else version.lookOnce(answerThem)
  })
  const findPlace = rememberingTargets((method, target) => {
    if (!METHODS.has(method) || !PLAIN_TARGET.test(target)) return undefined
    const question = target.indexOf('?')
    return matched(method, question < 0 ? target : target.slice(0, question))
  })

  function matched(method: string, path: string): Place | undefined {
    const [matches, stash] = router.match(method, path)
    const [first] = matches
    if (first === undefined || matches.length > 1) return undefined
    const [[answer], places] = first
    const handler = mountedAs(answer)
    return handler && { handler, params: paramsAt(places, stash) }
  }

  function find(request: RequestLines): Found | undefined {
    const { method = '', url: target = '', rawHeaders } = request
    const place = findPlace(method, target)
    const origin = findOrigin(request)
    return place && origin !== undefined ? { place, method, target, origin, rawHeaders } : undefined
  }

  return {
    /** Answers a read at once, as far as it can be; undefined where `fetch` must answer the request. */
    read(request: RequestLines): Answer | Promise<Answer> | undefined {
      if (request.method !== 'GET') return undefined
      const found = find(request)
      return found && answer(kernel, recording, found)
    },
    /** Answers a request on its connection; false where `fetch` must answer it. */
    onConnection(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
      const found = find(incoming)
      if (found === undefined) return false
      receive({ found, incoming, outgoing })
      return true
    },
  }
}

/** What a target leads to; it is the same for every request, so nothing in it is changed. */
interface Place {
  handler: Handler
  params: Record<string, string>
}

interface Found {
  place: Place
  method: string
  target: string
  origin: string
  rawHeaders: readonly string[]
}

interface Received {
  found: Found
  incoming: IncomingMessage
  outgoing: ServerResponse
}

/**
 * Answers the requests of one turn of the event loop, for which the database is looked at once, and writes the answers
 * together: a client that gets them one by one is woken as often, which costs more than many an answer.
 */
function writeAnswers(kernel: Kernel, recording: Recording, all: readonly Received[]): void {
  const writes: (() => void)[] = []
  for (const received of all) {
    const write = answerReceived(kernel, recording, received)
    if (write !== undefined) writes.push(write)
  }
  for (const write of writes) write()
}

/** Returns what writes the answer; undefined where that is waited for, and written then. */
function answerReceived(
  kernel: Kernel,
  recording: Recording,
  { found, incoming, outgoing }: Received,
): (() => void) | undefined {
  const isRead = found.method === 'GET'
  const fail = (error: unknown) => {
    kernel.log.error({ err: error }, 'an answer was not written')
    outgoing.destroy()
  }
  const write = (answered: Answer) => {
    try {
      writeAnswer(outgoing, answered, restOfBody(incoming))
    } catch (error) {
      fail(error)
    }
  }
  const answered = answer(kernel, recording, found, isRead ? undefined : incoming)
  if (!(answered instanceof Promise)) return () => write(answered)
  answered.then(write, fail)
  return undefined
}

function answer(
  kernel: Kernel,
  recording: Recording,
  { place: { handler, params }, method, target, origin, rawHeaders }: Found,
  write?: IncomingMessage,
): Answer | Promise<Answer> {
  const header = (name: string) => headerOf(rawHeaders, name)
  const asked: AskedRequest = { header, target, origin, params, write }
  const give = (record: RequestRecord) => answerRequest(kernel, handler, asked, record)
  return recordHead(recording, { method, header }, give, outcomeOfAnswer)
}

type Finder = (method: string, target: string) => Place | undefined

/** Targets that are remembered, and their length: together less than a megabyte. */
const MOST_TARGETS = 4_096
const LONGEST_TARGET = 128

/** Remembers what `find` found, because clients ask for the same again and again, and matching costs more than that. */
function rememberingTargets(find: Finder): Finder {
  const byMethod = new Map<string, Map<string, Place>>()
  return (method, target) => {
    const places = byMethod.get(method) ?? new Map<string, Place>()
    const known = places.get(target)
    if (known !== undefined) return known
    const found = find(method, target)
    if (found === undefined || target.length > LONGEST_TARGET) return found
    if (places.size >= MOST_TARGETS) places.clear()
    byMethod.set(method, places.set(target, found))
    return found
  }
}

const outcomeOfAnswer = (answered: Answer) => answered

/** Where hono's router found the parameters: at places in what it matched, or as they are. */
function paramsAt(places: Record<string, number | string>, stash: readonly string[] | undefined) {
  const params: Record<string, string> = {}
  for (const name in places) {
    const place = places[name]
    const value = typeof place === 'number' ? stash?.[place] : place
    if (value !== undefined) params[name] = value
  }
  return params
}

/** Values of one name are joined, as `Headers` joins them; Node itself would take the first of some. */
export function headerOf(rawHeaders: readonly string[], name: string): string | null {
  let value: string | null = null
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const found = rawHeaders[at]
    if (found?.length !== name.length || found.toLowerCase() !== name) continue
    const more = rawHeaders[at + 1] ?? ''
    value = value === null ? more : `${value}, ${more}`
  }
  return value
}

/**
 * Finds the origin of a request by its Host, and undefined for a Host that is missing or is not one. Clients send the
 * same again and again, so the last one is remembered.
 */
function originFinder(): (request: RequestLines) => string | undefined {
  let last: { host: string; origin: string | undefined } = { host: '', origin: undefined }
  return ({ rawHeaders }) => {
    const host = headerOf(rawHeaders, 'host') ?? ''
    if (last.host !== host) last = { host, origin: originOf(host) }
    return last.origin
  }
}

/** Hosts that are names or addresses with a port, in lower case; whatever else may be one is left to `fetch`. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::\d{1,5})?$/

function originOf(host: string): string | undefined {
  if (!PLAIN_HOST.test(host)) return undefined
  try {
    return new URL(`http://${host}`).origin
  } catch {
    return undefined
  }
}
