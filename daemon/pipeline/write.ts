/** The last steps of writes: body, mode and its scope, validation, idempotency and operation. */

import { isAscii, isUtf8 } from 'node:buffer'
import { createHash, hash as oneShot } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Approver } from '../../src/api/envelope.ts'
import { validateInput } from '../../src/api/input-validation.ts'
import { paths } from '../../src/api/paths.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import type { AnswerMeta } from '../../src/client.ts'
import type { Context, SigningLink, StoredRequest } from '../../src/context.ts'
import { Proposed } from '../../src/operations/proposals/rule/propose.ts'
import { ApiError, badRequest } from '../../src/platform/errors.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  JsonFault,
  JsonScanner,
  MAX_JSON_DEPTH,
  OPEN_BRACE,
  OPEN_BRACKET,
} from '../../src/platform/json-scanner.ts'
import type { GuardMode } from '../../src/solana/constants.ts'
import type { Tx } from '../../src/store/store.ts'
import { runAndRollBack } from '../../src/store/writing/roll-back.ts'
import { onCommit } from '../../src/store/writing/work.ts'
import type { Kernel, KnownKey } from '../kernel.ts'
import { requireScope } from './bearer.ts'
import {
  type BodySource,
  bodyCeiling,
  declaredLength,
  inspectorOf,
  jsonCeiling,
  parseJsonObject,
  type RequestBody,
  readRequestBody,
  requireJson,
} from './body.ts'
import { makeContext, UNLINKED } from './context.ts'
import { parseForm, readForm } from './form.ts'
import type { AskedRequest, Handler } from './handler.ts'
import { claimIdempotencyKey, type KeyClaim, type ReplayedAnswer, readIdempotencyKey } from './idempotency.ts'
import { type Answer, answerText, inputOf } from './read.ts'
import { requireSignable } from './signable.ts'

/** A body that has not been read yet. */
interface IncomingBody {
  source: BodySource
  /** The most bytes that it may have. */
  ceiling: number
  /** Declared length; undefined without one. */
  declared: number | undefined
}

/** Throws bad_request for a compressed body, or one whose declared length is too large for the route. */
export function incomingBody(
  { config }: Kernel,
  route: AnyRoute,
  { headers }: AskedRequest,
  source: BodySource,
): IncomingBody {
  const ceiling = bodyCeiling(route, config)
  const coding = headers.get('content-encoding') ?? ''
  if (!/^(?:identity)?$/i.test(coding)) throw unread(coding)
  return { source, ceiling, declared: declaredLength(headers.get('content-length'), ceiling) }
}

const unread = (coding: string) =>
  badRequest(`Content-Encoding ${JSON.stringify(coding)} is not supported: send the body without compression`, {
    param: 'Content-Encoding',
  })

interface AdmittedWrite {
  requestId: string
  /** The headers of the answer. */
  headers: Record<string, string>
  key: KnownKey | undefined
}

interface ReceivedWrite extends AdmittedWrite {
  body: RequestBody
}

/** Reads the body when there is room for it, and carries out the request. */
export async function write(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  { incoming, requestId, headers, key }: AdmittedWrite & { incoming: IncomingBody },
): Promise<Answer> {
  const { source, ceiling, declared } = incoming
  const room = kernel.bodies.take(key?.id ?? '', declared ?? ceiling)
  const release = room && (await room)
  try {
    const contentType = asked.headers.get('content-type') ?? ''
    const inspect = inspectorOf(handler.route, contentType, jsonCeiling(kernel.config))
    const body = await readRequestBody(source, { contentType, ceiling, declared, inspect })
    return await perform(kernel, handler, asked, { requestId, headers, key, body })
  } finally {
    release?.()
  }
}

/**
 * Each step over a large body runs in its own turn of the event loop, so that other requests wait for at most one step.
 */
async function perform(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  received: ReceivedWrite,
): Promise<Answer> {
  const { route, prepare } = handler
  const { body, key } = received
  const turn = kernel.bodies.turnFor(body.raw.byteLength)
  if (turn) await turn()
  const fields = route.raw ? {} : await parseBody(kernel, route, body)
  if (turn) await turn()
  const signed = fields.mode === 'signed'
  if (signed) requireSignable(route, fields)
  if (key && signed && route.signed) requireScope(JSON.parse(key.scopes_json), route.signed)

  const input: Record<string, unknown> = {
    ...inputOf(route, asked),
    ...(route.body && !route.raw ? validateInput(route.body, fields) : {}),
  }
  if (input.dry_run === true && signed) {
    throw badRequest('dry_run needs mode "unsigned": it shows what would be signed', { param: 'dry_run' })
  }
  if (input.force === true && signed) {
    throw badRequest('force needs mode "unsigned": the platform wallet signs nothing that is known to fail', {
      param: 'force',
    })
  }
  // Only routes that accept forms limit the number of parts, so JSON is required first.
  if (prepare) requireJson(body.contentType)
  const idempotencyKey = readIdempotencyKey(asked.headers.get('idempotency-key'))
  const requestHash =
    idempotencyKey === undefined ? undefined : await hashRequest(route.method.toUpperCase(), asked.target, body)
  if (prepare) Object.assign(input, await prepare(kernel, body.raw))
  if (turn) await turn()
  const request = { method: route.method, target: asked.target, fields }
  return performValid(kernel, handler, received, { input, request, idempotencyKey, requestHash })
}

