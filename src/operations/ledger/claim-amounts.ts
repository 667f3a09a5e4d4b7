/** Computes the amounts of a fee claim, and who received them, from the ledger entries of its transaction. */
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { BookedAmounts } from '../../store/fees/fee-claims.ts'
import { SOL } from './postings.ts'

/** The fields of an entry that claim amounts need. */
export interface ClaimEntry {
  owner: string
  token: string
  amount: string
  kind: string
  detail: string | null
  party: string
  counterparty: string | null
  pool: string | null
}

interface ClaimedPool {
  address: string
  base_mint: string
  quote_mint: string
}

/** Identifies the claim within its transaction; null if it is not recorded. */
interface ClaimOf {
  kind: string | null
  claimer: string | null
}

/** Parties whose accounts pay a claim. */
const HOLDERS: readonly string[] = ['pool', 'lock']

/**
 * Amounts are those that left the pool's accounts, or the lock of its vested tokens. `received` has the claim and its
 * shares by wallet, so that shares passed on count for their recipients.
 */
export function claimAmounts(
  entries: readonly ClaimEntry[],
  { address, base_mint, quote_mint }: ClaimedPool,
  { kind, claimer }: ClaimOf,
): BookedAmounts {
  const own = entries.filter(
    (entry) =>
      entry.pool === address &&
      (entry.kind === 'claim' || entry.kind === 'split_share') &&
      (kind === null || entry.detail === kind) &&
      (claimer === null || entry.owner === claimer || entry.counterparty === claimer),
  )
  const gone = (token: string) =>
    own
      .filter((entry) => entry.kind === 'claim' && HOLDERS.includes(entry.party) && entry.token === token)
      .reduce((sum, { amount }) => sum - BigInt(amount), 0n)
  const received = new Map<string, { wallet: string; token: string; amount: bigint }>()
  for (const { owner, token, amount, party } of own) {
    if (HOLDERS.includes(party)) continue
    const known = received.get(`${owner} ${token}`) ?? { wallet: owner, token, amount: 0n }
    received.set(`${owner} ${token}`, { ...known, amount: known.amount + BigInt(amount) })
  }
  const shares = [...received.values()].filter(({ amount }) => amount !== 0n)
  return {
    quote_amount: String(gone(quote_mint === WRAPPED_SOL ? SOL : quote_mint)),
    base_amount: String(gone(base_mint)),
    lamports: String(gone(SOL)),
    received_json: JSON.stringify(shares.map((share) => ({ ...share, amount: String(share.amount) }))),
  }
}
