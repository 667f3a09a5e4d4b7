/** Follows the cursors of a list to its end, and ends even if the API never does. */
import type { ClientAnswer, ListMeta } from '../../src/client.ts'
import { Problem } from '../ui/problem.ts'

/** Most pages of 100 of what a command holds in memory: a million. */
const MOST_PAGES = 10_000
/** Most pages of what it writes to a file or only counts. */
export const MOST_STEPS = 1_000_000

/** The failure of a list that does not end; asking again does not help. */
export class EndlessList extends Problem {
  constructor(message: string, next: string) {
    super('internal_error', message, { next })
  }
}

const CHECK_API = 'check which API answers: `svc config list`'

/** The fields of a request for one page. */
export type PageQuery = { limit: string; cursor?: string }

/**
 * Returns the cursor of the next page; undefined at the end. Throws a failure for a cursor that came before, because
 * such a list has no end, and for one page more than `most`.
 */
export function nextCursors(most = MOST_PAGES): (next: string | null | undefined) => string | undefined {
  const seen = new Set<string>()
  return (next) => {
    if (next === null || next === undefined) return undefined
    if (seen.has(next))
      throw new EndlessList('the API repeats a page of a list, so that the list has no end', CHECK_API)
    seen.add(next)
    if (seen.size < most) return next
    const less = `ask for less, with the flags that filter it or --limit; otherwise ${CHECK_API}`
    throw new EndlessList(`the API's list has more than ${most} pages`, less)
  }
}

/** The pages of a list, beginning after the cursor `after`. */
export async function* pagesOf<R>(
  call: (paging: PageQuery) => Promise<ClientAnswer<R[], ListMeta>>,
  { after, limit = '100', most }: { after?: string | undefined; limit?: string; most?: number } = {},
): AsyncGenerator<ClientAnswer<R[], ListMeta>> {
  const nextOf = nextCursors(most)
  let cursor = after === undefined ? undefined : nextOf(after)
  do {
    const page = await call({ limit, ...(cursor === undefined ? {} : { cursor }) })
    yield page
    cursor = nextOf(page.meta.next_cursor)
  } while (cursor !== undefined)
}

/** The items of all pages. */
export async function readAllPages<R>(...list: Parameters<typeof pagesOf<R>>): Promise<R[]> {
  const items: R[] = []
  for await (const { data } of pagesOf(...list)) items.push(...data)
  return items
}

/** Does one step after another, each of which returns the cursor of the next one. */
export async function eachStep(step: (from: { cursor?: string }) => Promise<string | null>): Promise<void> {
  const nextOf = nextCursors(MOST_STEPS)
  let cursor: string | undefined
  do cursor = nextOf(await step(cursor === undefined ? {} : { cursor }))
  while (cursor !== undefined)
}