interface ValidInput {
  input: Record<string, unknown>
  request: StoredRequest
  idempotencyKey: string | undefined
  requestHash: string | undefined
}

async function performValid(
  kernel: Kernel,
  handler: Handler,
  { requestId, headers, key }: AdmittedWrite,
  { input, request: asked, idempotencyKey, requestHash }: ValidInput,
): Promise<Answer> {
  const { route } = handler
  const meta: AnswerMeta = { request_id: requestId }
  if (input.externalUid !== undefined) meta.external_uid = input.externalUid as string
  if (input.metadata !== undefined) meta.metadata = input.metadata as Record<string, string>
  const request: ValidWrite = { kernel, handler, input, asked, meta, key }
  if (input.dry_run === true || route.dry) return performDry(request)
  if (idempotencyKey === undefined || requestHash === undefined || key === undefined) {
    const context = requestContext(request, UNLINKED, (work) => kernel.store.write(work))
    const data = await proposalOr(carryOut(request, context))
    return answerText(route, answerStatus(context, data), data, meta)
  }
  const claimed = { apiKeyId: key.id, key: idempotencyKey, requestHash }
  const claim = await claimIdempotencyKey(kernel, claimed, route.atomic)
  return claim.kind === 'claim' ? performOnce(request, claim, headers) : replayed(claim, headers)
}

function replayed(answer: ReplayedAnswer, headers: Record<string, string>): Answer {
  headers['Idempotent-Replayed'] = 'true'
  return answer
}

interface ValidWrite {
  kernel: Kernel
  handler: Handler
  input: Record<string, unknown>
  asked: StoredRequest
  meta: AnswerMeta
  key: KnownKey | undefined
}

/** The context of a write, with the version of the transactions that it builds. */
function requestContext(
  { kernel, input, asked, meta, key }: ValidWrite,
  signing: SigningLink,
  write: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
): Context {
  const context = makeContext(kernel, key, meta, signing, write)
  if (input.tx_version === 1) context.txVersion = 1
  if (input.guard !== undefined) context.guard = input.guard as GuardMode
  if (input.force === true) context.force = true
  // What a multisig approves has its own proposal.
  if (key !== undefined && typeof input.approver !== 'object') context.proposing = { request: asked }
  return context
}

/** The status that the operation has set, or 202 for an act that waits. */
const answerStatus = ({ status }: Context, data: unknown): number | undefined =>
  (data as { mode?: unknown } | null)?.mode === 'proposed' ? 202 : status

/** Returns the proposal if the operation ended because it waits for approvals. */
async function proposalOr(result: unknown): Promise<unknown> {
  try {
    return await result
  } catch (thrown) {
    if (thrown instanceof Proposed) return thrown.answer
    throw thrown
  }
}

/** Runs the operation. With `approver` its build becomes a proposal; an atomic route builds nothing, and keeps it. */
async function carryOut({ handler, input, asked: { target, fields } }: ValidWrite, context: Context): Promise<unknown> {
  const { route, operation } = handler
  // A decision about a proposal names its approver by the address.
  const { approver } = input as { approver?: Approver | string | null }
  if (!approver || typeof approver === 'string' || route.atomic || route.path === paths.proposals.create[1]) {
    return operation(context, input as never)
  }
  const { proposeRouted } = await import('../../src/operations/proposals/squads/propose-routed.ts')
  return proposeRouted(context, { route, target, fields, input, approver }, operation as never)
}

async function performDry(request: ValidWrite): Promise<Answer> {
  const { kernel, handler, meta } = request
  const { route } = handler
  const rehearsed = requestContext(request, UNLINKED, (work) => runAndRollBack(kernel.store, work))
  const data = await carryOut(request, { ...rehearsed, dryRun: true })
  // A dry run creates nothing, so the status is 200 instead of 201.
  return answerText(route, 200, data, meta)
}

/** Carries out the operation and stores its answer under the claimed key, in the operation's commit if there is one. */
async function performOnce(request: ValidWrite, claim: KeyClaim, headers: Record<string, string>): Promise<Answer> {
  const { kernel, handler, meta } = request
  const { route } = handler
  let stored: Answer | undefined
  let earlier: ReplayedAnswer | undefined
  const context: Context = requestContext(request, claim.signing, async (work) => {
    const data = await kernel.store.write(async (tx) => {
      earlier = await claim.storedAnswer(tx)
      if (earlier !== undefined) return undefined
      const data = await work(tx)
      const outcome = answerText(route, answerStatus(context, data), data, meta)
      onCommit(() => {
        stored = outcome
      })
      await claim.finish(tx, outcome.status, outcome.body)
      return data
    })
    // The operation ends here, because its change and answer are stored already.
    if (earlier !== undefined) throw new Error('the request was answered before')
    return data as Awaited<ReturnType<typeof work>>
  })
  try {
    const result = await proposalOr(carryOut(request, context))
    if (stored !== undefined) return stored
    const outcome = answerText(route, answerStatus(context, result), result, meta)
    await kernel.store.write((tx) => claim.finish(tx, outcome.status, outcome.body))
    return outcome
  } catch (thrown) {
    if (earlier !== undefined) return replayed(earlier, headers)
    if (stored !== undefined) throw thrown
    return replayed(await storedAnswerOrThrow(thrown, kernel, claim), headers)
  } finally {
    claim.end()
  }
}

