/** Sponsorships: claims for which the platform wallet pays fee and rent, within the budget of their airdrop. */
import { z } from '@hono/zod-openapi'
import { address, digits, hash32, hex32, transactionBase64, treeId, u64Digits } from './chain-scalars.ts'
import { txVersionShape, writeBody } from './envelope.ts'
import { paths } from './paths.ts'
import { signedPayload, trackedResource, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'
import { recordId, timestamp } from './scalars.ts'

const count = (description: string) => z.int().min(0).meta({ description })
const budget = u64Digits.meta({
  description: 'Lamports that may leave the platform wallet for claims of this airdrop in all, fees and rent',
  example: '1500000000',
})

export const sponsorship = z
  .object({
    airdrop_id: treeId,
    root: hex32
      .nullable()
      .meta({ description: 'Root of the list that it pays for; null where its tree was replaced before svc kept it' }),
    ended: z.boolean().meta({
      description: 'Whether the stored tree has another root by now, so that nothing is paid until it is begun again',
    }),
    enabled: z.boolean(),
    budget,
    used: digits.meta({
      description: 'Lamports of claims under way and landed, and the fees of failed ones',
    }),
    left: digits.meta({ description: 'What of the budget is left' }),
    pending: count('Claims under way'),
    landed: count('Claims that are final on chain'),
    failed: count('Claims that failed on chain, and cost their fee'),
    expired: count('Claims that never landed, and cost nothing'),
    created_by: z.string().meta({ description: 'Id of the API key that began it' }),
    updated_by: z.string().meta({ description: 'Id of the API key that changed it last' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('Sponsorship')

/** Why no claim is paid for, beside the reasons why a wallet cannot claim at all. */
export const SPONSORSHIP_REFUSALS = [
  'not_sponsored',
  'not_listed',
  'sponsored_already',
  'attempts_exhausted',
  'budget_exhausted',
  'changed_transaction',
  'expired',
  'would_fail',
  'sponsor_unavailable',
] as const
export type SponsorshipRefusal = (typeof SPONSORSHIP_REFUSALS)[number]

const sponsoredClaimId = recordId.meta({
  description: 'Id of the sponsored claim, from its build',
  example: 'spc_8LtQz5WmXc2RvYb7KdNe4JhF',
})

export const sponsoredClaimBuilt = unsignedPayload({
  id: sponsoredClaimId,
  fee_payer: address.meta({ description: 'The platform wallet, which signs last' }),
  lamports: digits.meta({ description: 'What leaves the platform wallet: network fee and rent' }),
})
  .extend({ tracked_resource: trackedResource })
  .openapi('SponsoredClaimBuilt')

export const sponsoredClaimSubmitted = signedPayload({
  id: sponsoredClaimId,
  claimer: address,
  lamports: digits.meta({ description: 'What leaves the platform wallet: network fee and rent' }),
}).openapi('SponsoredClaimSubmitted')

export type Sponsorship = z.output<typeof sponsorship>
export type SponsoredClaimBuilt = z.output<typeof sponsoredClaimBuilt>
export type SponsoredClaimSubmitted = z.output<typeof sponsoredClaimSubmitted>

/** What a build and a submission take; the claim page sends the same. */
export const sponsoredClaimFields = { claimer: address, ...txVersionShape }
export const submissionFields = {
  transaction: transactionBase64.meta({
    description: 'The transaction of the build with the signature of the claimer; nothing else of it may have changed',
  }),
}

const TAG = 'Airdrops'
const params = z.object({ id: treeId })

export const sponsorships = {
  get: defineRoute({
    at: paths.sponsorships.get,
    tag: TAG,
    summary: 'Read what the platform wallet pays for the claims of an airdrop',
    description: 'The budget, what claims have used of it, and how many were paid for.',
    params,
    data: sponsorship,
  }),
  update: defineRoute({
    at: paths.sponsorships.update,
    tag: TAG,
    atomic: true,
    summary: 'Begin, change or stop paying for the claims of an airdrop',
    description:
      'The first request makes the sponsorship and needs a budget. A budget below what is used pays for no further claim. While there is one, the tree cannot be replaced; where it was, the sponsorship has ended until `root` begins it again.',
    params,
    body: writeBody({
      budget: budget.optional(),
      enabled: z.boolean().optional(),
      root: hash32.optional().meta({
        description:
          'Root that the stored tree must have, hex; another one is refused. Needed to begin where another API key stored the tree',
      }),
    }),
    example: { budget: '1500000000' },
    data: sponsorship,
    scope: 'airdrop:admin',
  }),
  build: defineRoute({
    at: paths.sponsorships.build,
    tag: TAG,
    summary: 'Build a claim for which the platform wallet pays',
    description:
      'Two signers: the platform wallet pays fee and rent, and the claimer signs first. Nothing is reserved until the signed transaction is submitted.',
    params,
    body: writeBody(sponsoredClaimFields),
    data: sponsoredClaimBuilt,
    scope: 'airdrop:admin',
  }),
  submit: defineRoute({
    at: paths.sponsorships.submit,
    tag: TAG,
    summary: 'Sign and submit a sponsored claim that its claimer has signed',
    description:
      'Signed by the platform wallet through its policy, once for each listed wallet. The same request again answers the same signature.',
    params: z.object({ id: treeId, claim: sponsoredClaimId }),
    body: writeBody(submissionFields),
    data: sponsoredClaimSubmitted,
    scope: 'airdrop:admin',
  }),
}
