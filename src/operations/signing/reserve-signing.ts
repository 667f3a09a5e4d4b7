/** Reserves a signing: the draft is simulated, checked against the policy, counted and stored before it is signed. */
import { hash } from 'node:crypto'
import { readLatestBlockhash } from '../../chain/reads/rpc-reads.ts'
import { cosignedBy, withBlockhash } from '../../chain/sending/cosign.ts'
import { unguardedOf } from '../../chain/sending/guard-report.ts'
import { readMovement } from '../../chain/sending/movements.ts'
import type { Signer } from '../../chain/signer/index.ts'
import { badRequest } from '../../platform/errors.ts'
import { excessOver } from '../../policy/approved-movement.ts'
import { guardedExtent, type Slack, withSlack } from '../../policy/movement/guards.ts'
import type { Movement } from '../../policy/movement/movement.ts'
import { spendOf } from '../../policy/rules/spend.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import { signatureHolds } from '../../solana/signatures.ts'
import type { Row } from '../../store/schema.ts'
import { insertSigning, insertSpends, isMessageKnown, reserveApproved } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { refuseFailing } from '../programs/refuse-failing.ts'
import { requireApproved } from '../proposals/rule/approvals.ts'
import { audit } from './audit.ts'
import { lockPolicyState, type PolicyState, policySha256 } from './policy-state.ts'
import { auditedRefusal, messageKnown, policyVerdict, signingEnded } from './refusals.ts'
import { requireCluster } from './require-signer.ts'
import type { SigningContext, SigningDraft, WaitingDraft } from './types.ts'
import { draftKeys, draftSlack, type MustWait, timelessSha256 } from './waiting-draft.ts'

/** A signing that is stored but not signed yet. */
export type ReservedSigning = Pick<
  Row<'signings'>,
  'id' | 'operation' | 'transaction' | 'message_sha256' | 'genesis' | 'since_slot' | 'created_at'
>

export interface Reservation {
  id: string
  operation: string
  /** The sealed plan in a request's first signing, and the rows that are written with it. Null for a later signing. */
  first: { plan: Buffer; reserve: ((tx: Tx) => Promise<void>) | undefined } | null
}

/**
 * Throws bad_request for an instruction that is known to fail, with `details.rule` when the policy refuses the draft,
 * and Overtaken for a known message. The first signing of a request is bound to its Idempotency-Key in the same database
 * transaction. Returns what must wait if the first one needs approvals; then nothing is stored or counted.
 */
export async function reserveSigning(
  context: SigningContext,
  signer: Signer,
  draft: SigningDraft,
  { id, operation, first }: Reservation,
): Promise<ReservedSigning | MustWait> {
  const { store, clock } = context
  const wallet = signer.address
  const { transaction: raw, cosigners = [], uncapped = [], guarding, slack, sponsored } = draft
  const unguarded = guarding && unguardedOf(guarding)
  const { genesis, transaction, movement } = await checkedDraft(context, raw, { wallet, slack })
  const message_sha256 = hash('sha256', transaction.messageBytes, 'hex')
  const created_at = clock.now()
  const bytes = Buffer.from(raw)
  const signing = { id, operation, transaction: bytes, message_sha256, genesis, since_slot: movement.slot, created_at }
  const act = first === null ? undefined : { operation, at: created_at }
  let expiresIn = 0
  const verdict = await store.write(async (tx) => {
    const state = await lockPolicyState(tx, clock, wallet)
    expiresIn = state.policy.approvals?.expires_in ?? 0
    const verdict = policyVerdict(state, movement, { role: 'pays', cosigners, uncapped, unguarded, sponsored, act })
    if (verdict.kind !== 'permits') return verdict
    if (await isMessageKnown(tx, message_sha256)) throw messageKnown()
    const plan = first?.plan ?? null
    await insertSigning(tx, { ...signing, signer: wallet, plan, state: 'intended', signature: null })
    if (first !== null) await context.signing.bind(tx, id)
    await countIntended(context, tx, state, { wallet, id, operation, message_sha256, movement })
    await first?.reserve?.(tx)
    return verdict
  })
  if (verdict.kind === 'permits') return signing
  if (verdict.kind === 'waits' && first !== null && context.proposing !== undefined) {
    return { draft, movement, refusals: verdict.refusals, genesis, expiresIn }
  }
  throw await auditedRefusal(context, signer, operation, verdict.refusals[0])
}

/**
 * Reserves a signing that has waited, with a fresh blockhash. Throws bad_request if it is not approved any more, would
 * do more than was approved, or the policy refuses it even with approvals; Overtaken if another process was first.
 */