/**
 * Returns the answer that another daemon stored for the same request; otherwise frees the key and throws the failure.
 */
async function storedAnswerOrThrow(thrown: unknown, { log, store }: Kernel, claim: KeyClaim): Promise<ReplayedAnswer> {
  const answered = await claim.storedAnswer(store.db).catch((error) => {
    if (error instanceof ApiError && error.code === 'conflict') throw error
    log.error({ err: error }, 'the stored answer of an Idempotency-Key could not be read')
  })
  if (answered) return answered
  // If freeing the key fails too, the first error is reported, and the lease expires by itself.
  await claim.free().catch((error) => log.error({ err: error }, 'an Idempotency-Key could not be freed'))
  throw thrown
}

type Fields = Record<string, unknown>

function parseBody({ config }: Kernel, route: AnyRoute, body: RequestBody): Fields | Promise<Fields> {
  const { multipart } = route
  if (multipart === undefined || !body.multipart) return parseJsonObject(body)
  return parseForm(body, jsonCeiling(config)).then(multipart)
}

/**
 * SHA-256 of method, path, query and body. Two texts of the same JSON have the same hash, and so do forms with the
 * same parts; amounts compare as written.
 */
async function hashRequest(method: string, pathAndQuery: string, body: RequestBody): Promise<string> {
  const target = `${method} ${pathAndQuery}\n`
  if (body.multipart) return hashForm(target, body)
  const steps = canonicalJson(body.raw)
  let step = steps.next()
  for (; !step.done; step = steps.next()) {
    // Other requests run between the steps over a large body.
    await nextTurn()
  }
  if (step.value !== undefined) return oneShot('sha256', target + step.value, 'hex')
  return createHash('sha256').update(target).update(body.raw).digest('hex')
}

async function hashForm(target: string, body: RequestBody): Promise<string> {
  const hash = createHash('sha256').update(target)
  for (const [name, value] of await readForm(body)) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(await value.arrayBuffer())
    hash
      .update(`${JSON.stringify(name)} ${typeof value === 'string' ? 'text' : 'file'} ${bytes.byteLength}\n`)
      .update(bytes)
  }
  return hash.digest('hex')
}

/** Tokens between two pauses; they take some milliseconds. */
const TOKENS_PER_STEP = 20_000

/** A list, or the fields of an object by name; the last of several fields with one name counts, as in JSON.parse. */
interface Open {
  fields: Map<string, string> | null
  values: string[]
  name: string | null
}

/**
 * Returns the canonical form, or undefined if the bytes are not JSON or too deep; pauses now and then. It does not check
 * the order of the tokens, because the text is parsed later.
 */
function* canonicalJson(bytes: Uint8Array): Generator<void, string | undefined> {
  if (!isUtf8(bytes)) return undefined
  try {
    return yield* formsIn(new JsonScanner(bytes))
  } catch (error) {
    if (error instanceof JsonFault) return undefined
    throw error
  }
}

function* formsIn(scanner: JsonScanner): Generator<void, string | undefined> {
  const open: Open[] = []
  let whole: string | undefined
  let isName = false
  const add = (value: string) => {
    const into = open.at(-1)
    if (into === undefined) whole = value
    else if (into.fields === null) into.values.push(value)
    else if (isName) into.name = value
    else if (into.name !== null) into.fields.set(into.name, value)
  }
  const { bytes } = scanner
  // Bytes and characters of ASCII have the same positions, and a piece of a string is no copy.
  const text = isAscii(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1') : null
  for (let n = 1; ; n++) {
    const byte = scanner.peek()
    const start = scanner.position
    if (byte === undefined) return open.length === 0 ? whole : undefined
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (open.length === MAX_JSON_DEPTH) return undefined
      isName = byte === OPEN_BRACE
      open.push({ fields: isName ? new Map() : null, values: [], name: null })
      scanner.position++
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      const done = open.pop()
      if (done === undefined) return undefined
      isName = false
      add(formOf(done))
      scanner.position++
    } else if (byte === COLON || byte === COMMA) {
      isName = byte === COMMA && open.at(-1)?.fields != null
      scanner.position++
    } else {
      const isEscaped = scanner.skipScalar(byte)
      const token = text?.slice(start, scanner.position) ?? scanner.text(start, scanner.position)
      add(isEscaped ? JSON.stringify(JSON.parse(token)) : token)
    }
    if (n % TOKENS_PER_STEP === 0) yield
  }
}

function formOf({ fields, values }: Open): string {
  if (fields === null) return `[${values.join()}]`
  const names = [...fields.keys()].sort()
  return `{${names.map((name) => `${name}:${fields.get(name)}`).join()}}`
}
