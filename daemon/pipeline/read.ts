/**
 * The last steps of reads: validation, operation and answer. Answers of stored records are reused until records
 * change.
 */
import { validateInput } from '../../src/api/input-validation.ts'
import type { AnyRoute, Page } from '../../src/api/route.ts'
import type { AnswerMeta } from '../../src/client.ts'
import type { Kernel, KnownKey, StoredText } from '../kernel.ts'
import { envelope } from './answer.ts'
import { makeContext, UNLINKED } from './context.ts'
import type { AskedRequest, Handler } from './handler.ts'

/** An answer without its headers. */
export interface Answer {
  status: number
  body: string
}

export function read(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  requestId: string,
  key: KnownKey | undefined,
): Promise<Answer> {
  return handler.stored
    ? readStored(kernel, handler, asked, requestId)
    : readUncached(kernel, handler, asked, requestId, key)
}

async function readStored(kernel: Kernel, handler: Handler, asked: AskedRequest, requestId: string): Promise<Answer> {
  const { version, target } = asked
  const sizeOf = ({ data, meta }: StoredText) => target.length + data.length + meta.length + ENTRY_SIZE
  return storedAnswer(
    await kernel.answers.read(version, target, () => storedText(kernel, handler, asked), sizeOf),
    requestId,
  )
}

async function readUncached(
  kernel: Kernel,
  { route, operation }: Handler,
  asked: AskedRequest,
  requestId: string,
  key: KnownKey | undefined,
): Promise<Answer> {
  const meta: AnswerMeta = { request_id: requestId }
  const context = makeContext(kernel, key, meta, UNLINKED, (work) => kernel.store.write(work))
  const data = await operation(context, inputOf(route, asked) as never)
  return answerText(route, context.status, data, meta)
}

/** Size of an entry in addition to its text, in characters, so that the number of small entries is limited too. */
const ENTRY_SIZE = 256

/** The answer of an operation that reads only stored records; it is reused until a record changes. */
async function storedText({ store }: Kernel, { route, operation }: Handler, asked: AskedRequest): Promise<StoredText> {
  return textOf(route, await operation({ store } as never, inputOf(route, asked) as never))
}

function textOf({ list }: AnyRoute, result: unknown): StoredText {
  if (!list) return { data: JSON.stringify(result), meta: '' }
  const page = result as Page<unknown>
  return { data: JSON.stringify(page.items), meta: `,${JSON.stringify(metaOf(page)).slice(1, -1)}` }
}

const metaOf = ({ items, next_cursor }: Page<unknown>) => ({
  has_more: next_cursor !== null,
  next_cursor,
  count: items.length,
})

const storedAnswer = ({ data, meta }: StoredText, requestId: string): Answer => ({
  status: 200,
  body: `{"data":${data},"meta":{"request_id":${JSON.stringify(requestId)}${meta}}}`,
})

/** The validated parameters of path and query. */
export function inputOf(route: AnyRoute, { params, target }: AskedRequest): Record<string, unknown> {
  const question = target.indexOf('?')
  const query = new URLSearchParams(question < 0 ? '' : target.slice(question))
  return {
    ...(route.params ? validateInput(route.params, params) : undefined),
    ...(route.query ? validateInput(route.query, readQuery(query)) : undefined),
  }
}

/** The query as an object; a repeated parameter becomes an array, which no schema accepts. */
function readQuery(parameters: URLSearchParams): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null)
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name)
    query[name] = values.length === 1 ? values[0] : values
  }
  return query
}

export function answerText(route: AnyRoute, status: number | undefined, result: unknown, meta: AnswerMeta): Answer {
  if (route.list) {
    const page = result as Page<unknown>
    return { status: 200, body: envelope(page.items, { ...meta, ...metaOf(page) }) }
  }
  return { status: status ?? route.status ?? 200, body: envelope(result, meta) }
}
