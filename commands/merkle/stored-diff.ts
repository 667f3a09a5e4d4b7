/** Compares a list with a stored tree, whose leaves the API tells one wallet at a time. */
import { ApiError } from '../../src/errors.ts'
import { type Entry, type EntryList, entryAt } from '../../src/merkle/entry-list.ts'
import type { Session } from '../command.ts'
import type { Comparison, Side } from './diff.ts'

const AT_ONCE = 16

interface Task {
  id: string
  tree: Side
  list: EntryList
  /** The hashes of both lists agree: nothing to ask. */
  same: boolean
  /** The stored tree is the earlier of the two. */
  storedFirst: boolean
}

/** Asks the API for each wallet of the list; what the tree holds besides is counted, not named. */
export async function compareWithStored(
  { id, tree, list, same, storedFirst }: Task,
  session: Session,
): Promise<Comparison> {
  const comparison: Comparison = {
    added: [],
    removed: [],
    changed: [],
    unchanged: same ? list.count : 0,
    reordered: false,
    unnamed: 0,
  }
  if (same) return comparison
  const bar = session.ui.progress('Comparing')
  const onlyInList = storedFirst ? comparison.added : comparison.removed
  let found = 0
  for (let from = 0; from < list.count; from += AT_ONCE) {
    const entries = Array.from({ length: Math.min(AT_ONCE, list.count - from) }, (_, i) => entryAt(list, from + i))
    const stored = await Promise.all(entries.map((entry) => storedAmount(session, id, entry)))
    for (const [i, { wallet, amount }] of entries.entries()) {
      const there = stored[i]
      const here = String(amount)
      if (there === undefined) onlyInList.push({ wallet, amount: here })
      else {
        found++
        const [before, after] = storedFirst ? [there, here] : [here, there]
        if (before === after) comparison.unchanged++
        else comparison.changed.push({ wallet, before, after })
      }
    }
    bar(from + entries.length, list.count)
  }
  session.ui.clear()
  comparison.unnamed = tree.leaf_count - found
  comparison.reordered = onlyInList.length === 0 && comparison.changed.length === 0 && comparison.unnamed === 0
  return comparison
}

/** In raw units; undefined when the wallet is not in the tree. */
async function storedAmount({ client }: Session, id: string, { wallet }: Entry): Promise<string | undefined> {
  try {
    return (await client.merkleTrees.proof({ id, wallet })).data.amount
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined
    throw error
  }
}
