/** Storage of fee claims, listed for one pool or for all. */
import type { Beneficiary } from '../../api/fee-claims.ts'
import { inserting, listing } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const insertFeeClaim = inserting('fee_claims')
export const pageFeeClaims = listing('fee_claims', ['pool_address', 'kind', 'beneficiary'], {
  weights: { metadata_json: 1, recipients_json: 1, received_json: 1 },
})

/** Returns all claims of one transaction in the order in which they were written. */
export function claimsOfSignature(reader: Reader, signature: string): Promise<Row<'fee_claims'>[]> {
  return reader.selectFrom('fee_claims').selectAll().where('signature', '=', signature).orderBy('seq').execute()
}

/** Whether a pool has any claim. */
export async function hasClaims(reader: Reader, pool: string): Promise<boolean> {
  const claims = reader.selectFrom('fee_claims').select('seq').where('pool_address', '=', pool)
  return (await claims.limit(1).executeTakeFirst()) !== undefined
}

/** The amounts of a claim in raw units; see the columns. */
export type BookedAmounts = Pick<Row<'fee_claims'>, 'quote_amount' | 'base_amount' | 'lamports' | 'received_json'>

/** Finds the claims of these transactions whose amounts are not known. */
export async function claimsWithoutAmounts(
  reader: Reader,
  signatures: readonly string[],
): Promise<Pick<Row<'fee_claims'>, 'id' | 'pool_address' | 'signature' | 'kind' | 'claimer'>[]> {
  if (signatures.length === 0) return []
  const claims = reader.selectFrom('fee_claims').select(['id', 'pool_address', 'signature', 'kind', 'claimer'])
  return claims.where('signature', 'in', signatures).where('quote_amount', 'is', null).execute()
}

export async function storeClaimAmounts(tx: Tx, id: string, amounts: BookedAmounts): Promise<void> {
  await tx.updateTable('fee_claims').set(amounts).where('id', '=', id).execute()
}

/** Marks the creator's claims that were recorded before their pool. The ledger reads those without amounts again. */
export async function completeClaims(
  tx: Tx,
  { pool, creator }: { pool: string; creator: string | null },
): Promise<void> {
  const own = tx.updateTable('fee_claims').set({ beneficiary: 'creator' }).where('pool_address', '=', pool)
  await own.where('beneficiary', 'is', null).where('claimer', '=', creator).execute()
  for (const table of ['transactions', 'chain_transactions'] as const) {
    const claims = tx.selectFrom('fee_claims').select('signature').where('pool_address', '=', pool)
    const again = tx.updateTable(table).set({ ledger_at: null })
    await again.where('signature', 'in', claims.where('quote_amount', 'is', null)).execute()
  }
}

/** Most claims of one pool that are added up. With more, the sum is null. */
const MOST_SUMMED = 10_000

/**
 * Adds up the final claims of a launch curve's trading fees for one of its two parties. Returns null if there are too
 * many. Claims that are not final count as zero.
 */
export async function claimedTradingFees(
  reader: Reader,
  pool: string,
): Promise<Record<Beneficiary, { quote: bigint; base: bigint }> | null> {
  const rows = reader.selectFrom('fee_claims').select(['beneficiary', 'quote_amount', 'base_amount'])
  const claims = rows.where('pool_address', '=', pool).where('kind', '=', 'dbc')
  const found = await claims.limit(MOST_SUMMED + 1).execute()
  if (found.length > MOST_SUMMED) return null
  const sums = { partner: { quote: 0n, base: 0n }, creator: { quote: 0n, base: 0n } }
  for (const { beneficiary, quote_amount, base_amount } of found) {
    if (beneficiary === null) continue
    sums[beneficiary].quote += BigInt(quote_amount ?? 0)
    sums[beneficiary].base += BigInt(base_amount ?? 0)
  }
  return sums
}
