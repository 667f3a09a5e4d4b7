/** The end of the pipeline for writes: body, mode and its scope, validation, idempotency and operation. */
import type { AnyRoute } from '../../src/api/route.ts'
import type { AnswerMeta } from '../../src/client.ts'
import type { Context } from '../../src/context.ts'
import { ApiError, badRequest } from '../../src/errors.ts'
import { validateInput } from '../../src/operations/input-validation.ts'
import { rehearse } from '../../src/store/rehearse.ts'
import type { Kernel } from '../kernel.ts'
import { type KnownKey, requireScopes } from './bearer.ts'
import {
  type BodySource,
  bodyCeiling,
  declaredLength,
  hashRequest,
  inspectorOf,
  jsonCeiling,
  parseJsonObject,
  type RequestBody,
  readRequestBody,
  requireJson,
} from './body.ts'
import { makeContext, UNLINKED } from './context.ts'
import { parseForm } from './form.ts'
import { claimIdempotencyKey, type KeyClaim, type ReplayedAnswer, readIdempotencyKey } from './idempotency.ts'
import type { AskedRequest, Handler } from './pipeline.ts'
import { inputOf, type Sealed, sealAnswer } from './read.ts'

/** A body that has not been read yet. */
export interface IncomingBody {
  source: BodySource
  /** Bytes that it may have. */
  ceiling: number
  /** Bytes that the request declares; undefined where it does not. */
  declared: number | undefined
}

/** Throws bad_request for a body that declares to be larger than the route takes. */
export function incomingBody(
  { config }: Kernel,
  route: AnyRoute,
  { header }: AskedRequest,
  source: BodySource,
): IncomingBody {
  const ceiling = bodyCeiling(route, config)
  return { source, ceiling, declared: declaredLength(header('content-length'), ceiling) }
}

interface AdmittedWrite {
  requestId: string
  /** The headers of the answer. */
  headers: Record<string, string>
  key: KnownKey | undefined
}

interface ReceivedWrite extends AdmittedWrite {
  body: RequestBody
}

/**
 * Reads the body within the room that bodies have, and carries out what it asks for. Here and below nothing is awaited
 * that is there already, because each await costs as much as a small statement.
 */
export async function write(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  { incoming, ...admitted }: AdmittedWrite & { incoming: IncomingBody },
): Promise<Sealed> {
  const { source, ceiling, declared } = incoming
  const room = kernel.bodies.take(admitted.key?.id ?? '', declared ?? ceiling)
  const release = room && (await room)
  try {
    const contentType = asked.header('content-type') ?? ''
    const inspect = inspectorOf(handler.route, contentType, jsonCeiling(kernel.config))
    const body = await readRequestBody(source, { contentType, ceiling, declared, inspect })
    const turn = kernel.bodies.turn(body.raw.byteLength)
    if (turn) await turn
    return await perform(kernel, handler, asked, { ...admitted, body })
  } finally {
    release?.()
  }
}

