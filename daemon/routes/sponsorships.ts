/** Mounts the routes of sponsorships, one line per verb. */
import { sponsorships } from '../../src/api/sponsorships.ts'
import { buildSponsoredClaimFor } from '../../src/operations/sponsorships/build-sponsored-claim.ts'
import { getSponsorship } from '../../src/operations/sponsorships/get-sponsorship.ts'
import { submitSponsoredClaim } from '../../src/operations/sponsorships/submit-sponsored-claim.ts'
import { updateSponsorshipOf } from '../../src/operations/sponsorships/update-sponsorship.ts'
import type { Mount } from '../mount.ts'

export function sponsorshipsRoutes(mount: Mount): void {
  mount.stored(sponsorships.get, getSponsorship)
  mount(sponsorships.update, updateSponsorshipOf)
  mount(sponsorships.build, buildSponsoredClaimFor)
  mount(sponsorships.submit, submitSponsoredClaim)
}
