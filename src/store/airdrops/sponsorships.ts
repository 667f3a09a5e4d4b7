/** Storage of sponsorships, and of the claims that the platform wallet pays for under them. */
import { finding, inserting, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type SponsorshipRow = Row<'sponsorships'>
export type SponsoredClaimRow = Row<'sponsored_claims'>

export const insertSponsorship = inserting('sponsorships')
export const findSponsorship = finding('sponsorships', 'airdrop_id')
export const updateSponsorship = updating('sponsorships', 'airdrop_id')
/** If a claim of the wallet is pending or has landed, a second one makes `write` fail with `Overtaken`. */
export const insertSponsoredClaim = inserting('sponsored_claims')
export const findSponsoredClaim = finding('sponsored_claims', 'id')

export const allSponsorships = (reader: Reader): Promise<SponsorshipRow[]> =>
  reader.selectFrom('sponsorships').selectAll().orderBy('seq').execute()

/** Returns the row and locks it until the commit. An update without a change does this on both databases. */
export const lockSponsorship = (tx: Tx, airdrop_id: string) => updateSponsorship(tx, airdrop_id, { airdrop_id })

/** Adds lamports to the use of a locked sponsorship. A negative number subtracts them. */
export const addToUsed = (
  tx: Tx,
  { airdrop_id, used }: Pick<SponsorshipRow, 'airdrop_id' | 'used'>,
  lamports: bigint,
) => updateSponsorship(tx, airdrop_id, { used: String(BigInt(used) + lamports) })

/** Returns the claims of a wallet, the newest first, at most `limit`. */
export function sponsoredClaimsOfWallet(
  reader: Reader,
  { airdrop_id, wallet, genesis }: Pick<SponsoredClaimRow, 'airdrop_id' | 'wallet' | 'genesis'>,
  limit: number,
): Promise<SponsoredClaimRow[]> {
  return reader
    .selectFrom('sponsored_claims')
    .selectAll()
    .where('airdrop_id', '=', airdrop_id)
    .where('wallet', '=', wallet)
    .where('genesis', '=', genesis)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
}

/** Returns the number of claims of an airdrop by status. */
export async function countSponsoredClaims(
  reader: Reader,
  airdropId: string,
): Promise<ReadonlyMap<SponsoredClaimRow['status'], number>> {
  const rows = await reader
    .selectFrom('sponsored_claims')
    .select((row) => ['status', row.fn.countAll<number | string>().as('count')])
    .where('airdrop_id', '=', airdropId)
    .groupBy('status')
    .execute()
  return new Map(rows.map(({ status, count }) => [status, Number(count)]))
}

/** Returns the use of each sponsorship, and its claims in groups of the same cost, from one moment. */
export const sponsorshipUses = (reader: Reader) =>
  reader
    .selectFrom('sponsorships')
    .leftJoin('sponsored_claims as claim', 'claim.airdrop_id', 'sponsorships.airdrop_id')
    .select(['sponsorships.airdrop_id', 'sponsorships.used', 'claim.status', 'claim.lamports', 'claim.fee'])
    .select((row) => row.fn.count<number | string>('claim.id').as('claims'))
    .groupBy(['sponsorships.airdrop_id', 'sponsorships.used', 'claim.status', 'claim.lamports', 'claim.fee'])
    .execute()

/** Changes a claim that is still in the given status; false when another process was first. */
export async function moveSponsoredClaim(
  tx: Tx,
  { id, status }: Pick<SponsoredClaimRow, 'id' | 'status'>,
  changes: Partial<Pick<SponsoredClaimRow, 'status' | 'signature' | 'live' | 'settled_at'>>,
): Promise<boolean> {
  const moved = tx.updateTable('sponsored_claims').set(changes).where('id', '=', id).where('status', '=', status)
  return (await moved.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

export async function deleteSponsoredClaim(tx: Tx, id: string): Promise<boolean> {
  const deleted = tx.deleteFrom('sponsored_claims').where('id', '=', id).where('status', '=', 'signing')
  return (await deleted.executeTakeFirstOrThrow()).numDeletedRows > 0n
}

/** A claim whose transaction can no longer change, with the transaction's result. */
export interface EndedSponsoredClaim extends Pick<SponsoredClaimRow, 'id' | 'airdrop_id' | 'lamports' | 'fee'> {
  seq: number
  lifecycle: Row<'transactions'>['lifecycle']
  err_json: string | null
}

/** Returns submitted claims after `after` whose transactions have ended, in order. */
export function endedSponsoredClaims(reader: Reader, after: number, limit: number): Promise<EndedSponsoredClaim[]> {
  return reader
    .selectFrom('sponsored_claims as claim')
    .innerJoin('transactions', 'transactions.signature', 'claim.signature')
    .select(['claim.seq', 'claim.id', 'claim.airdrop_id', 'claim.lamports', 'claim.fee'])
    .select(['transactions.lifecycle', 'transactions.err_json'])
    .where('claim.settled_at', 'is', null)
    .where('claim.status', '=', 'submitted')
    .where('claim.seq', '>', after)
    .where('transactions.next_check_at', 'is', null)
    .orderBy('claim.seq')
    .limit(limit)
    .execute()
}

/** Returns claims that were reserved before `before` and are still not signed, in order. */
export function unsignedSponsoredClaims(reader: Reader, before: number, limit: number): Promise<SponsoredClaimRow[]> {
  return reader
    .selectFrom('sponsored_claims')
    .selectAll()
    .where('settled_at', 'is', null)
    .where('status', '=', 'signing')
    .where('created_at', '<', before)
    .orderBy('seq')
    .limit(limit)
    .execute()
}
