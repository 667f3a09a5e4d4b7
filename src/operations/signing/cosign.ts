/** A signature of the platform's key for a transaction that another pays and sends: judged, logged, handed out with its message. */
import { hash } from 'node:crypto'
import { base58 } from '@scure/base'
import { type MovementOptions, readMovement } from '../../chain/movements.ts'
import type { Signer } from '../../chain/signer/index.ts'
import { checkPolicy } from '../../policy/rules/check-policy.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { newId } from '../../store/id.ts'
import { rehearse } from '../../store/rehearse.ts'
import type { Tx } from '../../store/store.ts'
import { audit } from './audit.ts'
import { providerFailure } from './make-signature.ts'
import { lockPolicyState } from './policy-state.ts'
import { auditedRefusal, pausedRefusal, refusalError, requireRunning } from './refusals.ts'
import { asApiError, requireCluster } from './require-signer.ts'
import type { SigningContext } from './types.ts'

export interface Cosigning extends MovementOptions {
  /** What asks, for the audit log, for example `nft.create`. */
  operation: string
  /** Wire format, built by this request; who else must sign may not have done so yet. */
  transaction: Uint8Array
  /** What the audit log says of it. */
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
  const said = {
    signing: newId('sgn'),
    operation,
    role: 'cosigns',
    message_sha256: hash('sha256', messageBytes, 'hex'),
    ...about,
  }
  const intend = async (tx: Tx) => {
    const { policy, row, spent } = await lockPolicyState(tx, clock, wallet)
    const refusal = policy.paused
      ? pausedRefusal(row?.paused_reason ?? null)
      : checkPolicy(movement, policy, spent, { role: 'cosigns' })
    if (refusal !== null) return refusal
    const policy_sha256 = hash('sha256', row?.policy_json ?? '', 'hex')
    await audit(context, tx, 'signing.intended', wallet, { ...said, policy_sha256 })
    return null
  }
  const refusal = await (context.dryRun ? rehearse(store, intend) : store.write(intend))
  if (refusal !== null) throw await auditedRefusal(context, signer, operation, refusal)
  // A signature that is handed out is one that can be used.
  if (context.dryRun) return answer(raw)
  const signature = await providerSignature(context, signer, messageBytes, said)
  const signed = Uint8Array.from(raw)
  signed.set(signature, 1 + 64 * message.keys.slice(0, message.signers).indexOf(wallet))
  return context.commit(async (tx) => {
    // Paused while the provider was asked: the signature stays here.
    const { policy, row } = await lockPolicyState(tx, clock, wallet)
    if (policy.paused) throw refusalError(pausedRefusal(row?.paused_reason ?? null))
    await audit(context, tx, 'signing.signed', wallet, { ...said, signature: base58.encode(signature) })
    return answer(signed)
  })
}

async function providerSignature(
  context: SigningContext,
  signer: Signer,
  messageBytes: Uint8Array,
  said: Record<string, unknown>,
): Promise<Uint8Array> {
  try {
    return await signer.sign(messageBytes)
  } catch (error) {
    const { signed, why } = providerFailure(error)
    await context.store.write((tx) => audit(context, tx, 'signing.failed', signer.address, { ...said, signed, why }))
    throw asApiError(error, context.log)
  }
}
