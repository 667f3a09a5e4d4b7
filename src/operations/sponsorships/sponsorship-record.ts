/** Converts a sponsorship's row to the record of the API. */
import type { Sponsorship } from '../../api/sponsorships.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import { countSponsoredClaims, type SponsorshipRow } from '../../store/airdrops/sponsorships.ts'
import type { Reader } from '../../store/store.ts'

export async function sponsorshipRecord(reader: Reader, row: SponsorshipRow): Promise<Sponsorship> {
  const counts = await countSponsoredClaims(reader, row.airdrop_id)
  const tree = await findTree(reader, row.airdrop_id)
  const of = (status: 'signing' | 'submitted' | 'landed' | 'failed' | 'expired') => counts.get(status) ?? 0
  return {
    airdrop_id: row.airdrop_id,
    root: row.root === '' ? null : row.root,
    ended: tree?.root !== row.root,
    enabled: row.enabled === 1,
    budget: row.budget,
    used: row.used,
    left: String(lamportsLeft(row)),
    pending: of('signing') + of('submitted'),
    landed: of('landed'),
    failed: of('failed'),
    expired: of('expired'),
    created_by: row.created_by,
    updated_by: row.updated_by,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  }
}

/** The fields of a sponsorship in the audit log. */
export const sponsorshipTerms = ({ airdrop_id, root, budget, used, enabled }: SponsorshipRow) => ({
  airdrop: airdrop_id,
  root,
  budget,
  used,
  enabled: enabled === 1,
})

/** Lamports of the budget that are neither spent nor reserved. */
export function lamportsLeft({ budget, used }: Pick<SponsorshipRow, 'budget' | 'used'>): bigint {
  const left = BigInt(budget) - BigInt(used)
  return left > 0n ? left : 0n
}
