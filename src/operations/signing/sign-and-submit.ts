/** Signs a transaction with the platform's key and submits it: judged, counted and stored before it is signed, signed once. */
import { hash } from 'node:crypto'
import type { TrackedResource } from '../../api/index.ts'
import { type DecodedTransaction, decodeTransaction } from '../../chain/localnet/messages.ts'
import { signatureHolds } from '../../chain/localnet/signatures.ts'
import { readMovement } from '../../chain/movements/index.ts'
import { broadcast } from '../../chain/sending.ts'
import { type Signer, SignerUnavailable } from '../../chain/signer/index.ts'
import { decodeSigned } from '../../chain/transactions.ts'
import type { Context } from '../../context.ts'
import { badRequest, conflict, internal } from '../../errors.ts'
import { newId } from '../../store/id.ts'
import type { Row } from '../../store/schema.ts'
import { abandonSigning, findSigning, insertSigning, insertSpends, markSigned } from '../../store/signings.ts'
import type { Tx } from '../../store/store.ts'
import { FIRST_SEND_MS } from '../transactions/follow/index.ts'
import { storeSubmitted } from '../transactions/store-submitted.ts'
import { audit } from './audit.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { lockStanding, readStanding } from './policy.ts'
import { asApiError, requireCluster, requireSigner } from './require-signer.ts'
import { judge, type Refusal, spendOf } from './rules.ts'

export interface Built<K> {
  /** Wire format; the platform pays, and every other signature is there already. */
  transaction: Uint8Array
  /** Keys that the build generated and signed with; no other may sign beside the platform. */
  cosigners?: readonly string[]
  tracked_resource?: TrackedResource
  /** What `answer` and `record` need of the build, as JSON: a retry after a crash has nothing else. */
  kept: K
}

export interface Signable<K, D> {
  /** What asks, for the audit log, for example `fee_claim.create`. */
  operation: string
  /** Throws bad_request where there is nothing to do. */
  build(wallet: string): Promise<Built<K>>
  answer(signature: string, kept: K): D
  /** Further rows of the commit that stores the signature. */
  record?(tx: Tx, signature: string, kept: K): Promise<void>
}

interface Plan {
  kept: unknown
  tracked_resource?: TrackedResource
}

const MAX_RETRIES = 2

/**
 * A refusal is bad_request with `details.rule` and the figures. What was intended under an Idempotency-Key is ended by
 * its retry, with the same bytes and so the same signature. Throws internal_error where the provider fails: what it
 * certainly did not sign is forgotten, anything else keeps the key and its place in the day.
 */
export async function signAndSubmit<K, D>(context: Context, request: Signable<K, D>): Promise<D> {
  const signer = await requireSigner(context)
  const earlier = await findEarlier(context, signer)
  const signing = earlier ?? (await intend(context, signer, request))
  const unsigned = decodeTransaction(signing.transaction)
  const signature = await askProvider(context, signer, signing, unsigned)
  const transaction = withSignature(unsigned, signer.address, signature)
  const plan: Plan = JSON.parse(signing.plan_json)
  const answer = await context.commit(async (tx) => {
    if (!(await markSigned(tx, signing.id, transaction.signature))) throw ended(signing)
    const { genesis, since_slot } = signing
    const next_send_at = context.clock.now() + FIRST_SEND_MS
    const submission = { max_retries: MAX_RETRIES, tracked_resource: plan.tracked_resource }
    await storeSubmitted(context, tx, transaction, submission, { genesis, since_slot, next_send_at })
    await request.record?.(tx, transaction.signature, plan.kept as K)
    await audit(context, tx, 'signing.signed', signer.address, {
      signing: signing.id,
      operation: signing.operation,
      signature: transaction.signature,
    })
    return request.answer(transaction.signature, plan.kept as K)
  })
  await oneAtATime(signer.address, () => broadcast(context.chain, transaction.raw, MAX_RETRIES)).catch((error) =>
    context.log.warn({ err: error, signature: transaction.signature }, 'a signed transaction was not sent at once'),
  )
  context.wake('transaction-watcher')
  return answer
}

type Signing = Pick<
  Row<'signings'>,
  'id' | 'operation' | 'transaction' | 'plan_json' | 'genesis' | 'since_slot' | 'state' | 'created_at'
>

/** What an interrupted run of this request intended; it may have been signed, so that no other may be. */
async function findEarlier(context: Context, signer: Signer): Promise<Signing | null> {
  const { store, clock, signing } = context
  if (signing.earlier === null) return null
  const row = await findSigning(store.db, signing.earlier)
  if (row === null || row.state !== 'intended') throw ended({ id: signing.earlier })
  if (row.signer !== signer.address) {
    throw internal(
      `This request was begun with the signer ${row.signer}, and now it is ${signer.address}: configure that one to end it, or send the request with another Idempotency-Key`,
    )
  }
  if ((await requireCluster(context)) !== row.genesis) {
    throw internal('This request was begun on another chain: send it with another Idempotency-Key')
  }
  const { policy, row: stored } = await readStanding(store.db, clock, signer.address)
  if (policy.paused) throw pausedWhile(stored?.paused_reason ?? null)
  return row
}

