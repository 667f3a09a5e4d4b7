/** Signs one reserved signing: requests the signature from the provider once, and stores it with its transaction. */
import type { TrackedResource } from '../../api/index.ts'
import { decodeSigned } from '../../chain/sending/transactions.ts'
import { type Signer, SignerUnavailable } from '../../chain/signer/index.ts'
import { FIRST_SEND_MS } from '../../following/send.ts'
import { type DecodedTransaction, decodeWireTransaction, signatureOffset } from '../../solana/messages.ts'
import { abandonSigning, markSigned } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { storeSubmitted } from '../transactions/store-submitted.ts'
import { sendFirst } from '../transactions/submit-transaction.ts'
import { audit } from './audit.ts'
import { lockPolicyState } from './policy-state.ts'
import { messageKnown, requireNotPaused, signingEnded } from './refusals.ts'
import { asApiError } from './require-signer.ts'
import type { ReservedSigning } from './reserve-signing.ts'
import type { SigningContext } from './types.ts'

/** Retries by the node that sends. The transaction watcher has its own. */
const SIGNED_MAX_RETRIES = 2

/**
 * Returns the complete transaction, not yet stored. Throws internal_error when the provider fails. `release` undoes the
 * reservation if nothing can have been signed. It is null if an earlier call may have reached the provider.
 */
export async function signReserved(
  context: SigningContext,
  signer: Signer,
  { id, operation, transaction, message_sha256 }: ReservedSigning,
  release: ((tx: Tx) => Promise<unknown>) | null,
): Promise<DecodedTransaction> {
  const unsigned = decodeWireTransaction(transaction)
  try {
    return withSignature(unsigned, signer.address, await signer.sign(unsigned.messageBytes))
  } catch (error) {
    const { signed, why } = providerFailure(error)
    await context.store.write(async (tx) => {
      // A retry cannot know what the provider returned to its first run, or to another process that now holds the key.
      if (signed === 'no' && release !== null && (await context.signing.unbind(tx))) {
        await abandonSigning(tx, { id, message_sha256 })
        await release(tx)
      }
      await audit(context, tx, 'signing.failed', signer.address, { signing: id, operation, signed, why })
    })
    throw asApiError(error, context.log)
  }
}

/** Returns whether a failed provider may have signed, and the reason for the audit log. */
export const providerFailure = (error: unknown): { signed: 'no' | 'unknown'; why: string } =>
  error instanceof SignerUnavailable
    ? { signed: error.signed, why: error.message }
    : { signed: 'unknown', why: 'the provider failed with an unexpected error' }

/**
 * Stores the signed transaction with its event, in the caller's database transaction. Throws bad_request if the signer
 * was paused meanwhile: nothing is stored or sent, and the signing remains reserved.
 */
export async function storeSigned(
  context: SigningContext,
  tx: Tx,
  signer: Signer,
  signing: ReservedSigning,
  transaction: DecodedTransaction,
  tracked_resource: TrackedResource | undefined,
): Promise<void> {
  requireNotPaused(await lockPolicyState(tx, context.clock, signer.address))
  const { id, operation, genesis, since_slot } = signing
  if (!(await markSigned(tx, signing, transaction.signature))) throw signingEnded(id)
  const next_send_at = context.clock.now() + FIRST_SEND_MS
  const submission = { max_retries: SIGNED_MAX_RETRIES, tracked_resource }
  const stored = await storeSubmitted(context, tx, transaction, submission, { genesis, since_slot, next_send_at })
  if (!stored) throw messageKnown()
  const { signature } = transaction
  await audit(context, tx, 'signing.signed', signer.address, { signing: id, operation, signature })
}

/** Sends a stored transaction for the first time. The transaction watcher repeats it until it is confirmed. */
export async function sendSigned(context: SigningContext, transaction: DecodedTransaction): Promise<void> {
  await sendFirst(context, transaction, SIGNED_MAX_RETRIES)
  context.wake('transaction-watcher')
}

/** Throws unless the signature completes the transaction, because a stored transaction must be ready to send. */
function withSignature(
  { raw, message }: DecodedTransaction,
  wallet: string,
  signature: Uint8Array,
): DecodedTransaction {
  const place = message.keys.slice(0, message.signers).indexOf(wallet)
  const signed = Buffer.from(raw)
  signed.set(signature, signatureOffset(raw, place))
  return decodeSigned(signed.toString('base64'))
}
