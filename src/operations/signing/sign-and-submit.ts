/** Signs what a request needs with the platform's key and submits it, one transaction after the other, each once. */
import type { TrackedResource } from '../../api/index.ts'
import type { Signer } from '../../chain/signer/index.ts'
import { readBlockhashEnd } from '../../chain/statuses.ts'
import { lifetimeOf } from '../../chain/transactions.ts'
import { badRequest, conflict, internal } from '../../errors.ts'
import { decodeTransaction } from '../../solana/messages.ts'
import { newId } from '../../store/id.ts'
import type { Row } from '../../store/schema.ts'
import { findSigning, forgetPlan, supersedeSigning } from '../../store/signings.ts'
import type { Tx } from '../../store/store.ts'
import { awaitConfirmed, CONFIRMED_WITHIN_MS } from '../transactions/await-confirmed.ts'
import { audit } from './audit.ts'
import { requireCluster, requireSigner } from './require-signer.ts'
import { askProvider, ended, intend, requireRunning, sendSigned, storeSigned } from './sign.ts'
import type { Signable, SigningContext } from './types.ts'

export type { Built, Signable } from './types.ts'

/** What a request decided once, sealed beside its first signing. */
interface Plan<K> {
  kept: K
  steps: number
  tracked_resource?: TrackedResource
}

/** Slots after which a blockhash that reads as ended has ended, and is not one that the node has yet to hear of. */
const BLOCKHASH_SLOTS = 250

/**
 * A refusal is bad_request with `details.rule` and the figures. What was intended under an Idempotency-Key is ended by
 * its retry, with the same bytes and so the same signature. Throws internal_error where the provider fails: what it
 * certainly did not sign is forgotten, anything else keeps the key and its place in the day.
 */
export async function signAndSubmit<K, D>(context: SigningContext, request: Signable<K, D>): Promise<D> {
  const signer = await requireSigner(context)
  await requireRunning(context, signer, request.operation)
  const { id, plan, first } = await beginning(context, signer, request)
  const signatures: string[] = []
  for (let step = 0; step < plan.steps; step++) {
    const isLast = step === plan.steps - 1
    const stepId = idOf(id, step)
    let signing = await findSigning(context.store.db, stepId)
    if (signing?.state === 'signed') {
      signatures.push(signing.signature!)
      if (isLast) return context.commit(async () => request.answer(signatures, plan.kept))
      await requireConfirmed(context, request, plan, signatures)
      continue
    }
    if (signing?.state === 'abandoned') throw ended(stepId)
    if (signing !== null && step > 0 && (await isDead(context, signing))) {
      await supersede(context, signer, signing)
      signing = null
    }
    const isFresh = signing === null
    if (signing === null) {
      const built = step === 0 ? first! : await request.next!(signer.address, plan.kept, step)
      const intent = {
        id: stepId,
        operation: request.operation,
        plan: step === 0 ? seal(context, id, plan) : null,
        reserve: step === 0 ? (tx: Tx) => request.reserve?.(tx, plan.kept) ?? Promise.resolve() : undefined,
        binds: step === 0,
      }
      await intend(context, signer, built, intent)
      signing = (await findSigning(context.store.db, stepId))!
    }
    signatures.push(await signStep(context, signer, request, { signing, plan, signatures, isLast, isFresh, step }))
    if (!isLast) await requireConfirmed(context, request, plan, signatures)
  }
  return request.answer(signatures, plan.kept)
}

interface Step<K> {
  signing: Row<'signings'>
  plan: Plan<K>
  /** Of the steps before. */
  signatures: readonly string[]
  isLast: boolean
  isFresh: boolean
  step: number
}

