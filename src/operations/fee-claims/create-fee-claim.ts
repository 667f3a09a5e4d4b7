/** Claims what a pool holds for a party, unsigned or signed. Trading fees can be split in the same transaction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import type { Tx } from '../../store/store.ts'
import { signingDraft, trackingOf, unsignedAnswer } from '../building.ts'
import { requirePool } from '../pools/on-chain.ts'
import { trySigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun, type SigningRun, withRoomForGuards } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'
import type { ClaimContext } from './claim-context.ts'
import { planClaim } from './plan-claim.ts'
import type { FeeClaimInput, FeeClaimPlan, PlannedFeeClaim } from './types.ts'

type CreateFeeClaimRoute = Api['feeClaims']['create']

export async function createFeeClaim(
  context: Context,
  input: Input<CreateFeeClaimRoute>,
): Promise<Result<CreateFeeClaimRoute>> {
  if (input.mode === 'signed') return signedClaim(context, input)
  const { built, plan } = await planClaim(context, input, input.payer)
  return { ...feeClaimAnswer(plan), tx: unsignedAnswer(built), tracked_resource: feeClaimTracking(plan) }
}

async function signedClaim(context: Context, input: Input<CreateFeeClaimRoute>): Promise<Result<CreateFeeClaimRoute>> {
  // A pool that is not on the chain is reported before a signer that is not configured.
  if ((await trySigner(context)) === null) await requirePool(context.chain, input.address)
  return signClaim(context, input, {
    answer: ({ plan, signature }) => ({
      ...feeClaimAnswer(plan),
      tx: { mode: 'signed', signature },
      tracked_resource: feeClaimTracking(plan),
    }),
  })
}

export interface SignedClaim {
  plan: FeeClaimPlan
  signature: string
}

interface SignedClaimSteps<D> {
  answer(claim: SignedClaim): D
  /** Throws if the claim must not be signed. */
  check?(claim: PlannedFeeClaim): Promise<void>
  /** Writes rows with the signature. */
  record?(tx: Tx, claim: SignedClaim): Promise<void>
}

/**
 * Claims with the platform wallet, which pays (`payer` is ignored), and returns the result of `answer`. Throws like
 * `signAndSubmit`, and bad_request if the claim pays another wallet or nothing.
 */
export async function signClaim<D>(
  context: ClaimContext,
  input: FeeClaimInput,
  steps: SignedClaimSteps<D>,
): Promise<D> {
  const run = await openSigningRun<FeeClaimPlan>(context, 'fee_claim.create')
  const plan = run.resumed ?? (await planSignedClaim(context, input, run, steps.check))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => steps.answer({ plan: plan.state, signature }),
    record: async (tx, [signature]) => steps.record?.(tx, { plan: plan.state, signature }),
  })
}

async function planSignedClaim(
  context: ClaimContext,
  input: FeeClaimInput,
  run: SigningRun,
  check: SignedClaimSteps<unknown>['check'],
): Promise<NewSigningPlan<FeeClaimPlan>> {
  const { wallet } = run
  const planned = await (context.isWorker
    ? withRoomForGuards(run, (txVersion) => planClaim({ ...context, txVersion }, input, wallet))
    : planClaim(context, input, wallet))
  const { built, plan } = planned
  const { claimer, beneficiary, kind, delegate } = plan
  if (claimer !== wallet && delegate !== wallet) {
    const otherWay =
      kind === 'damm_v2' ? `, or let it make the platform wallet its delegate (\`svc fees delegate grant\`)` : ''
    throw badRequest(
      `Kind ${kind} of ${input.address} pays the ${beneficiary}, ${claimer}, not the platform wallet ${wallet}: claim it unsigned, with that wallet${otherWay}`,
      { param: 'mode', details: { claimer, ...(beneficiary === 'partner' ? { fee_claimer: claimer } : {}) } },
    )
  }
  await check?.(planned)
  return { first: signingDraft(built), state: plan, tracked_resource: feeClaimTracking(plan) }
}

const feeClaimAnswer = ({ type: _, ...answer }: FeeClaimPlan) => answer

export const feeClaimTracking = ({ pool_address, type }: FeeClaimPlan) => trackingOf('pool', pool_address, [type])

/** What may have only one open proposal, because each claim changes what the next one would pay. */
export const claimSubject = ({ address, kind }: Pick<FeeClaimInput, 'address' | 'kind'>) =>
  `fee-claim ${address} ${kind}`
