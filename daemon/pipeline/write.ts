/** The end of the pipeline for writes: body, mode and its scope, validation, idempotency and operation. */
import type { AnyRoute } from '../../src/api/route.ts'
import type { AnswerMeta } from '../../src/client.ts'
import type { Context } from '../../src/context.ts'
import { badRequest } from '../../src/errors.ts'
import { validateInput } from '../../src/operations/input-validation.ts'
import { rehearse } from '../../src/store/rehearse.ts'
import type { Kernel } from '../kernel.ts'
import { type KnownKey, requireScopes } from './bearer.ts'
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
import type { AskedRequest, Handler } from './pipeline.ts'
import { inputOf, type Sealed, sealAnswer } from './read.ts'

/** A body that has not been read yet. */
export interface IncomingBody {
  request: Request
  /** Bytes that it may have. */
  ceiling: number
  /** Bytes that the request declares; undefined where it does not. */
  declared: number | undefined
}

/** Throws bad_request for a body that declares to be larger than the route takes. */
export function incomingBody({ config }: Kernel, route: AnyRoute, request: Request): IncomingBody {
  const ceiling = bodyCeiling(route, config)
  return { request, ceiling, declared: declaredLength(request, ceiling) }
}

interface AdmittedWrite {
  requestId: string
  /** The headers of the answer. */
  headers: Record<string, string>
  key: KnownKey | undefined
}

interface ReceivedWrite extends AdmittedWrite {
  method: string
  body: RequestBody
}

/** Reads the body within the room that bodies have, and carries out what it asks for. */
export async function write(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  { incoming, ...admitted }: AdmittedWrite & { incoming: IncomingBody },
): Promise<Sealed> {
  const { request, ceiling, declared } = incoming
  const release = await kernel.bodies.take(admitted.key?.id ?? '', declared ?? ceiling)
  try {
    const inspect = inspectorOf(handler.route, asked.header('content-type') ?? '', jsonCeiling(kernel.config))
    const body = await readRequestBody(request, { ceiling, declared, inspect })
    await kernel.bodies.turn(body.raw.byteLength)
    return await perform(kernel, handler, asked, { ...admitted, method: request.method, body })
  } finally {
    release()
  }
}

async function perform(
  kernel: Kernel,
  { route, operation, prepare }: Handler,
  asked: AskedRequest,
  { body, method, requestId, headers, key }: ReceivedWrite,
): Promise<Sealed> {
  // Each step over a large body runs in its own turn of the event loop, so that other requests are not delayed by all
  // of them together.
  const nextTurn = () => kernel.bodies.turn(body.raw.byteLength)
  const fields = route.raw ? {} : await parseBody(kernel, route, body)
  await nextTurn()
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
  const requestHash = idempotencyKey && (await hashRequest(method, asked.target, body))
  if (prepare) Object.assign(input, await prepare(kernel, body.raw))
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
  let stored: Sealed | undefined
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