async function signStep<K, D>(
  context: SigningContext,
  signer: Signer,
  request: Signable<K, D>,
  { signing, plan, signatures, isLast, isFresh, step }: Step<K>,
): Promise<string> {
  const release = async (tx: Tx) => request.release?.(tx, plan.kept)
  const transaction = await askProvider(context, signer, signing, isFresh && step === 0 ? release : null)
  const all = [...signatures, transaction.signature]
  if (isLast) {
    await context.commit(async (tx) => {
      await storeSigned(context, tx, signer, signing, transaction, plan.tracked_resource)
      await request.record?.(tx, all, plan.kept)
      // Nothing goes on from here: the keys that are sealed in it are not kept.
      await forgetPlan(tx, idOf(signing.id.replace(/\.\d+$/, ''), 0))
      return request.answer(all, plan.kept)
    })
  } else {
    await context.store.write((tx) => storeSigned(context, tx, signer, signing, transaction, undefined))
  }
  await sendSigned(context, transaction)
  return transaction.signature
}

const idOf = (id: string, step: number) => (step === 0 ? id : `${id}.${step}`)

/** What the first run of this request decided, or what this one does. */
async function beginning<K, D>(context: SigningContext, signer: Signer, request: Signable<K, D>) {
  const { earlier } = context.signing
  if (earlier === null) {
    const { first, kept, steps = 1, tracked_resource } = await request.begin(signer.address)
    const plan: Plan<K> = { kept, steps, ...(tracked_resource === undefined ? {} : { tracked_resource }) }
    return { id: newId('sgn'), plan, first }
  }
  const row = await findSigning(context.store.db, earlier)
  if (row === null || row.plan === null) throw ended(earlier)
  if (row.signer !== signer.address) {
    throw conflict(
      `This request was begun with the signer ${row.signer}, and now it is ${signer.address}: configure that one to end it, or send the request with another Idempotency-Key`,
      { param: 'Idempotency-Key' },
    )
  }
  if ((await requireCluster(context)) !== row.genesis) {
    throw conflict('This request was begun on another chain: send it with another Idempotency-Key', {
      param: 'Idempotency-Key',
    })
  }
  const plan: Plan<K> = JSON.parse(context.vault.open(row.plan, purposeOf(earlier)).toString('utf8'))
  return { id: earlier, plan, first: null }
}

const purposeOf = (id: string) => `signing:${id}`

function seal<K>({ vault }: SigningContext, id: string, plan: Plan<K>): Buffer {
  return vault.seal(JSON.stringify(plan), purposeOf(id))
}

/** Waits until the last step is confirmed; one that failed for good frees the key, as nothing more can come of it. */
async function requireConfirmed<K, D>(
  context: SigningContext,
  { release }: Signable<K, D>,
  { kept }: Plan<K>,
  signatures: readonly string[],
): Promise<void> {
  const signature = signatures.at(-1)!
  const until = performance.now() + CONFIRMED_WITHIN_MS
  const { isConfirmed, lifecycle, err_json } = await awaitConfirmed(context, signature, until)
  if (isConfirmed) return
  if (lifecycle !== 'failed') {
    throw internal(
      `The transaction ${signature} is not confirmed yet: repeat the request with its Idempotency-Key to go on`,
    )
  }
  await context.store.write(async (tx) => {
    if (await context.signing.unbind(tx)) await release?.(tx, kept)
  })
  throw badRequest(`The transaction ${signature} failed on the chain, and the rest was not signed: ${err_json}`, {
    details: { signatures, err: JSON.parse(err_json ?? 'null') },
  })
}

/** Whether what was intended can land no more, signed or not: it was never sent, and its blockhash is over. */
async function isDead({ chain }: SigningContext, { transaction, since_slot }: Row<'signings'>): Promise<boolean> {
  const { blockhash } = lifetimeOf(decodeTransaction(transaction).message)
  const { slot, ended } = await readBlockhashEnd(chain, blockhash)
  return ended[0] === true && slot >= (since_slot ?? 0) + BLOCKHASH_SLOTS
}

/** A step that was never sent makes room for another with the same purpose; what it took of the day stays taken. */
async function supersede(context: SigningContext, signer: Signer, { id, operation }: Row<'signings'>): Promise<void> {
  await context.store.write(async (tx) => {
    if (!(await supersedeSigning(tx, id))) throw ended(id)
    await audit(context, tx, 'signing.failed', signer.address, {
      signing: id,
      operation,
      signed: 'unknown',
      why: 'its blockhash is over and it was never sent: it is built anew',
    })
  })
}
