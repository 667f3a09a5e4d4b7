/** Storage of fee claims, listed for one pool or for all. */
import { finding, inserting, listing } from './records.ts'
import type { Row } from './schema.ts'
import type { Reader } from './store.ts'

export const insertFeeClaim = inserting('fee_claims')
export const findFeeClaim = finding('fee_claims', 'id')
export const pageFeeClaims = listing('fee_claims', ['pool_address'], {
  weights: { metadata_json: 1, recipients_json: 1 },
  within: 'pool_address',
})

/** Finds the claim of a pool by its transaction's signature. */
export async function findClaimBySignature(
  reader: Reader,
  signature: string,
  pool: string,
): Promise<Row<'fee_claims'> | null> {
  const claims = reader.selectFrom('fee_claims').selectAll().where('signature', '=', signature)
  return (await claims.where('pool_address', '=', pool).executeTakeFirst()) ?? null
}
