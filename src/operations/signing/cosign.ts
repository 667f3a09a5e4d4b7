/** A signature of the platform's key for a transaction that another pays and sends: checked, logged, handed out with its message. */
import { hash } from 'node:crypto'
import { base58 } from '@scure/base'
import { type MovementOptions, readMovement } from '../../chain/movements.ts'
import type { Signer } from '../../chain/signer/index.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { newId } from '../../store/id.ts'
import { rehearse } from '../../store/rehearse.ts'
import type { Tx } from '../../store/store.ts'
import { audit } from './audit.ts'
import { providerFailure } from './make-signature.ts'
import { lockPolicyState, policySha256 } from './policy-state.ts'
import { auditedRefusal, policyRefusal, requireNotPaused, requireRunning } from './refusals.ts'
import { asApiError, requireCluster } from './require-signer.ts'
import type { SigningContext } from './types.ts'

export interface Cosigning extends MovementOptions {
  /** What asks, for the audit log, for example `nft.create`. */
  operation: string
  /** Wire format, built by this request; who else must sign may not have done so yet. */
  transaction: Uint8Array
  /** Further fields of the audit log's entries. */
  about: Record<string, unknown>
}

/**
 * Commits with the transaction that has the platform's signature, and answers what `answer` makes of it. Nothing of the
 * wallet may leave. Throws bad_request with `details.rule` where the policy refuses it, internal_error where the
 * provider fails. Nothing is counted, stored or sent: what comes of it is up to those who must sign too.
 */
export async function cosign<D>(
  context: SigningContext,
  signer: Signer,
  { operation, transaction: raw, about, release }: Cosigning,
  answer: (transaction: Uint8Array) => D,
): Promise<D> {
  const { store, chain, clock } = context
  const wallet = signer.address
  await requireRunning(context, signer, operation)
  await requireCluster(context)
  const transaction = decodeWireTransaction(raw)
  const { message, messageBytes } = transaction
  const movement = await readMovement(chain, transaction, wallet, release === undefined ? {} : { release })
  const message_sha256 = hash('sha256', messageBytes, 'hex')
  const entry = { signing: newId('sgn'), operation, role: 'cosigns', message_sha256, ...about }
  const checkAndLog = async (tx: Tx) => {
    const state = await lockPolicyState(tx, clock, wallet)
    const refusal = policyRefusal(state, movement, { role: 'cosigns' })
    if (refusal !== null) return refusal
    await audit(context, tx, 'signing.intended', wallet, { ...entry, policy_sha256: policySha256(state) })
    return null
  }
  const refusal = await (context.dryRun ? rehearse(store, checkAndLog) : store.write(checkAndLog))
  if (refusal !== null) throw await auditedRefusal(context, signer, operation, refusal)
  // A signature that is handed out is one that can be used.
  if (context.dryRun) return answer(raw)
  const signature = await providerSignature(context, signer, messageBytes, entry)
  const signed = Uint8Array.from(raw)
  signed.set(signature, 1 + 64 * message.keys.slice(0, message.signers).indexOf(wallet))
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
