/**
 * Looks for missing transactions in the histories of their payer and nonce account. A node may forget a status and still
 * list the transaction there; a list that has passed a slot shows that it was in no block up to that slot.
 */
import { executionOrder, type ListedSignature, listSignatures, readExecuted } from '../chain/reads/history.ts'
import { readSlotAfter, type SignatureStatus } from '../chain/reads/statuses.ts'
import { BLOCKHASH_SLOTS, ENDED_BLOCKHASH_SLOTS } from '../solana/constants.ts'
import { advancedNonces, lifetimeOf } from '../solana/lifetimes.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { type FollowedTransaction, rawTransactions } from '../store/transactions/transactions.ts'
import type { Budget } from './budget.ts'
import type { FollowingServices } from './services.ts'

/** A busy payer's list is followed back for this many pages. */
const MOST_PAGES = 3
/** Transactions of a nonce account that are read to find the one that used the same nonce value. */
const MOST_NONCE_READS = 4

/** What the histories show: the transaction's status, or that it is in no block. */
export type HistoryEvidence = SignatureStatus | 'absent'

interface Listing {
  entries: readonly ListedSignature[]
  /** Oldest slot that the list reaches; 0 at the start of the history. */
  from: number
}

/** A missing transaction. */
interface SoughtTransaction {
  row: FollowedTransaction
  /** Slot of its first check, or the slot in which it was last seen. */
  sinceSlot: number
  /** The slot in which it was, if it was seen. Otherwise it is in a block before its blockhash ended, if in any. */
  lastSlot?: number
}

/**
 * Returns the evidence about each transaction by signature. Costs a call for each payer and page, and one for each that
 * was never seen, while the budget lasts. Throws internal_error when the node fails.
 */
export async function historyEvidence(
  { store, chain }: FollowingServices,
  sought: readonly SoughtTransaction[],
  budget: Budget,
): Promise<ReadonlyMap<string, HistoryEvidence>> {
  const raws = await rawTransactions(
    store.db,
    sought.map(({ row }) => row.signature),
  )
  const listings = new Map<string, Listing | null>()
  const listed = async (address: string, from: number) => {
    const known = listings.get(address)
    if (known !== undefined && (known === null || known.from < from)) return known
    const listing = await listTo(chain, address, from, budget)
    listings.set(address, listing)
    return listing
  }
  const evidence = new Map<string, HistoryEvidence>()
  for (const each of sought) {
    const { row, sinceSlot } = each
    const raw = raws.get(row.signature)
    if (raw === undefined || raw.length === 0) continue
    // It may have landed just before its first check.
    const from = sinceSlot - BLOCKHASH_SLOTS
    const listing = await listed(decodeWireTransaction(raw).message.keys[0] ?? '', from)
    const ownIn = (list: Listing | null) => list?.entries.find(({ signature }) => signature === row.signature)
    const own = ownIn(listing)
    if (own !== undefined) evidence.set(row.signature, statusOf(own))
    else if (row.nonce_account !== null && each.lastSlot === undefined) {
      const uses = await listed(row.nonce_account, from)
      const ownUse = ownIn(uses)
      if (ownUse !== undefined) evidence.set(row.signature, statusOf(ownUse))
      else if (await isNonceUsed(chain, uses, { row, sinceSlot, budget })) evidence.set(row.signature, 'absent')
    } else if (await hasPassed(chain, listing, each, budget)) evidence.set(row.signature, 'absent')
  }
  return evidence
}

const statusOf = ({ slot, err, isFinal }: ListedSignature): SignatureStatus => ({
  slot,
  confirmations: isFinal ? null : 0,
  err,
  confirmationStatus: isFinal ? 'finalized' : 'confirmed',
})

/** Whether the list has a final entry after the last slot in which the transaction can be. */
async function hasPassed(
  chain: FollowingServices['chain'],
  listing: Listing | null,
  { sinceSlot, lastSlot }: SoughtTransaction,
  budget: Budget,
): Promise<boolean> {
  const newest = listing?.entries.find(({ isFinal }) => isFinal)?.slot ?? 0
  if (lastSlot !== undefined) return newest > lastSlot
  // A skipped slot does not count towards the age of a blockhash.
  if (newest <= sinceSlot + ENDED_BLOCKHASH_SLOTS || !budget.take()) return false
  // Some providers do not list blocks.
  const end = await readSlotAfter(chain, sinceSlot, ENDED_BLOCKHASH_SLOTS).catch(() => null)
  return end !== null && newest > end
}

/** Lists back to a slot below `sinceSlot`, or to the start. Returns null if the budget or the pages end before. */
async function listTo(
  chain: FollowingServices['chain'],
  address: string,
  sinceSlot: number,
  budget: Budget,
): Promise<Listing | null> {
  const entries: ListedSignature[] = []
  for (let pages = 0; pages < MOST_PAGES && budget.take(); pages++) {
    const page = await listSignatures(chain, address, { before: entries.at(-1)?.signature })
    entries.push(...page)
    const last = page.at(-1)
    // Some nodes answer shorter pages, so only an empty one is the start of the history.
    if (last === undefined) return { entries, from: 0 }
    if (last.slot < sinceSlot) return { entries, from: last.slot }
  }
  return null
}

/**
 * Whether another final transaction has used the nonce value of the row, which is used once, or has advanced the nonce
 * after the first check: the row cannot land after that, and the list would show it before.
 */
async function isNonceUsed(
  chain: FollowingServices['chain'],
  listing: Listing | null,
  { row, sinceSlot, budget }: { row: FollowedTransaction; sinceSlot: number; budget: Budget },
): Promise<boolean> {
  const final = (listing?.entries ?? []).filter(({ isFinal }) => isFinal)
  const later = final.filter(({ slot }) => slot >= sinceSlot - BLOCKHASH_SLOTS)
  // The value was used by the first one after the check, or by the last one before it.
  const others = later.length > 0 ? later.slice(-MOST_NONCE_READS) : final.slice(0, MOST_NONCE_READS)
  for (const { signature } of others) {
    if (!budget.take()) return false
    const executed = await readExecuted(chain, signature).catch(() => null)
    if (executed === null) continue
    const { blockhash, nonceAccount } = lifetimeOf(executed.message)
    const isDurable = nonceAccount === row.nonce_account
    if (isDurable && blockhash === row.blockhash) return true
    if (row.nonce_account === null || executed.slot <= sinceSlot) continue
    // One that failed may have an ordinary blockhash, and then it advanced nothing, whatever account it names first.
    if (executed.isFailed) continue
    if (isDurable || advancedNonces(executionOrder(executed)).includes(row.nonce_account)) return true
  }
  return false
}