async function intend<K, D>(context: Context, signer: Signer, request: Signable<K, D>): Promise<Signing> {
  const { store, chain, clock } = context
  const wallet = signer.address
  const genesis = await requireCluster(context)
  const standing = await readStanding(store.db, clock, wallet)
  // Said before anything is built: nothing that follows could be signed.
  if (standing.policy.paused) {
    return refuse(context, wallet, request.operation, paused(standing.row?.paused_reason ?? null))
  }
  const built = await request.build(wallet)
  const transaction = decodeTransaction(built.transaction)
  requireCosigned(transaction, wallet)
  const movement = await oneAtATime(wallet, () => readMovement(chain, transaction, wallet))
  const options = { role: 'pays', cosigners: built.cosigners ?? [] } as const
  const spend = spendOf(movement)
  const plan: Plan = {
    kept: built.kept,
    ...(built.tracked_resource === undefined ? {} : { tracked_resource: built.tracked_resource }),
  }
  const signing = {
    id: newId('sgn'),
    operation: request.operation,
    transaction: Buffer.from(built.transaction),
    plan_json: JSON.stringify(plan),
    genesis,
    since_slot: movement.slot,
    state: 'intended',
    created_at: clock.now(),
  } as const
  const refusal = await store.write(async (tx) => {
    const { policy, spent } = await lockStanding(tx, clock, wallet)
    const refused = judge(movement, policy, spent, options)
    if (refused !== null) return refused
    const at = { signing_id: signing.id, signer: wallet, at: clock.now() }
    const amounts = new Map([['', spend.lamports], ...spend.tokens.map(({ mint, amount }) => [mint, amount] as const)])
    await insertSigning(tx, { ...signing, signer: wallet, signature: null })
    await insertSpends(tx, at, amounts)
    await context.signing.bind(tx, signing.id)
    await audit(context, tx, 'signing.intended', wallet, {
      signing: signing.id,
      operation: request.operation,
      message_sha256: hash('sha256', transaction.messageBytes, 'hex'),
      lamports: String(spend.lamports),
      tokens: spend.tokens.map(({ mint, amount }) => ({ mint, amount: String(amount) })),
    })
    return null
  })
  return refusal === null ? signing : refuse(context, wallet, request.operation, refusal)
}

/** Before the platform signs, so that what it has signed is complete. */
function requireCosigned(transaction: DecodedTransaction, wallet: string): void {
  const { keys, signers } = transaction.message
  const missing = keys.slice(0, signers).filter((key, i) => key !== wallet && !signatureHolds(transaction, i))
  if (missing.length > 0) throw new Error(`the build left out the signatures of ${missing.join(', ')}`)
}

async function refuse(context: Context, wallet: string, operation: string, refusal: Refusal): Promise<never> {
  const { rule, message, details } = refusal
  await context.store.write((tx) => audit(context, tx, 'signing.refused', wallet, { operation, rule, ...details }))
  throw badRequest(message, { details: { rule, ...details } })
}

/** The signature over the message, 64 bytes. */
async function askProvider(
  context: Context,
  signer: Signer,
  { id, operation }: Signing,
  transaction: DecodedTransaction,
): Promise<Uint8Array> {
  try {
    return await signer.sign(transaction.messageBytes)
  } catch (error) {
    const signed = error instanceof SignerUnavailable ? error.signed : 'unknown'
    const why = error instanceof SignerUnavailable ? error.message : 'the provider failed in a way that it should not'
    // A retry knows nothing of what its first run, or another process that has the key by now, was given by the provider.
    const first = context.signing.earlier === null
    await context.store.write(async (tx) => {
      if (signed === 'no' && first && (await context.signing.unbind(tx))) await abandonSigning(tx, id)
      await audit(context, tx, 'signing.failed', signer.address, { signing: id, operation, signed, why })
    })
    throw asApiError(error)
  }
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

const ended = ({ id }: { id: string }) =>
  conflict(`The signing ${id} has ended in another process: repeat the request to read its answer`, {
    param: 'Idempotency-Key',
  })

const paused = (reason: string | null): Refusal => ({
  rule: 'paused',
  message: `The signer is paused${reason === null ? '' : ` (${reason})`}: nothing is signed until \`svc signer resume\``,
  details: reason === null ? {} : { reason },
})

function pausedWhile(reason: string | null) {
  const { rule, message, details } = paused(reason)
  return badRequest(message, { details: { rule, ...details } })
}
