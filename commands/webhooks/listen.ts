/** `svc webhooks listen`: forwards every event as it happens to a local receiver, in the form of a delivery. */
import { existsSync } from 'node:fs'
import type { Event } from '../../src/api/events.ts'
import { paths } from '../../src/api/paths.ts'
import type { Client } from '../../src/client.ts'
import { parseUrl } from '../../src/platform/urls.ts'
import {
  makeSigningSecret,
  type SigningKeys,
  signatureHeaders,
  signingKeys,
} from '../../src/platform/webhook-signature.ts'
import { listOf, text, verb } from '../cli/command.ts'
import type { Session, SessionClock } from '../cli/session.ts'
import { readStateFile, resolveSource, stateFile, writeStateFile } from '../cli/state-file.ts'
import { type EventPosition, eventPosition, followEvents } from '../events/follow.ts'
import { type EventLines, eventLine, openEventLines } from '../events/lines.ts'
import { reason } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'
import { readSecrets } from './secret.ts'

// Sends one event to a URL in the form of a webhook delivery, with a few retries.

const FORWARD_TIMEOUT_MS = 10_000
/** Milliseconds before each further attempt. */
const FORWARD_RETRY_MS = [500, 1_000, 2_000]

interface Forwarded {
  delivered: boolean
  attempts: number
  /** The HTTP status of the last attempt; null if there was no answer. */
  status: number | null
  error: string | null
  duration_ms: number
}

interface ForwardTarget {
  url: URL
  keys: readonly SigningKeys[]
}

/** Parses an http or https URL without credentials; local addresses are allowed, because forwarding is for them. */
function targetUrl(text: string): URL {
  const url = parseUrl(text)
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usage(`--forward-to must be an http or https URL, not "${text}"`, { param: '--forward-to' })
  }
  if (url.username !== '' || url.password !== '')
    throw usage('--forward-to must hold no user or password', { param: '--forward-to' })
  return url
}

/** Resolves after a 2xx answer or the last attempt; `onRetry` is called after every failed attempt before that. */
async function forward(
  { url, keys }: ForwardTarget,
  event: Event,
  clock: SessionClock,
  onRetry: (failed: string, pauseMs: number) => void,
): Promise<Forwarded> {
  const body = JSON.stringify(event)
  for (let attempts = 1; ; attempts++) {
    const start = clock.now()
    const headers = signatureHeaders({ eventId: event.id, body, keys, now: start })
    const { status, error } = await postDelivery(url, headers, body)
    const delivered = status !== null && status >= 200 && status < 300
    const pause = FORWARD_RETRY_MS[attempts - 1]
    if (delivered || pause === undefined) {
      return { delivered, attempts, status, error, duration_ms: clock.now() - start }
    }
    onRetry(error ?? `HTTP ${status}`, pause)
    await clock.sleep(pause)
  }
}

/** Resolves with the status as soon as the headers arrive; redirects are not followed. */
async function postDelivery(
  url: URL,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number | null; error: string | null }> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve) => {
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'svc-webhooks',
      },
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
    })
    sent.on('response', (answer) => {
      resolve({ status: answer.statusCode ?? null, error: null })
      answer.on('error', () => undefined)
      answer.destroy()
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ status: null, error: deliveryFault(error) }))
    sent.end(body)
  })
}

const DELIVERY_FAULTS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  ENOTFOUND: 'there is no such host',
  ABORT_ERR: `no answer in ${FORWARD_TIMEOUT_MS / 1000} seconds`,
}
const deliveryFault = ({ code, message }: NodeJS.ErrnoException) => DELIVERY_FAULTS[code ?? ''] ?? message

