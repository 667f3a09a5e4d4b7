/** One signature of the platform's key: judged, counted and stored before it is made, made once. */
import { hash } from 'node:crypto'
import type { TrackedResource } from '../../api/index.ts'
import { readMovement } from '../../chain/movements/index.ts'
import { type Signer, SignerUnavailable } from '../../chain/signer/index.ts'
import { decodeSigned } from '../../chain/transactions.ts'
import { badRequest, conflict } from '../../errors.ts'
import { FIRST_SEND_MS } from '../../following/send.ts'
import { type DecodedTransaction, decodeTransaction } from '../../solana/messages.ts'
import { signatureHolds } from '../../solana/signatures.ts'
import type { Row } from '../../store/schema.ts'
import { abandonSigning, insertSigning, insertSpends, isMessageKnown, markSigned } from '../../store/signings.ts'
import type { Tx } from '../../store/store.ts'
import { sendFirst } from '../transactions/send-first.ts'
import { storeSubmitted } from '../transactions/store-submitted.ts'
import { audit } from './audit.ts'
import { lockStanding, readStanding } from './policy.ts'
import { asApiError, requireCluster } from './require-signer.ts'
import { judge, type Refusal, spendOf } from './rules.ts'
import type { Built, SigningContext } from './types.ts'

export type Signing = Pick<
  Row<'signings'>,
  'id' | 'operation' | 'transaction' | 'genesis' | 'since_slot' | 'created_at'
>

const MAX_RETRIES = 2

export interface Intent {
  id: string
  operation: string
  /** Sealed; of a request's first signing. */
  plan: Buffer | null
  /** Of a request's first signing: what else is written with it. */
  reserve?: ((tx: Tx) => Promise<void>) | undefined
  binds: boolean
}

/** Refuses at once where nothing that follows could be signed: before anything is built. */
export async function requireRunning(context: SigningContext, signer: Signer, operation: string): Promise<void> {
  const { policy, row } = await readStanding(context.store.db, context.clock, signer.address)
  if (policy.paused) await refuse(context, signer, operation, paused(row?.paused_reason ?? null))
}

/** Judges what was built, counts it and stores it. Throws bad_request with `details.rule`, conflict for a message that is known. */
export async function intend(
  context: SigningContext,
  signer: Signer,
  { transaction: raw, cosigners = [], uncapped = [] }: Built,
  { id, operation, plan, reserve, binds }: Intent,
): Promise<Signing> {
  const { store, chain, clock } = context
  const wallet = signer.address
  const genesis = await requireCluster(context)
  const transaction = decodeTransaction(raw)
  requireCosigned(transaction, wallet)
  const movement = await readMovement(chain, transaction, wallet)
  const spend = spendOf(movement)
  const message_sha256 = hash('sha256', transaction.messageBytes, 'hex')
  const signing = {
    id,
    operation,
    transaction: Buffer.from(raw),
    genesis,
    since_slot: movement.slot,
    created_at: clock.now(),
  }
  const refusal = await store.write(async (tx) => {
    const { policy, row, spent } = await lockStanding(tx, clock, wallet)
    const refused = policy.paused
      ? paused(row?.paused_reason ?? null)
      : judge(movement, policy, spent, { role: 'pays', cosigners, uncapped })
    if (refused !== null) return refused
    if (await isMessageKnown(tx, message_sha256)) throw twice()
    await insertSigning(tx, { ...signing, signer: wallet, message_sha256, plan, state: 'intended', signature: null })
    const amounts = new Map([['', spend.lamports], ...spend.tokens.map(({ mint, amount }) => [mint, amount] as const)])
    await insertSpends(tx, { signing_id: id, signer: wallet, at: clock.now() }, amounts)
    if (binds) await context.signing.bind(tx, id)
    await reserve?.(tx)
    await audit(context, tx, 'signing.intended', wallet, {
      signing: id,
      operation,
      message_sha256,
      lamports: String(spend.lamports),
      tokens: spend.tokens.map(({ mint, amount }) => ({ mint, amount: String(amount) })),
      policy_sha256: hash('sha256', row?.policy_json ?? '', 'hex'),
    })
    return null
  })
  return refusal === null ? signing : refuse(context, signer, operation, refusal)
}

/**
 * The whole transaction, not yet stored. Throws internal_error where the provider fails; `release` takes back what was
 * written with the signing where it certainly was not made, null where somebody may have been asked for it before.
 */
