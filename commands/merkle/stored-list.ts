/** Fetches the whole list of a stored tree, page by page. */
import { type EntryList, type ListEntry, listFromEntries } from '../../src/merkle/entry-list.ts'
import type { Session } from '../cli/session.ts'

const ENTRIES_PER_PAGE = '100'

/** Reads every wallet of the tree with its amounts, in leaf order. */
export async function fetchStoredList({ client, ui }: Session, id: string, leafCount: number): Promise<EntryList> {
  const bar = ui.progress(`Reading ${id}`)
  const entries: ListEntry[] = []
  let cursor: string | undefined
  do {
    const page = await client.merkleTrees.entries({
      id,
      limit: ENTRIES_PER_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { wallet, amount, amount_locked } of page.data) {
      entries.push({ wallet, amount: BigInt(amount), locked: BigInt(amount_locked) })
    }
    bar(entries.length, leafCount)
    cursor = page.meta.next_cursor ?? undefined
  } while (cursor !== undefined)
  ui.clear()
  return listFromEntries(entries)
}
