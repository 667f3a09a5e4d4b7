/** Checks that the wallets of a stored list can claim, before its airdrop is created on chain and funded. */
import type { Context } from '../../context.ts'
import { entryAt } from '../../merkle/entry-list.ts'
import { readStoredList } from '../../merkle/stored-tree.ts'
import { ApiError } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import type { Row } from '../../store/schema.ts'
import { withRow } from '../merkle-trees/open-tree.ts'
import { type Recipient, requireRecipients } from '../recipients.ts'

type Chain = Context['chain']

interface CheckedList {
  at: number
  /** Rejects with bad_request if one of them cannot claim. */
  outcome: Promise<void>
}

/**
 * A list of 50,000 takes 500 calls to the node, and a key without any scope can request the check. So each root is
 * read at most once in ten minutes. Only outcomes are cached, because a list may have as many faults as entries.
 */
const checkedLists = new WeakMap<Chain, Map<string, CheckedList>>()
const KEPT_MS = 10 * MINUTE_MS
const MOST_KEPT = 10_000

/**
 * Throws bad_request naming the first entry that is not a wallet, and the number of such entries; not_found without
 * the leaves.
 */
export async function requireClaimants(context: Context, tree: Row<'merkle_trees'>): Promise<void> {
  const { chain, clock } = context
  const lists = checkedLists.get(chain) ?? new Map<string, CheckedList>()
  checkedLists.set(chain, lists)
  const known = lists.get(tree.root)
  if (known !== undefined && clock.now() - known.at < KEPT_MS) return known.outcome
  const checked = { at: clock.now(), outcome: check(context, tree) }
  // The oldest is first, because an outcome that is read again moves to the end.
  lists.delete(tree.root)
  const [oldest] = lists.size >= MOST_KEPT ? lists.keys() : []
  if (oldest !== undefined) lists.delete(oldest)
  lists.set(tree.root, checked)
  checked.outcome.catch((error) => {
    const isRefused = error instanceof ApiError && error.code === 'bad_request'
    if (!isRefused && lists.get(tree.root) === checked) lists.delete(tree.root)
  })
  return checked.outcome
}

async function check(context: Context, tree: Row<'merkle_trees'>): Promise<void> {
  const list = await withRow(context, tree, ({ head, read }) => readStoredList(head, read))
  const claimants = Array.from({ length: list.count }, (_, i): Recipient => {
    return { param: `entries.${i}.wallet`, wallet: entryAt(list, i).wallet }
  })
  await requireRecipients(context, claimants, { allowsPrograms: false })
}