export async function askProvider(
  context: SigningContext,
  signer: Signer,
  { id, operation, transaction }: Signing,
  release: ((tx: Tx) => Promise<void>) | null,
): Promise<DecodedTransaction> {
  const unsigned = decodeTransaction(transaction)
  try {
    return withSignature(unsigned, signer.address, await signer.sign(unsigned.messageBytes))
  } catch (error) {
    const signed = error instanceof SignerUnavailable ? error.signed : 'unknown'
    const why = error instanceof SignerUnavailable ? error.message : 'the provider failed in a way that it should not'
    await context.store.write(async (tx) => {
      // A retry knows nothing of what its first run, or another process that has the key by now, was given by the provider.
      if (signed === 'no' && release !== null && (await context.signing.unbind(tx))) {
        await abandonSigning(tx, id)
        await release(tx)
      }
      await audit(context, tx, 'signing.failed', signer.address, { signing: id, operation, signed, why })
    })
    throw asApiError(error, context.log)
  }
}

/**
 * Stores the signed transaction with its event, in the caller's transaction. Throws bad_request where the signer was
 * paused meanwhile: nothing is stored or sent then, and the signing stays to be ended.
 */
export async function storeSigned(
  context: SigningContext,
  tx: Tx,
  signer: Signer,
  signing: Signing,
  transaction: DecodedTransaction,
  tracked_resource: TrackedResource | undefined,
): Promise<void> {
  const { policy, row } = await lockStanding(tx, context.clock, signer.address)
  if (policy.paused) throw refusalError(paused(row?.paused_reason ?? null))
  const { id, operation, genesis, since_slot } = signing
  if (!(await markSigned(tx, id, transaction.signature))) throw ended(id)
  const next_send_at = context.clock.now() + FIRST_SEND_MS
  const submission = { max_retries: MAX_RETRIES, tracked_resource }
  const stored = await storeSubmitted(context, tx, transaction, submission, { genesis, since_slot, next_send_at })
  if (!stored) throw twice()
  const { signature } = transaction
  await audit(context, tx, 'signing.signed', signer.address, { signing: id, operation, signature })
}

/** Whoever follows it sends it again. */
export async function sendSigned(context: SigningContext, transaction: DecodedTransaction): Promise<void> {
  await sendFirst(context, transaction, MAX_RETRIES)
  context.wake('transaction-watcher')
}

export const ended = (id: string) =>
  conflict(`The signing ${id} has ended in another process: repeat the request to read its answer`, {
    param: 'Idempotency-Key',
  })

const twice = () =>
  conflict(
    'The same transaction is being signed for another request: nothing was signed for this one; if it is meant to happen twice, repeat it in a second',
  )

export async function refuse(
  context: SigningContext,
  signer: Signer,
  operation: string,
  refusal: Refusal,
): Promise<never> {
  const { logs: _, ...details } = refusal.details
  const { rule } = refusal
  if (!context.dryRun) {
    await context.store.write((tx) =>
      audit(context, tx, 'signing.refused', signer.address, { operation, rule, ...details }),
    )
  }
  throw refusalError(refusal)
}

export const refusalError = ({ rule, message, details }: Refusal) =>
  badRequest(message, { details: { rule, ...details } })

export const paused = (reason: string | null): Refusal => ({
  rule: 'paused',
  message: `The signer is paused${reason === null ? '' : ` (${reason})`}: nothing is signed until \`svc signer resume\``,
  details: reason === null ? {} : { reason },
})

/** Before the platform signs, so that what it has signed is complete. */
function requireCosigned(transaction: DecodedTransaction, wallet: string): void {
  const { keys, signers } = transaction.message
  const missing = keys.slice(0, signers).filter((key, i) => key !== wallet && !signatureHolds(transaction, i))
  if (missing.length > 0) throw new Error(`the build left out the signatures of ${missing.join(', ')}`)
}

/** Throws unless the transaction is complete with it: whatever is stored can be sent. */
function withSignature(
  { raw, message }: DecodedTransaction,
  wallet: string,
  signature: Uint8Array,
): DecodedTransaction {
  const place = message.keys.slice(0, message.signers).indexOf(wallet)
  const signed = Buffer.from(raw)
  signed.set(signature, 1 + 64 * place)
  return decodeSigned(signed.toString('base64'))
}
