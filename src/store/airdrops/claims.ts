/** Storage of airdrop claims, each stored once. Totals by hour and the median are updated with each claim. */
import { type SqlBool, sql } from 'kysely'
import { HOUR_MS } from '../../platform/timing.ts'
import { addedColumn, addedParts, highAndLow } from '../queries/amount-parts.ts'
import { listing } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

type AirdropClaimRow = Row<'airdrop_claims'>
type Figures = Row<'airdrop_claim_figures'>

/** The claims of one airdrop on the chain with this genesis hash. */
export interface ClaimedAirdrop {
  genesis: string
  airdrop_id: string
}

export interface NewAirdropClaim extends ClaimedAirdrop {
  wallet: string
  kind: AirdropClaimRow['kind']
  /** Raw units that were not locked. */
  amount: bigint
  /** Raw units that were locked and have vested. */
  amount_locked: bigint
  /**
   * Set if only the total of locked raw units claimed by the wallet is known. The claim's amount is the total minus
   * stored claims.
   */
  withdrawn?: bigint | undefined
  signature: string
  slot: number
  /** Unix milliseconds. */
  claimed_at: number
}

/** Digits of the largest sum of two u64. */
const SIZE_DIGITS = 20

export const pageAirdropClaims = listing('airdrop_claims', ['genesis', 'airdrop_id'], {
  weights: { signature: 1 },
})

/** Returns which of these wallets have a recorded claim of the airdrop. */
export async function claimedAmong(
  reader: Reader,
  { genesis, airdrop_id }: ClaimedAirdrop,
  wallets: readonly string[],
): Promise<Set<string>> {
  if (wallets.length === 0) return new Set()
  const claims = reader.selectFrom('airdrop_claims').select('wallet').where('genesis', '=', genesis)
  const rows = await claims.where('airdrop_id', '=', airdrop_id).where('wallet', 'in', wallets).execute()
  return new Set(rows.map(({ wallet }) => wallet))
}

/**
 * Stores a claim with the totals and the median of its airdrop. Returns false if it is already stored. A first claim
 * that is reported again in a later slot, because a fork dropped it, replaces the stored one.
 */
export async function recordAirdropClaim(tx: Tx, told: NewAirdropClaim): Promise<boolean> {
  const { genesis, airdrop_id, wallet, kind, signature, slot, claimed_at } = told
  const dedupe_by = kind === 'claim' ? '' : signature
  const figures = await lockedFigures(tx, told)
  const stored = await tx
    .selectFrom('airdrop_claims')
    .selectAll()
    .where('genesis', '=', genesis)
    .where('airdrop_id', '=', airdrop_id)
    .where('wallet', '=', wallet)
    .where('dedupe_by', '=', dedupe_by)
    .executeTakeFirst()
  if (stored !== undefined) {
    if (stored.signature !== signature && stored.slot < slot) await moveClaim(tx, stored, told)
    return false
  }
  const claim = await withLockedPart(tx, told)
  const size = String(claim.amount + claim.amount_locked).padStart(SIZE_DIGITS, '0')
  const { seq } = await tx
    .insertInto('airdrop_claims')
    .values({ ...storedColumns(claim), size, dedupe_by })
    .returning('seq')
    .executeTakeFirstOrThrow()
  await addToHour(tx, claim, 1)
  const median = await medianWith(tx, figures, { size, seq })
  await tx
    .updateTable('airdrop_claim_figures')
    .set({
      claims: figures.claims + 1,
      median_size: median.size,
      median_seq: median.seq,
      first_at: Math.min(figures.first_at ?? claimed_at, claimed_at),
      last_at: Math.max(figures.last_at ?? claimed_at, claimed_at),
    })
    .where('genesis', '=', genesis)
    .where('airdrop_id', '=', airdrop_id)
    .execute()
  return true
}

/** If two claims were read together, the first gets the amount of both, so that the sum is right. */
async function withLockedPart(tx: Tx, { withdrawn, ...claim }: NewAirdropClaim): Promise<NewAirdropClaim> {
  if (withdrawn === undefined) return claim
  const { genesis, airdrop_id, wallet } = claim
  const rows = tx.selectFrom('airdrop_claims').select('amount_locked').where('genesis', '=', genesis)
  const stored = await rows.where('airdrop_id', '=', airdrop_id).where('wallet', '=', wallet).execute()
  const rest = stored.reduce((sum, { amount_locked }) => sum - BigInt(amount_locked), withdrawn)
  return { ...claim, amount_locked: rest > 0n ? rest : 0n }
}

