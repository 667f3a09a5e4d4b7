/** Signs a transaction that another account pays and sends: checks it, logs it and returns the signature with its message. */
import { hash } from 'node:crypto'
import { base58 } from '@scure/base'
import { type Guarding, unguardedOf } from '../../chain/sending/guard-report.ts'
import { type MovementOptions, readMovement } from '../../chain/sending/movements.ts'
import type { Signer } from '../../chain/signer/index.ts'
import { guardedExtent } from '../../policy/movement/guards.ts'
import { decodeWireTransaction, signatureOffset } from '../../solana/messages.ts'
import { newId } from '../../store/id.ts'
import type { Tx } from '../../store/store.ts'
import { runAndRollBack } from '../../store/writing/roll-back.ts'
import { refuseFailing } from '../programs/refuse-failing.ts'
import { audit } from './audit.ts'
import { providerFailure } from './make-signature.ts'
import { lockPolicyState, policySha256 } from './policy-state.ts'
import { auditedRefusal, policyRefusal, requireNotPaused, requireRunning } from './refusals.ts'
import { asApiError, requireCluster } from './require-signer.ts'
import type { SigningContext } from './types.ts'

export interface Cosigning extends MovementOptions {
  /** Name of the operation for the audit log, for example `nft.create`. */
  operation: string
  /** Transaction in wire format, built by this request. Other signatures may still be missing. */
  transaction: Uint8Array
  /** What the builder has guarded. */
  guarding: Guarding
  /** Further fields of the audit log's entries. */
  about: Record<string, unknown>
}

/**
 * Commits with the platform's signature on the transaction, and returns the result of `answer`. Nothing may leave the
 * wallet. Throws bad_request with `details.rule` when the policy refuses, internal_error when the provider fails. No
 * spend is counted, and no transaction is stored or sent.
 */
export async function cosign<D>(
  context: SigningContext,
  signer: Signer,
  { operation, transaction: raw, guarding, about, release }: Cosigning,
  answer: (transaction: Uint8Array) => D,
): Promise<D> {
  const { store, chain, clock } = context
  const wallet = signer.address
  await requireRunning(context, signer, operation)
  await requireCluster(context)
  // The platform's key signs nothing that is known to fail, whatever the request's `force` says.
  await refuseFailing(context, raw)
  const transaction = decodeWireTransaction(raw)
  const { message, messageBytes } = transaction
  const movement = await readMovement(chain, transaction, wallet, release === undefined ? {} : { release })
  const message_sha256 = hash('sha256', messageBytes, 'hex')
  const entry = { signing: newId('sgn'), operation, role: 'cosigns', message_sha256, ...about }
  const checkAndLog = async (tx: Tx) => {
    const state = await lockPolicyState(tx, clock, wallet)
    const refusal = policyRefusal(state, movement, { role: 'cosigns', unguarded: unguardedOf(guarding) })
    if (refusal !== null) return refusal
    const guarded = guardedExtent(movement)
    await audit(context, tx, 'signing.intended', wallet, { ...entry, policy_sha256: policySha256(state), guarded })
    return null
  }
  const refusal = await (context.dryRun ? runAndRollBack(store, checkAndLog) : store.write(checkAndLog))
  if (refusal !== null) throw await auditedRefusal(context, signer, operation, refusal)
  // Every signature that is returned can be used, so a dry run makes none.
  if (context.dryRun) return answer(raw)
  const signature = await providerSignature(context, signer, messageBytes, entry)
  const signed = Uint8Array.from(raw)
  signed.set(signature, signatureOffset(raw, message.keys.slice(0, message.signers).indexOf(wallet)))
  return context.commit(async (tx) => {
    requireNotPaused(await lockPolicyState(tx, clock, wallet))
    await audit(context, tx, 'signing.signed', wallet, { ...entry, signature: base58.encode(signature) })
    return answer(signed)
  })
}

async function providerSignature(
  context: SigningContext,
  signer: Signer,
  messageBytes: Uint8Array,
  entry: Record<string, unknown>,
): Promise<Uint8Array> {
  try {
    return await signer.sign(messageBytes)
  } catch (error) {
    const { signed, why } = providerFailure(error)
    await context.store.write((tx) => audit(context, tx, 'signing.failed', signer.address, { ...entry, signed, why }))
    throw asApiError(error, context.log)
  }
}
