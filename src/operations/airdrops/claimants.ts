/** Checks that the wallets of a stored list can claim, before its airdrop is created on chain and funded. */
import type { Context } from '../../context.ts'
import { entryAt } from '../../merkle/entry-list.ts'
import { readStoredList } from '../../merkle/stored-tree.ts'
import { ApiError } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import type { RecipientTerms } from '../../solana/recipients.ts'
import type { Row } from '../../store/schema.ts'
import { withRow } from '../merkle-trees/open-tree.ts'
import { type Recipient, recipientFaults, refuseRecipients, requireRecipients } from '../recipients.ts'

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
 * Throws bad_request naming the first entry that is not a wallet (with programs: that Squads owns), and the number of such entries; not_found without
 * the leaves.
 */
export async function requireClaimants(
  context: Context,
  tree: Row<'merkle_trees'>,
  terms: RecipientTerms,
): Promise<void> {
  const { chain, clock } = context
  const lists = checkedLists.get(chain) ?? new Map<string, CheckedList>()
  checkedLists.set(chain, lists)
  const name = `${tree.root} ${terms.allowsPrograms}`
  const known = lists.get(name)
  if (known !== undefined && clock.now() - known.at < KEPT_MS) return known.outcome
  const checked = { at: clock.now(), outcome: check(context, tree, terms) }
  // The oldest is first, because an outcome that is read again moves to the end.
  lists.delete(name)
  const [oldest] = lists.size >= MOST_KEPT ? lists.keys() : []
  if (oldest !== undefined) lists.delete(oldest)
  lists.set(name, checked)
  checked.outcome.catch((error) => {
    const isRefused = error instanceof ApiError && error.code === 'bad_request'
    if (!isRefused && lists.get(name) === checked) lists.delete(name)
  })
  return checked.outcome
}

async function check(context: Context, tree: Row<'merkle_trees'>, { allowsPrograms }: RecipientTerms): Promise<void> {
  const list = await withRow(context, tree, ({ head, read }) => readStoredList(head, read))
  const claimants = Array.from({ length: list.count }, (_, i): Recipient => {
    return { param: `entries.${i}.wallet`, wallet: entryAt(list, i).wallet }
  })
  if (!allowsPrograms) return requireRecipients(context, claimants, { allowsPrograms })
  // Whoever allows programs may mean any address but an account of Squads, for which nobody could ever claim.
  const faults = await recipientFaults(context, claimants, { allowsPrograms })
  const lost = faults.filter(({ reason }) => reason === 'multisig' || reason === 'squads_account')
  refuseRecipients(lost, claimants.length)
}
