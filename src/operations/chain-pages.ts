/** Pages of rows that each chain has of its own, as it has its own ledger. */
import { optionalRead } from '../chain/reads/optional-read.ts'
import type { Context } from '../context.ts'
import type { StoredPage } from '../store/queries/paging.ts'

/** Pages that one request reads, if all their rows are of other chains. */
const MOST_PAGES = 20

/**
 * Returns a page without the rows of other chains; it may be shorter than asked for. If the node never said which chain
 * this is, it has the rows of all chains. `read` returns the page at a cursor, or the first one asked for.
 */
export async function pageOfChain<R extends { genesis: string }>(
  { chain, log }: Pick<Context, 'chain' | 'log'>,
  what: string,
  read: (cursor?: string) => Promise<StoredPage<R>>,
): Promise<StoredPage<R>> {
  let page = await read()
  // A new installation does not open its embedded chain.
  if (page.rows.length === 0) return page
  const genesis = await optionalRead(log, `${what} of all chains were listed`, () => chain.genesisHash())
  if (genesis === null) return page
  const ofChain = () => page.rows.filter((row) => row.genesis === genesis)
  // A page that has rows stays as it is, because its size is bounded.
  for (let pages = 1; pages < MOST_PAGES && ofChain().length === 0 && page.next_cursor !== null; pages++) {
    page = await read(page.next_cursor)
  }
  return { ...page, rows: ofChain() }
}
