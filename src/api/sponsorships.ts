/** Sponsorships: claims for which the platform wallet pays fee and rent, within the budget of their airdrop. */
import { z } from '@hono/zod-openapi'
import { AIRDROPS_TAG } from './airdrops.ts'
import { address, digits, hash32, hex32, transactionBase64, treeId, u64Digits } from './chain-scalars.ts'
import { txTermsShape, writeBody } from './envelope.ts'
import { signedPayload, trackedResource, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'
import { recordId, timestamp } from './scalars.ts'

const count = (description: string) => z.int().min(0).meta({ description })
const budget = u64Digits.meta({
  description: 'Total lamports that may leave the platform wallet for claims of this airdrop, for fees and rent',
  example: '1500000000',
})

export const sponsorship = z
  .object({
    airdrop_id: treeId,
    root: hex32.nullable().meta({
      description: 'Root of the list that it pays for; null if the tree was replaced before svc recorded the root',
    }),
    ended: z.boolean().meta({
      description:
        'Whether the stored tree now has another root; nothing is paid then until the sponsorship is started again',
    }),
    enabled: z.boolean(),
    budget,
    used: digits.meta({
      description: 'Lamports of pending and landed claims, and the fees of failed ones',
    }),
    left: digits.meta({ description: 'Remaining budget' }),
    pending: count('Claims under way'),
    landed: count('Claims that are final on chain'),
    failed: count('Claims that failed on chain and cost only their fee'),
    expired: count('Claims that never landed and cost nothing'),
    created_by: z.string().meta({ description: 'Id of the API key that started it' }),
    updated_by: z.string().meta({ description: 'Id of the API key that changed it last' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('Sponsorship')

/** Reasons why no claim is paid for, in addition to the reasons why a wallet cannot claim at all. */
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
  description: 'Id of the sponsored claim, from the answer of its build',
  example: 'spc_8LtQz5WmXc2RvYb7KdNe4JhF',
})

const sponsoredClaimBuilt = unsignedPayload({
  id: sponsoredClaimId,
  fee_payer: address.meta({ description: 'The platform wallet, which signs last' }),
  lamports: digits.meta({ description: 'Lamports that leave the platform wallet: network fee and rent' }),
})
  .extend({ tracked_resource: trackedResource })
  .openapi('SponsoredClaimBuilt')

const sponsoredClaimSubmitted = signedPayload({
  id: sponsoredClaimId,
  claimer: address,
  lamports: digits.meta({ description: 'Lamports that leave the platform wallet: network fee and rent' }),
}).openapi('SponsoredClaimSubmitted')

export type Sponsorship = z.output<typeof sponsorship>
export type SponsoredClaimBuilt = z.output<typeof sponsoredClaimBuilt>

/** The fields of a build and of a submission; the claim page sends the same. */
export const sponsoredClaimFields = { claimer: address, ...txTermsShape }
export const submissionFields = {
  transaction: transactionBase64.meta({
    description: 'The transaction of the build with the signature of the claimer, otherwise unchanged',
  }),
}

const params = z.object({ id: treeId })

export const sponsorships = {
  get: defineRoute({
    at: ['get', '/v2/airdrops/{id}/sponsorship'],
    tag: AIRDROPS_TAG,
    summary: 'Read what the platform wallet pays for the claims of an airdrop',
    description: 'The budget, how much of it claims have used, and how many claims were paid for.',
    params,
    data: sponsorship,
  }),
  update: defineRoute({
    at: ['patch', '/v2/airdrops/{id}/sponsorship'],
    tag: AIRDROPS_TAG,
    atomic: true,
    summary: 'Start, change or stop paying for the claims of an airdrop',
    description:
      'The first request creates the sponsorship and needs a budget. If the budget is below what is used, no further claim is paid for. The tree cannot be replaced during a sponsorship. If it was replaced nevertheless, the sponsorship has ended until `root` starts it again.',
    params,
    body: writeBody({
      budget: budget.optional(),
      enabled: z.boolean().optional(),
      root: hash32.optional().meta({
        description:
          'Root that the stored tree must have, hex; otherwise the request is refused. Required for a start if another API key stored the tree',
      }),
    }),
    example: { budget: '1500000000' },
    data: sponsorship,
    scope: 'airdrop:admin',
  }),
  build: defineRoute({
    at: ['post', '/v2/airdrops/{id}/sponsored-claims'],
    tag: AIRDROPS_TAG,
    summary: 'Build a claim for which the platform wallet pays',
    description:
      'Two signers: the platform wallet pays fee and rent, and the claimer signs first. Nothing is reserved until the signed transaction is submitted.',
    params,
    body: writeBody(sponsoredClaimFields),
    data: sponsoredClaimBuilt,
    scope: 'airdrop:admin',
  }),
  submit: defineRoute({
    at: ['post', '/v2/airdrops/{id}/sponsored-claims/{claim}/submissions'],
    tag: AIRDROPS_TAG,
    summary: 'Sign and submit a sponsored claim that its claimer has signed',
    description:
      'The platform wallet signs under its policy, once for each listed wallet. The same request again returns the same signature.',
    params: z.object({ id: treeId, claim: sponsoredClaimId }),
    body: writeBody(submissionFields),
    data: sponsoredClaimSubmitted,
    scope: 'airdrop:admin',
  }),
}
