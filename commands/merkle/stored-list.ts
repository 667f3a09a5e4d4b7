/** Fetches the whole list of a stored tree, page by page. */
import { type EntryList, type ListEntry, listFromEntries } from '../../src/merkle/entry-list.ts'
import { type PageQuery, pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'

/** Reads every wallet of the tree with its amounts, in leaf order. */
export async function fetchStoredList({ client, ui }: Session, id: string, leafCount: number): Promise<EntryList> {
  const bar = ui.progress(`Reading ${id}`)
  const entries: ListEntry[] = []
  const list = (paging: PageQuery) => client.merkleTrees.entries({ id, ...paging })
  // A list of the stated length has no more pages than this, even if some are short.
  for await (const { data } of pagesOf(list, { most: leafCount + 1 })) {
    for (const { wallet, amount, amount_locked } of data) {
      entries.push({ wallet, amount: BigInt(amount), locked: BigInt(amount_locked) })
    }
    bar(entries.length, leafCount)
  }
  ui.clear()
  return listFromEntries(entries)
}
