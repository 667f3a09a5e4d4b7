/** Checks that the wallets of a stored list can claim, before its airdrop is put on chain and funded. */
import type { Context } from '../../context.ts'
import { entryAt } from '../../merkle/entry-list.ts'
import { readStoredList } from '../../merkle/stored-tree.ts'
import type { Row } from '../../store/schema.ts'
import { SECOND_MS } from '../../timing.ts'
import { withRow } from '../merkle-trees/open-tree.ts'
import { type Recipient, type RecipientFault, recipientFaults, refuseRecipients } from '../recipients.ts'

type Chain = Context['chain']

interface CheckedList {
  at: number
  faults: Promise<RecipientFault[]>
}

/** A list of 50,000 takes 500 calls of the node, so the next build of the same airdrop goes by what was read. */
const checkedLists = new WeakMap<Chain, Map<string, CheckedList>>()
const KEPT_MS = 60 * SECOND_MS
const MOST_KEPT = 32

/** Throws bad_request naming the first entry that is no wallet, and how many are not; not_found without the leaves. */
export async function requireClaimants(context: Context, tree: Row<'merkle_trees'>): Promise<void> {
  const { chain, clock } = context
  const lists = checkedLists.get(chain) ?? new Map<string, CheckedList>()
  checkedLists.set(chain, lists)
  const known = lists.get(tree.root)
  const isFresh = known !== undefined && clock.now() - known.at < KEPT_MS
  const faults = isFresh ? known.faults : faultsIn(context, tree)
  if (!isFresh) {
    if (lists.size >= MOST_KEPT) lists.clear()
    lists.set(tree.root, { at: clock.now(), faults })
    faults.catch(() => lists.delete(tree.root))
  }
  refuseRecipients(await faults, tree.leaf_count)
}

async function faultsIn(context: Context, tree: Row<'merkle_trees'>): Promise<RecipientFault[]> {
  const list = await withRow(context, tree, ({ head, read }) => readStoredList(head, read))
  const claimants = Array.from({ length: list.count }, (_, i): Recipient => {
    return { param: `entries.${i}.wallet`, wallet: entryAt(list, i).wallet }
  })
  return recipientFaults(context, claimants, { allowsPrograms: false })
}
