/** Tells a claim page whether claims of an airdrop are paid for now, from the database alone. */
import type { Services } from '../../context.ts'
import { trySigner } from '../signing/require-signer.ts'
import { isPaused, requireSponsorship } from './sponsorship-checks.ts'
import { lamportsLeft } from './sponsorship-record.ts'

type OfferServices = Pick<Services, 'store' | 'clock' | 'signer' | 'log'>

/** Throws not_found without a sponsorship that is on. */
export async function offerSponsorship(services: OfferServices, id: string): Promise<{ available: boolean }> {
  const row = await requireSponsorship(services, id)
  const signer = await trySigner(services)
  return { available: signer !== null && lamportsLeft(row) > 0n && !(await isPaused(services, signer)) }
}
