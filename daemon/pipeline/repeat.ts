/** Carries out a stored write again, for whoever repeats it: the route, its input and its operation, without the pipeline. */
import type { Approver } from '../../src/api/envelope.ts'
import { validateInput } from '../../src/api/input-validation.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import type { RepeatedAs, Services, StoredRequest } from '../../src/context.ts'
import { notFound } from '../../src/platform/errors.ts'
import type { GuardMode } from '../../src/solana/constants.ts'
import type { Mount } from '../mount.ts'
import { mountBelow, pathHead } from '../routes/index.ts'
import { makeContext } from './context.ts'
import type { Handler } from './handler.ts'
import { inputOf } from './read.ts'
import { requireSignable } from './signable.ts'

/** Throws not_found without such a route, bad_request for fields that it no longer takes, and what the operation throws. */
export async function repeatRequest(services: Services, request: StoredRequest, as: RepeatedAs): Promise<unknown> {
  const { route, operation, params } = await loadHandler(request)
  const { target, fields } = request
  if (fields.mode === 'signed') requireSignable(route, fields)
  const input: Record<string, unknown> = {
    ...inputOf(route, { version: undefined, headers: new Headers(), target, params }),
    ...(route.body ? validateInput(route.body, fields) : {}),
  }
  const { actor, requestId, externalUid, metadata, signing, approved, renews, dryRun = false, commit } = as
  const meta = { request_id: requestId }
  const context = makeContext(services, undefined, meta, signing, commit ?? ((work) => services.store.write(work)))
  const more = { ...(approved === undefined ? {} : { approved }), ...(renews === undefined ? {} : { renews }) }
  Object.assign(context, { actor, externalUid, metadata, dryRun, ...more })
  if (input.tx_version === 1) context.txVersion = 1
  if (input.guard !== undefined) context.guard = input.guard as GuardMode
  const { approver } = input as { approver?: Approver }
  if (typeof approver !== 'object') return operation(context, input as never)
  const { proposeRouted } = await import('../../src/operations/proposals/squads/propose-routed.ts')
  return proposeRouted(context, { route, target, fields, input, approver }, operation as never)
}

/** Handlers of the first segments of paths that were asked for. */
const handlers = new Map<string, Promise<Handler[]>>()

async function handlersBelow(head: string): Promise<Handler[]> {
  const known = handlers.get(head)
  if (known !== undefined) return known
  const mounted: Handler[] = []
  const mount = (route: AnyRoute, operation: Handler['operation']) => void mounted.push({ route, operation })
  const collect = Object.assign(mount, { methodsOf: () => [] }) as Mount
  // A path without parameters is found before one with parameters that it matches too.
  const made = mountBelow(collect, head).then(() => mounted.sort((a, b) => parametersOf(a) - parametersOf(b)))
  handlers.set(head, made)
  return made
}

const parametersOf = ({ route }: Handler): number => route.path.split('{').length

async function loadHandler({ method, target }: StoredRequest): Promise<Handler & { params: Record<string, string> }> {
  const [path = ''] = target.split('?')
  for (const handler of await handlersBelow(pathHead(path))) {
    if (handler.route.method !== method) continue
    const pattern = new RegExp(`^${handler.route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
    const match = pattern.exec(path)
    if (match !== null) return { ...handler, params: decoded(match.groups ?? {}) }
  }
  throw notFound(`There is no ${method.toUpperCase()} ${path} any more`)
}

const decoded = (params: Record<string, string>) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