async function perform(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  { body, requestId, headers, key }: ReceivedWrite,
): Promise<Sealed> {
  const { route, prepare } = handler
  // Each step over a large body runs in its own turn of the event loop, so that other requests are not delayed by all
  // of them together.
  const nextTurn = () => kernel.bodies.turn(body.raw.byteLength)
  const parsed = route.raw ? {} : parseBody(kernel, route, body)
  const fields = parsed instanceof Promise ? await parsed : parsed
  const afterParsing = nextTurn()
  if (afterParsing) await afterParsing
  const signed = fields.mode === 'signed'
  if (signed && route.signed === 'refused') {
    throw badRequest('mode "signed" is not possible here: only the user\'s wallet may sign. Use mode "unsigned"', {
      param: 'mode',
    })
  }
  if (key && signed && route.signed) requireScopes(JSON.parse(key.scopes_json), [route.signed])

  const input: Record<string, unknown> = {
    ...inputOf(route, asked),
    ...(route.body && !route.raw ? validateInput(route.body, fields) : {}),
  }
  const dryRun = input.dry_run === true
  if (dryRun && signed) {
    throw badRequest('dry_run is for mode "unsigned": it shows what would be signed', { param: 'dry_run' })
  }
  // This check precedes the hash, because the parts of a form are counted only for routes that accept a form.
  if (prepare) requireJson(body.contentType)
  const idempotencyKey = readIdempotencyKey(asked.header('idempotency-key'))
  const hashed = idempotencyKey && hashRequest(route.method.toUpperCase(), asked.target, body)
  const requestHash = hashed instanceof Promise ? await hashed : hashed
  if (prepare) Object.assign(input, await prepare(kernel, body.raw))
  const afterHashing = nextTurn()
  if (afterHashing) await afterHashing
  const meta: AnswerMeta = {
    request_id: requestId,
    ...(input.externalUid === undefined ? {} : { external_uid: input.externalUid as string }),
    ...(input.metadata === undefined ? {} : { metadata: input.metadata as Record<string, string> }),
  }
  const request = { kernel, handler, input, meta, key }
  if (dryRun) return performDry(request)
  if (idempotencyKey === undefined || requestHash === undefined || key === undefined) {
    const context = makeContext(kernel, key, meta, UNLINKED, (work) => kernel.store.write(work))
    const data = await handler.operation(context, input as never)
    return sealAnswer(route, context.status, data, meta)
  }
  const claiming = claimIdempotencyKey(kernel, { apiKeyId: key.id, key: idempotencyKey, requestHash }, route.atomic)
  const claim = claiming instanceof Promise ? await claiming : claiming
  const answer = claim.kind === 'replay' ? claim : await performOnce(request, claim)
  if ('kind' in answer) headers['Idempotent-Replayed'] = 'true'
  return answer
}

interface ValidWrite {
  kernel: Kernel
  handler: Handler
  input: Record<string, unknown>
  meta: AnswerMeta
  key: KnownKey | undefined
}

async function performDry({ kernel, handler: { route, operation }, input, meta, key }: ValidWrite): Promise<Sealed> {
  const rehearsed = makeContext(kernel, key, meta, UNLINKED, (work) => rehearse(kernel.store, work))
  const data = await operation({ ...rehearsed, dryRun: true }, input as never)
  // A dry run creates nothing, so the status is 200 instead of 201.
  return sealAnswer(route, 200, data, meta)
}

/** Carries out the operation and stores its answer under the claimed key, in its commit where it makes one. */
async function performOnce(
  { kernel, handler: { route, operation }, input, meta, key }: ValidWrite,
  claim: KeyClaim,
): Promise<Sealed | ReplayedAnswer> {
  let stored: Sealed | undefined
  const context: Context = makeContext(kernel, key, meta, claim.signing, async (work) => {
    let outcome: Sealed | undefined
    const data = await kernel.store.write(async (tx) => {
      const data = await work(tx)
      outcome = sealAnswer(route, context.status, data, meta)
      await claim.finish(tx, outcome.status, outcome.body)
      return data
    })
    stored = outcome
    return data
  })
  try {
    const result = await operation(context, input as never)
    if (stored !== undefined) return stored
    const outcome = sealAnswer(route, context.status, result, meta)
    await kernel.store.write((tx) => claim.finish(tx, outcome.status, outcome.body))
    return outcome
  } catch (thrown) {
    if (stored !== undefined) throw thrown
    return await insteadOf(thrown, kernel, claim)
  } finally {
    claim.end()
  }
}

/** The answer that another daemon has stored for the same request; else frees the key and throws the failure. */
async function insteadOf(thrown: unknown, { log }: Kernel, claim: KeyClaim): Promise<ReplayedAnswer> {
  const answered = await claim.answeredElsewhere().catch((error) => {
    if (error instanceof ApiError && error.code === 'conflict') throw error
    log.error({ err: error }, 'the answer to an Idempotency-Key was not looked for')
  })
  if (answered) return answered
  // Where freeing the key fails too, the first error is the one to report, and the lease expires by itself.
  await claim.free().catch((error) => log.error({ err: error }, 'an Idempotency-Key was not freed'))
  throw thrown
}

type Fields = Record<string, unknown>

function parseBody({ config }: Kernel, route: AnyRoute, body: RequestBody): Fields | Promise<Fields> {
  const { multipart } = route
  if (multipart === undefined || !body.multipart) return parseJsonObject(body)
  return parseForm(body, jsonCeiling(config)).then(multipart)
}