const storedColumns = ({ amount, amount_locked, withdrawn, ...claim }: NewAirdropClaim) => ({
  ...claim,
  amount: String(amount),
  amount_locked: String(amount_locked),
})

/**
 * Blocks other writers of the airdrop's claims until the commit, because each moves the median from its current place.
 */
const lockedFigures = (tx: Tx, { genesis, airdrop_id }: ClaimedAirdrop): Promise<Figures> =>
  tx
    .insertInto('airdrop_claim_figures')
    .values({ genesis, airdrop_id, claims: 0, median_size: null, median_seq: null, first_at: null, last_at: null })
    .onConflict((conflict) => conflict.columns(['genesis', 'airdrop_id']).doUpdateSet({ genesis }))
    .returningAll()
    .executeTakeFirstOrThrow()

/** The amounts and so the median stay the same, because the wallet's leaf determines its first claim. */
async function moveClaim(
  tx: Tx,
  { seq, amount, amount_locked, ...stored }: AirdropClaimRow,
  { signature, slot, claimed_at }: NewAirdropClaim,
): Promise<void> {
  const moved = { ...stored, amount: BigInt(amount), amount_locked: BigInt(amount_locked) }
  await addToHour(tx, moved, -1)
  await addToHour(tx, { ...moved, claimed_at }, 1)
  await tx.updateTable('airdrop_claims').set({ signature, slot, claimed_at }).where('seq', '=', seq).execute()
}

async function addToHour(
  tx: Tx,
  claim: Omit<NewAirdropClaim, 'signature' | 'slot' | 'wallet'>,
  times: 1 | -1,
): Promise<void> {
  const { genesis, airdrop_id, kind, claimed_at } = claim
  const [amount, locked] = [highAndLow(claim.amount * BigInt(times)), highAndLow(claim.amount_locked * BigInt(times))]
  const table = 'airdrop_claim_totals'
  await tx
    .insertInto(table)
    .values({
      genesis,
      airdrop_id,
      hour: Math.floor(claimed_at / HOUR_MS),
      claims: times,
      wallets: kind === 'claim' ? times : 0,
      amount_high: amount.high,
      amount_low: amount.low,
      locked_high: locked.high,
      locked_low: locked.low,
    })
    .onConflict((conflict) => {
      const [sum, sumLocked] = [addedParts(table, 'amount'), addedParts(table, 'locked')]
      return conflict.columns(['genesis', 'airdrop_id', 'hour']).doUpdateSet({
        claims: addedColumn(table, 'claims'),
        wallets: addedColumn(table, 'wallets'),
        amount_high: sum.high,
        amount_low: sum.low,
        locked_high: sumLocked.high,
        locked_low: sumLocked.low,
      })
    })
    .execute()
}

/** A place in the order of claims by size. */
interface SizePlace {
  size: string
  seq: number
}

/**
 * Returns the lower middle of the order after one more claim. It is at most one place from the previous middle, so
 * only one neighbour is read.
 */
async function medianWith(tx: Tx, figures: Figures, added: SizePlace): Promise<SizePlace> {
  const { claims, median_size, median_seq } = figures
  if (median_size === null || median_seq === null) return added
  const middle = { size: median_size, seq: median_seq }
  const isBehind = added.size > middle.size || (added.size === middle.size && added.seq > middle.seq)
  const isEven = (claims + 1) % 2 === 0
  // For an odd number, a claim after the middle moves it up. For an even number, a claim before the middle moves it
  // down.
  if (isBehind === isEven) return middle
  return (await claimBeside(tx, figures, middle, isBehind ? '>' : '<')) ?? middle
}

/** Returns the claim next to a place in the order by size, or null at an end. */
export async function claimBeside(
  reader: Reader,
  { genesis, airdrop_id }: ClaimedAirdrop,
  { size, seq }: SizePlace,
  side: '<' | '>',
): Promise<SizePlace | null> {
  const order = side === '>' ? 'asc' : 'desc'
  const next = reader
    .selectFrom('airdrop_claims')
    .select(['size', 'seq'])
    .where('genesis', '=', genesis)
    .where('airdrop_id', '=', airdrop_id)
    .where(sql<SqlBool>`(size, seq) ${sql.raw(side)} (${size}, ${seq})`)
  return (await next.orderBy('size', order).orderBy('seq', order).limit(1).executeTakeFirst()) ?? null
}