export async function reserveWaiting(
  context: SigningContext,
  signer: Signer,
  row: Row<'signings'>,
  waiting: WaitingDraft,
  reserve: ((tx: Tx) => Promise<void>) | undefined,
): Promise<ReservedSigning> {
  const { store, clock, approved: proposal } = context
  const { id, operation } = row
  const wallet = signer.address
  if (proposal === undefined) throw signingEnded(id)
  const stored = Buffer.from(waiting.transaction, 'base64')
  const approvedSha256 = timelessSha256(stored)
  const { blockhash } = await readLatestBlockhash(context.chain)
  const { transaction: raw } = cosignedBy(withBlockhash(stored, blockhash), draftKeys(waiting))
  const { genesis, transaction, ...checked } = await checkedDraft(context, raw, { wallet, slack: draftSlack(waiting) })
  // Guards that hold what was approved hold no less if the act would take less by now.
  const isHeld = waiting.guarded === 'whole'
  const movement = isHeld
    ? { ...checked.movement, guards: { ...checked.movement.guards, needed: [] } }
    : checked.movement
  const { cosigners, uncapped } = waiting
  const options = { role: 'pays', cosigners, uncapped, act: { operation, at: clock.now() } } as const
  const excess = movement.err === null ? excessOver(waiting.approved, movement) : null
  if (excess !== null) {
    throw badRequest(`The act has changed since it was proposed: ${excess}. Cancel the proposal and propose it anew`, {
      details: { rule: 'approved', excess },
    })
  }
  const message_sha256 = hash('sha256', transaction.messageBytes, 'hex')
  const changes = { transaction: Buffer.from(raw), message_sha256, since_slot: movement.slot }
  const refusal = await store.write(async (tx) => {
    const state = await lockPolicyState(tx, clock, wallet)
    await requireApproved(context, tx, { proposal, wallet, genesis, sha256: approvedSha256, policy: state.policy })
    const verdict = policyVerdict(state, movement, options)
    if (verdict.kind === 'refuses') return verdict.refusals[0]
    if (await isMessageKnown(tx, message_sha256)) throw messageKnown()
    if (!(await reserveApproved(tx, id, row.message_sha256, changes))) throw signingEnded(id)
    await countIntended(context, tx, state, { wallet, id, operation, message_sha256, movement })
    // A signing that was reserved before has its rows.
    if (row.state === 'waiting') await reserve?.(tx)
    return null
  })
  if (refusal !== null) throw await auditedRefusal(context, signer, operation, refusal)
  return { ...row, ...changes }
}

/** Simulates a draft, and adds its slack. Throws unless every other signature is present. */
async function checkedDraft(
  context: SigningContext,
  raw: Uint8Array,
  { wallet, slack = [] }: { wallet: string; slack?: readonly Slack[] | undefined },
): Promise<{ genesis: string; transaction: DecodedTransaction; movement: Movement }> {
  const genesis = await requireCluster(context)
  await refuseFailing(context, raw)
  const transaction = decodeWireTransaction(raw)
  requireCosigned(transaction, wallet)
  const movement = withSlack(await readMovement(context.chain, transaction, wallet), slack)
  return { genesis, transaction, movement }
}

interface Intended {
  wallet: string
  id: string
  operation: string
  message_sha256: string
  movement: Movement
}

/** Counts what the movement spends against the day, and writes the entry of the audit log. */
async function countIntended(
  context: SigningContext,
  tx: Tx,
  state: PolicyState,
  { wallet, id, operation, message_sha256, movement }: Intended,
): Promise<void> {
  const { lamports, tokens } = spendOf(movement)
  const amounts = new Map([['', lamports], ...tokens.map(({ mint, amount }) => [mint, amount] as const)])
  await insertSpends(tx, { signing_id: id, signer: wallet, at: context.clock.now() }, amounts)
  await audit(context, tx, 'signing.intended', wallet, {
    signing: id,
    operation,
    message_sha256,
    lamports: String(lamports),
    tokens: tokens.map(({ mint, amount }) => ({ mint, amount: String(amount) })),
    policy_sha256: policySha256(state),
    guarded: guardedExtent(movement),
    ...(context.approved === undefined ? {} : { proposal: context.approved }),
  })
}

/**
 * Throws unless all other signatures are present. The platform signs last, so that its signature completes the
 * transaction.
 */
function requireCosigned(transaction: DecodedTransaction, wallet: string): void {
  const { keys, signers } = transaction.message
  const missing = keys.slice(0, signers).filter((key, i) => key !== wallet && !signatureHolds(transaction, i))
  if (missing.length > 0) throw new Error(`the built transaction lacks the signatures of ${missing.join(', ')}`)
}
