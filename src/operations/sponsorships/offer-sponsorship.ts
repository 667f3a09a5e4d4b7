/** Reports to a claim page whether claims of an airdrop are paid for now. Reads only the database. */
import type { Services } from '../../context.ts'
import { trySigner } from '../signing/require-signer.ts'
import { isPaused, requireSponsorship } from './sponsorship-checks.ts'
import { lamportsLeft } from './sponsorship-record.ts'

type OfferServices = Pick<Services, 'store' | 'clock' | 'signer' | 'log'>

/** Throws not_found without an enabled sponsorship. */
export async function offerSponsorship(services: OfferServices, id: string): Promise<{ available: boolean }> {
  const row = await requireSponsorship(services, id)
  const signer = await trySigner(services)
  return { available: signer !== null && lamportsLeft(row) > 0n && !(await isPaused(services, signer)) }
}
