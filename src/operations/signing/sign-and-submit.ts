/** Signs the transactions of a request with the platform's key and submits them one after another, each once. */
import { readBlockhashEnd } from '../../chain/reads/statuses.ts'
import { failureWords } from '../../chain/sending/stored-errors.ts'
import { badRequest, internal } from '../../platform/errors.ts'
import { ENDED_BLOCKHASH_SLOTS } from '../../solana/constants.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import type { Row } from '../../store/schema.ts'
import { clearPlan, findSigning, supersedeSigning } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { requireApproved } from '../proposals/rule/approvals.ts'
import { markProposalExecuted } from '../proposals/rule/end.ts'
import { proposeSigning } from '../proposals/rule/propose.ts'
import { awaitConfirmed, CONFIRMED_WITHIN_MS, unconfirmed } from '../transactions/await-confirmed.ts'
import { audit } from './audit.ts'
import { sendSigned, signReserved, storeSigned } from './make-signature.ts'
import { lockPolicyState } from './policy-state.ts'
import { signingEnded } from './refusals.ts'
import { type ReservedSigning, reserveSigning, reserveWaiting } from './reserve-signing.ts'
import { type SigningRun, sealPlan } from './signing-run.ts'
import type { NewSigningPlan, Signatures, SigningContext, SigningDraft, SigningPlan, SigningSteps } from './types.ts'
import { timelessSha256 } from './waiting-draft.ts'

/**
 * Returns once the last transaction is stored and sent. Throws bad_request with `details.rule` and the figures for a
 * refusal, internal_error when the provider fails. A retry with the same Idempotency-Key completes a reserved signing
 * with the same bytes. If nothing can have been signed, the signing is discarded.
 */
export async function signAndSubmit<D>(
  context: SigningContext,
  run: SigningRun,
  plan: SigningPlan | NewSigningPlan,
  steps: SigningSteps<D>,
): Promise<D> {
  const signing: Signing<D> = { context, run, plan, steps }
  const last = (plan.steps ?? 1) - 1
  let signatures: Signatures | null = null
  for (let step = 0; step < last; step++) {
    const signature = await signIntermediate(signing, step)
    signatures = appended(signatures, signature)
    await requireConfirmed(signing, signature, signatures)
  }
  return signLast(signing, last, signatures)
}

/** The state of one call of `signAndSubmit`. */
interface Signing<D> {
  context: SigningContext
  run: SigningRun
  plan: SigningPlan | NewSigningPlan
  steps: SigningSteps<D>
}

async function signIntermediate<D>(signing: Signing<D>, step: number): Promise<string> {
  const { context, run } = signing
  const reserved = await reservedStep(signing, step)
  if (reserved.kind === 'signed') return reserved.signature
  const transaction = await signStep(signing, reserved, step)
  await context.store.write(async (tx) => {
    await requireStillApproved(signing, tx, reserved.row, step)
    await storeSigned(context, tx, run.signer, reserved.row, transaction, undefined)
  })
  await sendSigned(context, transaction)
  return transaction.signature
}

/** The answer is stored with the last signature, before the transaction is sent. */
async function signLast<D>(signing: Signing<D>, step: number, before: Signatures | null): Promise<D> {
  const { context, run, plan, steps } = signing
  const reserved = await reservedStep(signing, step)
  if (reserved.kind === 'signed') {
    const signatures = appended(before, reserved.signature)
    return context.commit(async (tx) => {
      await markProposalExecuted(context, tx, run.wallet, reserved.signature)
      return steps.answer(signatures)
    })
  }
  const transaction = await signStep(signing, reserved, step)
  const signatures = appended(before, transaction.signature)
  const answer = await context.commit(async (tx) => {
    await requireStillApproved(signing, tx, reserved.row, step)
    await storeSigned(context, tx, run.signer, reserved.row, transaction, plan.tracked_resource)
    await markProposalExecuted(context, tx, run.wallet, transaction.signature)
    await steps.record?.(tx, signatures)
    // No retry continues from here, and the plan may contain keys that the build generated.
    await clearPlan(tx, run.id)
    return steps.answer(signatures)
  })
  await sendSigned(context, transaction)
  return answer
}

const appended = (before: Signatures | null, signature: string): Signatures =>
  before === null ? [signature] : [...before, signature]

type SigningStep =
  | { kind: 'signed'; signature: string }
  /** With `isNew` this run reserved it, so that the provider was never called for it. */
  | { kind: 'reserved'; row: ReservedSigning; isNew: boolean }

async function signStep<D>(
  signing: Signing<D>,
  { row, isNew }: Extract<SigningStep, { kind: 'reserved' }>,
  step: number,
): Promise<DecodedTransaction> {
  const { context, run, steps } = signing
  if (!isNew && context.approved !== undefined) {
    await context.store.write((tx) => requireStillApproved(signing, tx, row, step))
  }
  const release = isNew && step === 0 ? async (tx: Tx) => steps.release?.(tx) : null
  return signReserved(context, run.signer, row, release)
}

