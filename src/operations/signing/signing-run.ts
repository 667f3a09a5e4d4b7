/** Opens the signing run of a request, with a new signing id or with the plan of an interrupted run. */
import type { TxVersion } from '../../api/envelope.ts'
import type { SignedOperation, UnwaitingOperation } from '../../api/signed-operations.ts'
import type { Guarding } from '../../chain/sending/guard-report.ts'
import type { Signer } from '../../chain/signer/index.ts'
import { conflict } from '../../platform/errors.ts'
import type { GuardMode } from '../../solana/constants.ts'
import { newId } from '../../store/id.ts'
import { findSigning } from '../../store/signing/signings.ts'
import { guardModeOf } from './policy-state.ts'
import { requireRunning, signingEnded } from './refusals.ts'
import { requireCluster, requireSigner } from './require-signer.ts'
import type { SigningContext, SigningPlan, WaitingDraft } from './types.ts'

export interface SigningRun<S = unknown> {
  /** Name of the operation for the audit log, for example `fee_claim.create`. */
  operation: SignedOperation | UnwaitingOperation
  signer: Signer
  /** Address of the platform wallet, which pays. */
  wallet: string
  /** The policy's own rule about guards; `context.guard` has what the build gets. */
  guards: GuardMode
  /** Signing id of the first transaction. Later ones append their number to it. */
  id: string
  /** The plan of an interrupted run of this request, or null in the first run. */
  resumed: SigningPlan<S> | null
}

/** The sealed text of a plan. Databases contain these field names. */
interface StoredPlan<S> {
  kept: S
  steps: number
  tracked_resource?: NonNullable<SigningPlan['tracked_resource']>
  /** The first transaction while it waits for approvals. */
  waiting?: WaitingDraft
}

/**
 * Sets `context.guard` to what the policy makes of the request. Throws internal_error without a usable signer,
 * bad_request when it is paused, conflict when the earlier run used another key or chain.
 */
export async function openSigningRun<S>(
  context: SigningContext,
  operation: SigningRun['operation'],
): Promise<SigningRun<S>> {
  const signer = await requireSigner(context)
  const policy = await requireRunning(context, signer, operation)
  context.guard = guardModeOf(policy, context.guard)
  const run = { operation, signer, wallet: signer.address, guards: policy.guards }
  const { earlier } = context.signing
  if (earlier === null) return { ...run, id: newId('sgn'), resumed: null }
  return { ...run, id: earlier, resumed: await readPlan<S>(context, signer, earlier) }
}

/** A worker asks for version 0, and for 1 if the policy requires guards that have no room. */
export async function withRoomForGuards<B extends { built: { guarding: Guarding } }>(
  { guards }: SigningRun,
  build: (txVersion: TxVersion) => Promise<B>,
): Promise<B> {
  const made = await build(0)
  return guards === 'required' && made.built.guarding.reason === 'no_room' ? build(1) : made
}

async function readPlan<S>(context: SigningContext, signer: Signer, id: string): Promise<SigningPlan<S>> {
  const row = await findSigning(context.store.db, id)
  if (row === null || row.plan === null) throw signingEnded(id)
  if (row.signer !== signer.address) {
    throw conflict(
      `This request was started with the signer ${row.signer}, but the signer is now ${signer.address}: configure the earlier one to complete the request, or send it with another Idempotency-Key`,
      { param: 'Idempotency-Key' },
    )
  }
  if ((await requireCluster(context)) !== row.genesis) {
    throw conflict('This request was started on another chain: send it with another Idempotency-Key', {
      param: 'Idempotency-Key',
    })
  }
  const { kept, ...plan }: StoredPlan<S> = JSON.parse(context.vault.open(row.plan, purposeOf(id)).toString('utf8'))
  return { ...plan, state: kept }
}

/** Returns the plan in its stored form. It is sealed, because it may contain generated keys. */
export function sealPlan({ vault }: SigningContext, id: string, plan: SigningPlan): Buffer {
  const { state, steps = 1, tracked_resource, waiting } = plan
  const stored: StoredPlan<unknown> = {
    kept: state,
    steps,
    ...(tracked_resource !== undefined && { tracked_resource }),
    ...(waiting !== undefined && { waiting }),
  }
  return vault.seal(JSON.stringify(stored), purposeOf(id))
}

const purposeOf = (id: string) => `signing:${id}`
