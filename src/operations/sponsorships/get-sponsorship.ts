/** Reads the sponsorship of an airdrop. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findSponsorship } from '../../store/airdrops/sponsorships.ts'
import { notSponsored } from './refusals.ts'
import { sponsorshipRecord } from './sponsorship-record.ts'

type GetSponsorshipRoute = Api['sponsorships']['get']

export async function getSponsorship(
  { store }: Pick<Context, 'store'>,
  { id }: Input<GetSponsorshipRoute>,
): Promise<Result<GetSponsorshipRoute>> {
  const row = await findSponsorship(store.db, id)
  if (row === null) throw notSponsored(id)
  return sponsorshipRecord(store.db, row)
}