/** Returns the step of an earlier run, else reserves it. */
async function reservedStep<D>(signing: Signing<D>, step: number): Promise<SigningStep> {
  const { context, run, plan } = signing
  const id = step === 0 ? run.id : `${run.id}.${step}`
  const row = await findSigning(context.store.db, id)
  if (row?.state === 'signed' && row.signature !== null) return { kind: 'signed', signature: row.signature }
  if (row?.state === 'abandoned') throw signingEnded(id)
  if (row?.state === 'waiting') return { kind: 'reserved', row: await reserveApprovedStep(signing, row), isNew: true }
  if (row !== null && step === 0 && plan.waiting !== undefined) return resumedApproval(signing, row)
  if (row !== null && !(step > 0 && (await isExpired(context, row)))) return { kind: 'reserved', row, isNew: false }
  if (row !== null) await supersede(signing, row)
  return { kind: 'reserved', row: await reserveStep(signing, id, step), isNew: true }
}

async function reserveStep<D>(signing: Signing<D>, id: string, step: number): Promise<ReservedSigning> {
  const { context, run, plan, steps } = signing
  const first = step > 0 ? null : { plan: sealPlan(context, id, plan), reserve: steps.reserve?.bind(steps) }
  const draft = await stepDraft(signing, step)
  const reserve = (of: SigningDraft) => reserveSigning(context, run.signer, of, { id, operation: run.operation, first })
  let reserved = await reserve(draft)
  if ('refusals' in reserved && steps.waits !== undefined)
    reserved = await reserve(await steps.waits(reserved.expiresIn))
  return 'refusals' in reserved ? proposeSigning(context, run, plan, reserved) : reserved
}

/**
 * Goes on with an approved step that was reserved and not stored. Its message is signed again while it can land, and
 * replaced once it cannot. In between it throws internal_error, because an act must be neither lost nor done twice.
 */
async function resumedApproval<D>(signing: Signing<D>, row: Row<'signings'>): Promise<SigningStep> {
  const { blockhash } = lifetimeOf(decodeWireTransaction(row.transaction).message)
  const { slot, ended } = await readBlockhashEnd(signing.context.chain, blockhash)
  if (ended[0] !== true) return { kind: 'reserved', row, isNew: false }
  if (slot < (row.since_slot ?? 0) + ENDED_BLOCKHASH_SLOTS) {
    throw internal('An earlier attempt may still land: it is repeated once that is impossible, within minutes')
  }
  return { kind: 'reserved', row: await reserveApprovedStep(signing, row), isNew: false }
}

/** Reserves the first step once it is approved, with a fresh blockhash. */
function reserveApprovedStep<D>(
  { context, run, plan, steps }: Signing<D>,
  row: Row<'signings'>,
): Promise<ReservedSigning> {
  if (plan.waiting === undefined) throw signingEnded(row.id)
  return reserveWaiting(context, run.signer, row, plan.waiting, steps.reserve?.bind(steps))
}

/** Throws unless a request that executes a proposal is still approved while its first step is stored. */
async function requireStillApproved<D>(
  { context, run }: Signing<D>,
  tx: Tx,
  { genesis, transaction }: ReservedSigning,
  step: number,
): Promise<void> {
  const { approved: proposal } = context
  if (step > 0 || proposal === undefined) return
  const { policy } = await lockPolicyState(tx, context.clock, run.wallet)
  const sha256 = timelessSha256(transaction)
  await requireApproved(context, tx, { proposal, wallet: run.wallet, genesis, sha256, policy })
}

async function stepDraft<D>({ plan, steps }: Signing<D>, step: number): Promise<SigningDraft> {
  if (step > 0 && steps.next !== undefined) return steps.next(step)
  if (step === 0 && 'first' in plan) return plan.first
  throw new Error(`step ${step} of the signing has no transaction`)
}

/**
 * Waits until the transaction is confirmed. A permanent failure releases the Idempotency-Key, because no retry can
 * succeed with it.
 */
async function requireConfirmed<D>(
  { context, steps }: Signing<D>,
  signature: string,
  signatures: Signatures,
): Promise<void> {
  const until = performance.now() + CONFIRMED_WITHIN_MS
  const row = await awaitConfirmed(context, signature, until)
  if (row.isConfirmed) return
  const { lifecycle, err_json } = row
  if (lifecycle !== 'failed') {
    throw internal(unconfirmed(`The transaction ${signature}`, row, 'repeat the request with its Idempotency-Key'))
  }
  await context.store.write(async (tx) => {
    if (await context.signing.unbind(tx)) await steps.release?.(tx)
  })
  throw badRequest(
    `The transaction ${signature} failed on the chain, and later ones were not signed. ${failureWords(row)}`,
    {
      details: { signatures, err: JSON.parse(err_json ?? 'null') },
    },
  )
}

/** Whether a reserved signing can no longer land, because it was never sent and its blockhash has expired. */
async function isExpired({ chain }: SigningContext, { transaction, since_slot }: Row<'signings'>): Promise<boolean> {
  const { blockhash } = lifetimeOf(decodeWireTransaction(transaction).message)
  const { slot, ended } = await readBlockhashEnd(chain, blockhash)
  return ended[0] === true && slot >= (since_slot ?? 0) + ENDED_BLOCKHASH_SLOTS
}

/** Replaces a step that was never sent by another for the same purpose. Its spend still counts against the day. */
async function supersede<D>({ context, run }: Signing<D>, row: Row<'signings'>): Promise<void> {
  const { id, operation } = row
  await context.store.write(async (tx) => {
    if (!(await supersedeSigning(tx, id))) throw signingEnded(id)
    await audit(context, tx, 'signing.failed', run.wallet, {
      signing: id,
      operation,
      signed: 'unknown',
      why: 'its blockhash has expired and it was never sent: it is built again',
    })
  })
}
