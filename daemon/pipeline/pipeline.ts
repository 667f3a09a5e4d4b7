/** The path of every request: id, length, bearer, rate, the route's scope, body, mode and its scope, validation, idempotency, operation. */

import type { AnyRoute, Input, Result } from '../../src/api/route.ts'
import type { AnswerMeta } from '../../src/client.ts'
import type { Context } from '../../src/context.ts'
import { ApiError, badRequest } from '../../src/errors.ts'
import { validateInput } from '../../src/operations/input-validation.ts'
import { rehearse } from '../../src/store/rehearse.ts'
import type { Kernel } from '../kernel.ts'
import { type Answer, errorResponse, jsonAnswer } from './answer.ts'
import { authenticate, type KnownKey, requireScopes } from './bearer.ts'
import {
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
import { claimIdempotencyKey, readIdempotencyKey } from './idempotency.ts'
import { addRateLimits, type Quotas, quotasOf } from './rate-limit.ts'
import { read, readQuery, type Sealed, sealAnswer } from './read.ts'
import type { RequestRecord } from './request-record.ts'

export type Operation<R extends AnyRoute> = (context: Context, input: Input<R>) => Promise<Result<R>>

/** Replaces body validation for a `raw` route: reads the bytes before the Idempotency-Key is claimed. */
export type Prepare<I> = (kernel: Kernel, raw: Uint8Array<ArrayBuffer>) => Promise<I>

export interface Handler {
  route: AnyRoute
  // biome-ignore lint/suspicious/noExplicitAny: the pair of route and operation is checked where it is mounted
  operation: Operation<any>
  prepare?: Prepare<unknown>
  /** The operation reads nothing but stored records, so that its answer holds until the database changes. */
  stored?: true
}

/** What the pipeline reads of a request besides its body, whoever received it. */
export interface AskedRequest {
  /** Value of a header by its name in lower case; null without it. */
  header(name: string): string | null
  /** Path and query. */
  target: string
  /** Scheme, host and port that the client used. */
  origin: string
  params: Record<string, string>
  /** What a write is read from; undefined for a GET request. */
  write: { request: Request; url: URL } | undefined
}

/** What a Request asks of a mounted route. */
export function askedBy({ method }: AnyRoute, request: Request, params: Record<string, string>): AskedRequest {
  const url = new URL(request.url)
  return {
    header: (name) => request.headers.get(name),
    target: url.pathname + url.search,
    origin: url.origin,
    params,
    write: method === 'get' ? undefined : { request, url },
  }
}

/** Answers one request to a mounted route, at once where there is nothing to wait for; never throws. */
export function answerRequest(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  record: RequestRecord,
): Answer | Promise<Answer> {
  const { requestId, fault } = record
  const headers: Record<string, string> = {}
  record.route = handler.route.path
  const answered = ({ status, body }: Sealed) => noted(record, jsonAnswer(kernel, status, body, headers))
  const refused = (thrown: unknown) => {
    const quotas = thrown instanceof ApiError ? quotasOf(thrown) : undefined
    if (quotas) addRateLimits(headers, quotas, true)
    if (thrown instanceof ApiError && thrown.retryAfter !== undefined)
      headers['Retry-After'] = String(thrown.retryAfter)
    const { status, body } = errorResponse(kernel, thrown, requestId, asked.origin)
    return noted(record, jsonAnswer(kernel, status, body, { ...headers, 'X-Request-Id': requestId }))
  }
  try {
    if (fault !== undefined) throw fault
    headers['X-Request-Id'] = requestId
    const sealed = run(kernel, handler, asked, record, headers)
    return sealed instanceof Promise ? sealed.then(answered, refused) : answered(sealed)
  } catch (thrown) {
    return refused(thrown)
  }
}

/** Notes the bytes of an answer in the record too, because a middleware may put another answer in its place. */
function noted(record: RequestRecord, answer: Answer): Answer {
  record.bytes = answer.bytes
  return answer
}

/** Checks the key, its rate and its scope before the body is read, so that a caller without a key uses no memory. */
function run(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  record: RequestRecord,
  headers: Record<string, string>,
): Sealed | Promise<Sealed> {
  const { route } = handler
  const { write } = asked
  const ceiling = write ? bodyCeiling(route, kernel.config) : 0
  const declared = write ? declaredLength(write.request, ceiling) : 0
  const proceed = (key: KnownKey | undefined, hasLooked = false) => {
    if (key && route.scope) requireScopes(JSON.parse(key.scopes_json), [route.scope])
    if (!write) return read(kernel, handler, asked, record.requestId, { key, hasLooked })
    const { requestId } = record
    return receive(kernel, handler, { ...write, ceiling, declared, params: asked.params, requestId, headers, key })
  }
  if (route.public) return proceed(undefined)
  const key = admit(kernel, asked, record, headers)
  return key instanceof Promise ? key.then((found) => proceed(found)) : proceed(key, kernel.keys !== undefined)
}

/** Finds the key and counts the request against its limits. What is known already is not waited for. */
function admit(
  kernel: Kernel,
  asked: AskedRequest,
  record: RequestRecord,
  headers: Record<string, string>,
): KnownKey | Promise<KnownKey> {
  const count = (key: KnownKey): KnownKey | Promise<KnownKey> => {
    const counted = (quotas: Quotas) => {
      addRateLimits(headers, quotas, false)
      return key
    }
    const quotas = kernel.limiter.admit(key)
    return quotas instanceof Promise ? quotas.then(counted) : counted(quotas)
  }
  const key = authenticate(kernel, asked.header('authorization'), record)
  return key instanceof Promise ? key.then(count) : count(key)
}

interface Receiving extends Omit<PipelineRequest, 'body'> {
  ceiling: number
  declared: number | undefined
}

/** Reads the body of a write within the room that bodies have. */
async function receive(kernel: Kernel, handler: Handler, { ceiling, declared, ...asked }: Receiving): Promise<Sealed> {
  const { request, key } = asked
  const release = await kernel.bodies.take(key?.id ?? '', declared ?? ceiling)
  try {
    const inspect = inspectorOf(handler.route, request.headers.get('content-type') ?? '', jsonCeiling(kernel.config))
    const body = await readRequestBody(request, { ceiling, declared, inspect })
    await kernel.bodies.turn(body.raw.byteLength)
    return await perform(kernel, handler, { ...asked, body })
  } finally {
    release()
  }
}

interface PipelineRequest {
  request: Request
  url: URL
  params: Record<string, string>
  requestId: string
  /** The headers of the answer. */
  headers: Record<string, string>
  key: KnownKey | undefined
  /** The body of a write; undefined for a GET request. */
  body: RequestBody | undefined
}

async function perform(
  kernel: Kernel,
  { route, operation, prepare }: Handler,
  { request, url, params, requestId, headers, key, body }: PipelineRequest,
): Promise<{ status: number; body: string }> {
  // Each step over a large body runs in its own turn of the event loop, so that other requests are not delayed by all
  // of them together.
  const nextTurn = () => kernel.bodies.turn(body?.raw.byteLength ?? 0)
  const fields = body === undefined || route.raw ? {} : await parseBody(kernel, route, body)
  await nextTurn()
  const signed = fields.mode === 'signed'
  if (signed && route.signed === 'refused') {
    throw badRequest('mode "signed" is not possible here: only the user\'s wallet may sign. Use mode "unsigned"', {
      param: 'mode',
    })
  }
  if (key && signed && route.signed) requireScopes(JSON.parse(key.scopes_json), [route.signed])

  const input: Record<string, unknown> = {
    ...(route.params ? validateInput(route.params, params) : {}),
    ...(route.query ? validateInput(route.query, readQuery(url.searchParams)) : {}),
    ...(route.body && !route.raw ? validateInput(route.body, fields) : {}),
  }
  const dryRun = input.dry_run === true
  if (dryRun && signed) {
    throw badRequest('dry_run is for mode "unsigned": it shows what would be signed', { param: 'dry_run' })
  }
  // This check precedes the hash, because the parts of a form are counted only for routes that accept a form.
  if (body && prepare) requireJson(body.contentType)
  const idempotencyKey = body ? readIdempotencyKey(request.headers.get('idempotency-key')) : undefined
  const requestHash =
    idempotencyKey && body ? await hashRequest(request.method, url.pathname + url.search, body) : undefined
  if (body && prepare) Object.assign(input, await prepare(kernel, body.raw))
  await nextTurn()
  const meta: AnswerMeta = {
    request_id: requestId,
    ...(input.externalUid === undefined ? {} : { external_uid: input.externalUid as string }),
    ...(input.metadata === undefined ? {} : { metadata: input.metadata as Record<string, string> }),
  }
  const sealed = (context: Context, result: unknown) => sealAnswer(route, context.status, result, meta)
  if (dryRun) {
    const context = { ...makeContext(kernel, key, meta, UNLINKED, (work) => rehearse(kernel.store, work)), dryRun }
    const data = await operation(context, input as never)
    // A dry run creates nothing, so the status is 200 instead of 201.
    return sealed({ ...context, status: 200 }, data)
  }
  if (idempotencyKey === undefined || requestHash === undefined || key === undefined) {
    const context = makeContext(kernel, key, meta, UNLINKED, (work) => kernel.store.write(work))
    return sealed(context, await operation(context, input as never))
  }

  const claimed = { apiKeyId: key.id, key: idempotencyKey, requestHash }
  const claim = await claimIdempotencyKey(kernel, claimed, route.atomic)
  if (claim.kind === 'replay') {
    headers['Idempotent-Replayed'] = 'true'
    return claim
  }
  let stored: { status: number; body: string } | undefined
  const context: Context = makeContext(kernel, key, meta, claim.signing, async (work) => {
    const [data, outcome] = await kernel.store.write(async (tx) => {
      await claim.begin(tx)
      const data = await work(tx)
      const outcome = sealed(context, data)
      await claim.finish(tx, outcome.status, outcome.body)
      return [data, outcome] as const
    })
    stored = outcome
    return data
  })
  try {
    const result = await operation(context, input as never)
    if (stored === undefined) {
      const outcome = sealed(context, result)
      await kernel.store.write(async (tx) => {
        await claim.begin(tx)
        await claim.finish(tx, outcome.status, outcome.body)
      })
      stored = outcome
    }
    return stored
  } catch (thrown) {
    if (claim.replay !== undefined) {
      headers['Idempotent-Replayed'] = 'true'
      return claim.replay
    }
    // Where freeing the key fails too, the first error is the one to report, and the lease expires by itself.
    if (stored === undefined)
      await claim.free().catch((error) => kernel.log.error({ err: error }, 'an Idempotency-Key was not freed'))
    throw thrown
  } finally {
    claim.end()
  }
}

async function parseBody({ config }: Kernel, route: AnyRoute, body: RequestBody): Promise<Record<string, unknown>> {
  if (route.multipart === undefined || !body.multipart) return parseJsonObject(body)
  return route.multipart(await parseForm(body, jsonCeiling(config)))
}
