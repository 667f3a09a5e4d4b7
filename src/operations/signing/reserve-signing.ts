/** Reserves a signing: the draft is simulated, checked against the policy, counted and stored before it is signed. */
import { hash } from 'node:crypto'
import { readMovement } from '../../chain/sending/movements.ts'
import type { Signer } from '../../chain/signer/index.ts'
import { spendOf } from '../../policy/rules/spend.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import { signatureHolds } from '../../solana/signatures.ts'
import type { Row } from '../../store/schema.ts'
import { insertSigning, insertSpends, isMessageKnown } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { audit } from './audit.ts'
import { lockPolicyState, policySha256 } from './policy-state.ts'
import { auditedRefusal, messageKnown, policyRefusal } from './refusals.ts'
import { requireCluster } from './require-signer.ts'
import type { SigningContext, SigningDraft } from './types.ts'

/** A signing that is stored but not signed yet. */
export type ReservedSigning = Pick<
  Row<'signings'>,
  'id' | 'operation' | 'transaction' | 'genesis' | 'since_slot' | 'created_at'
>

export interface Reservation {
  id: string
  operation: string
  /** The sealed plan in a request's first signing, and the rows that are written with it. Null for a later signing. */
  first: { plan: Buffer; reserve: ((tx: Tx) => Promise<void>) | undefined } | null
}

/**
 * Throws bad_request with `details.rule` when the policy refuses the draft, conflict for a known message. The first
 * signing of a request is bound to its Idempotency-Key in the same database transaction.
 */
export async function reserveSigning(
  context: SigningContext,
  signer: Signer,
  { transaction: raw, cosigners = [], uncapped = [], sponsored }: SigningDraft,
  { id, operation, first }: Reservation,
): Promise<ReservedSigning> {
  const { store, chain, clock } = context
  const wallet = signer.address
  const genesis = await requireCluster(context)
  const transaction = decodeWireTransaction(raw)
  requireCosigned(transaction, wallet)
  const movement = await readMovement(chain, transaction, wallet)
  const spend = spendOf(movement)
  const message_sha256 = hash('sha256', transaction.messageBytes, 'hex')
  const created_at = clock.now()
  const signing = { id, operation, transaction: Buffer.from(raw), genesis, since_slot: movement.slot, created_at }
  const refusal = await store.write(async (tx) => {
    const state = await lockPolicyState(tx, clock, wallet)
    const refusal = policyRefusal(state, movement, { role: 'pays', cosigners, uncapped, sponsored })
    if (refusal !== null) return refusal
    if (await isMessageKnown(tx, message_sha256)) throw messageKnown()
    const plan = first?.plan ?? null
    await insertSigning(tx, { ...signing, signer: wallet, message_sha256, plan, state: 'intended', signature: null })
    const amounts = new Map([['', spend.lamports], ...spend.tokens.map(({ mint, amount }) => [mint, amount] as const)])
    await insertSpends(tx, { signing_id: id, signer: wallet, at: clock.now() }, amounts)
    if (first !== null) await context.signing.bind(tx, id)
    await first?.reserve?.(tx)
    await audit(context, tx, 'signing.intended', wallet, {
      signing: id,
      operation,
      message_sha256,
      lamports: String(spend.lamports),
      tokens: spend.tokens.map(({ mint, amount }) => ({ mint, amount: String(amount) })),
      policy_sha256: policySha256(state),
    })
    return null
  })
  if (refusal !== null) throw await auditedRefusal(context, signer, operation, refusal)
  return signing
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
