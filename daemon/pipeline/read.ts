/** The end of the pipeline for reads: validation, operation and answer, which for stored records is kept until they change. */
import type { AnyRoute, Page } from '../../src/api/route.ts'
import type { AnswerMeta } from '../../src/client.ts'
import { validateInput } from '../../src/operations/input-validation.ts'
import type { Kernel } from '../kernel.ts'
import { envelope } from './answer.ts'
import type { KnownKey } from './bearer.ts'
import { makeContext, UNLINKED } from './context.ts'
import type { AskedRequest, Handler } from './pipeline.ts'

interface Sealed {
  status: number
  body: string
}

export async function read(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  requestId: string,
  key: KnownKey | undefined,
): Promise<Sealed> {
  const { route, operation, stored } = handler
  if (stored) return readStored(kernel, handler, asked, requestId)
  const meta: AnswerMeta = { request_id: requestId }
  const context = makeContext(kernel, key, meta, UNLINKED, (work) => kernel.store.write(work))
  const result = await operation(context, inputOf(route, asked) as never)
  return sealAnswer(route, context.status, result, meta)
}

/** The text of an answer's data, and of what its meta has after the request id. */
export interface StoredText {
  data: string
  meta: string
}

/** Answers from the records as they are: with the text of an earlier answer where nothing was committed since. */
async function readStored(
  { store, answers }: Kernel,
  { route, operation }: Handler,
  asked: AskedRequest,
  requestId: string,
): Promise<Sealed> {
  const { target } = asked
  const known = answers?.recall(target)
  if (known !== undefined) return { status: 200, body: storedEnvelope(known, requestId) }
  const version = answers?.version ?? Number.NaN
  const text = textOf(route, await operation({ store } as never, inputOf(route, asked) as never))
  answers?.keep(target, text, target.length + text.data.length, version)
  return { status: 200, body: storedEnvelope(text, requestId) }
}

function textOf({ list }: AnyRoute, result: unknown): StoredText {
  if (!list) return { data: JSON.stringify(result), meta: '' }
  const { items, next_cursor } = result as Page<unknown>
  const meta = { has_more: next_cursor !== null, next_cursor, count: items.length }
  return { data: JSON.stringify(items), meta: `,${JSON.stringify(meta).slice(1, -1)}` }
}

const storedEnvelope = ({ data, meta }: StoredText, requestId: string): string =>
  `{"data":${data},"meta":{"request_id":${JSON.stringify(requestId)}${meta}}}`

function inputOf(route: AnyRoute, { params, target }: AskedRequest): Record<string, unknown> {
  const question = target.indexOf('?')
  const query = new URLSearchParams(question < 0 ? '' : target.slice(question))
  return {
    ...(route.params ? validateInput(route.params, params) : undefined),
    ...(route.query ? validateInput(route.query, readQuery(query)) : undefined),
  }
}

/** The query as an object; a repeated parameter becomes an array, which no schema accepts. */
export function readQuery(parameters: URLSearchParams): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null)
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name)
    query[name] = values.length === 1 ? values[0] : values
  }
  return query
}

export function sealAnswer(route: AnyRoute, status: number | undefined, result: unknown, meta: AnswerMeta): Sealed {
  if (route.list) {
    const { items, next_cursor } = result as Page<unknown>
    const listMeta = { ...meta, has_more: next_cursor !== null, next_cursor, count: items.length }
    return { status: 200, body: envelope(items, listMeta) }
  }
  return { status: status ?? route.status ?? 200, body: envelope(result, meta) }
}