export const listenToEvents = verb({
  about: 'Follow events until stopped, and forward each to a URL, signed',
  details:
    'Forwards events in order, each as a separate delivery: body, X-Service-Signature and Standard Webhooks headers. A failed attempt is repeated three times in 3.5 seconds; then the event is reported and the next one follows. The position is stored below $XDG_STATE_HOME/svc/listen, for each API and --forward-to, and the next start continues there.',
  calls: [paths.events.list, paths.service.eventTypes],
  flags: {
    forward_to: text('Where each event is posted; http and local addresses are allowed', { placeholder: 'URL' }),
    events: listOf('Only these types (default: all); `svc events types` lists them', { placeholder: 'TYPE,…' }),
    secret_file: text('File (0600) with the signing secret (default: one is made and printed)', {
      placeholder: 'FILE',
      needs: ['forward_to'],
    }),
    from: text('Start after this sequence, with new events (now), or with the first (start)', {
      placeholder: 'SEQ|now|start',
    }),
    state_file: text('File for the position, for a second listener with the same target', { placeholder: 'FILE' }),
  },
  examples: [
    'svc webhooks listen',
    'svc webhooks listen --forward-to http://localhost:3000/hooks --events pool.live,pool.migrated',
  ],
  async run({ forward_to, events, secret_file, from, state_file }, session) {
    const { client, ui } = session
    const url = forward_to === undefined ? null : targetUrl(forward_to)
    const secrets = secret_file === undefined ? [makeSigningSecret()] : readSecrets(secret_file)
    const file = state_file ?? positionFile(await resolveSource(session), url?.href ?? null)
    const start = await listenStart(client, from, file)
    const types = await requestedTypes(client, events)
    writePosition(file, start)
    ui.stream()
    if (url !== null && secret_file === undefined) ui.note(`Signing secret of this session: ${secrets[0]}`)
    ui.note(`Following the events after sequence ${start.sequence}; Ctrl-C ends this.`)
    const target = url === null ? null : { url, keys: secrets.map(signingKeys) }
    const lines = await openEventLines(session)
    let { sequence } = start
    for await (const { event, position } of followEvents(session, {}, start)) {
      if (event.sequence > sequence + 1) ui.warn(`events ${sequence + 1} to ${event.sequence - 1} are no longer stored`)
      sequence = event.sequence
      if (types === null || types.has(event.type)) await passOn(session, lines, target, event)
      writePosition(file, position)
    }
    return { data: undefined }
  },
})

async function passOn(
  { clock, ui }: Session,
  lines: EventLines,
  target: ForwardTarget | null,
  event: Event,
): Promise<void> {
  if (lines.readable || target === null) lines.print(event, eventLine(event))
  if (target === null) return
  const outcome = await forward(target, event, clock, (failed, pause) =>
    ui.note(`${event.id}: ${failed}; again in ${pause / 1000} s`),
  )
  const { delivered, status, error, attempts, duration_ms } = outcome
  const answerText = error ?? `HTTP ${status}`
  lines.print(
    { ...event, forward: outcome },
    `  → ${delivered ? `${answerText} in ${duration_ms} ms` : `failed: ${answerText}`}`,
  )
  if (delivered) return
  ui.warn(`event ${event.sequence} (${event.id}) was not accepted in ${attempts} attempts: ${answerText}; going on`)
}

/** The position that `--from` names, else where the last run stopped, else the newest event. */
async function listenStart(client: Client, from: string | undefined, file: string): Promise<EventPosition> {
  if (from !== undefined && !/^(now|start|\d{1,15})$/.test(from)) {
    throw usage(`--from must be a sequence, now or start, not "${from}"`, { param: '--from' })
  }
  if (from !== undefined) return eventPosition(client, {}, from === 'now' ? 'now' : from === 'start' ? 0 : Number(from))
  const stored = readPosition(file)
  if (stored === null) return eventPosition(client, {}, 'now')
  const newest = (await client.events.list({ order: 'desc', limit: '1' })).data[0]?.sequence ?? 0
  if (newest >= stored.sequence) return stored
  throw failure(
    `the last run stopped after event ${stored.sequence}, but the newest is ${newest}: this is another database`,
    {
      next: 'say where to start: --from start, --from now or --from SEQ',
    },
  )
}

/** The requested event types, null for all. An unknown type is refused, because its events would never arrive. */
async function requestedTypes(client: Client, events: readonly string[] | undefined): Promise<Set<string> | null> {
  if (events === undefined || events.includes('*')) return null
  const existing = new Set<string>((await client.service.eventTypes()).data.map(({ type }) => type))
  const unknown = events.filter((type) => !existing.has(type))
  if (unknown.length === 0) return new Set(events)
  throw usage(`--events: there is no ${unknown.join(', ')}`, {
    param: '--events',
    next: '`svc events types` lists them',
  })
}

/** The path of the file below the XDG state folder, one for each API (or data folder) and target. */
const positionFile = (source: string, target: string | null): string => stateFile('listen', [source, target])

/** The stored position; null if no run has written one. */
function readPosition(file: string): EventPosition | null {
  if (!existsSync(file)) return null
  const { sequence, cursor } = Object(readStateFile(file)) as Record<string, unknown>
  if (Number.isSafeInteger(sequence) && (sequence as number) >= 0 && ['undefined', 'string'].includes(typeof cursor))
    return { sequence: sequence as number, cursor: cursor as string | undefined }
  throw failure(`${file} does not say where to continue`, { next: 'say where with --from: a sequence, now or start' })
}

/** Replaces the file atomically, so that a crash leaves the old position or the new one. */
function writePosition(file: string, position: EventPosition): void {
  try {
    writeStateFile(file, position)
  } catch (error) {
    throw failure(`the position cannot be stored in ${file}: ${reason(error)}`, {
      next: 'choose another with --state-file',
    })
  }
}
