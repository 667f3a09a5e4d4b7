/** Stores a locally built tree through the API. */
import type { TreeCreated, TreeRecord } from '../../src/api/merkle-trees.ts'
import { type EntryList, entryAt } from '../../src/merkle/entry-list.ts'
import type { Session } from '../cli/session.ts'
import { rememberHere } from '../signing/remembered.ts'
import { failure } from '../ui/problem.ts'
import type { RootedList } from './built-record.ts'

/** Returns the stored record; throws a failure if the server computed another root. */
export async function storeTree(
  { client, ui }: Session,
  tree: RootedList,
  built: TreeRecord,
  replace: boolean,
): Promise<TreeCreated> {
  ui.progress('Storing')(tree.list.count, 0)
  const { data } = await client.merkleTrees.create({
    mint: built.mint,
    airdrop_count: built.airdrop_count,
    entries: entriesOf(tree.list),
    ...(replace ? { replace } : {}),
  })
  ui.clear()
  if (data.root !== built.root) {
    throw failure(`the server stored ${data.id} with root ${data.root}, this command built ${built.root}`, {
      next: 'the two run different versions; do not fund this airdrop before both agree',
    })
  }
  rememberHere({ ui }, 'tree', built.id, `${built.root} ${built.total}`)
  return data
}

/** The entries with amounts as digit strings of raw units, whatever --decimals is. */
function entriesOf(list: EntryList): { wallet: string; amount: string; amount_locked?: string }[] {
  return Array.from({ length: list.count }, (_, i) => {
    const { wallet, amount, locked } = entryAt(list, i)
    return { wallet, amount: String(amount), ...(locked === 0n ? {} : { amount_locked: String(locked) }) }
  })
}
