/** Accepts a signed transaction: checks it, stores it with its event, then sends it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { RelayRefusal, relayOf } from '../../chain/sending/relay.ts'
import { broadcast, preflight, preflightChecksSignatures } from '../../chain/sending/send.ts'
import { decodeSigned, decodeWithSignatures, requireValidSignatures } from '../../chain/sending/transactions.ts'
import type { Context, Services } from '../../context.ts'
import { FIRST_SEND_MS } from '../../following/send.ts'
import { badRequest } from '../../platform/errors.ts'
import { bundleIdOf } from '../../solana/bundles.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { type EventDraft, writeEvents } from '../../store/events/drafts.ts'
import type { Tx } from '../../store/store.ts'
import { type FollowedTransaction, findTransaction, planSend } from '../../store/transactions/transactions.ts'
import { tickerClaims } from '../pools/submitted-launches.ts'
import { followTransaction } from './follow-transactions.ts'
import { siblingCheck } from './message-terms.ts'
import { insertSubmitted, storeSubmitted } from './store-submitted.ts'

type SubmitTransactionRoute = Api['transactions']['submit']

/**
 * A second submission of the same transaction returns the same answer, and sends it again while no node has shown it.
 * A stored transaction is sent until it lands or expires, so a failing node is not an error of the request.
 */
export async function submitTransaction(
  context: Context,
  input: Input<SubmitTransactionRoute>,
): Promise<Result<SubmitTransactionRoute>> {
  if (input.bundle) return submitBundle(context, input)
  const { store, chain, clock } = context
  const transaction = decodeWithSignatures(input.transaction ?? '')
  const { signature } = transaction
  const inPreflight = !input.skip_preflight && preflightChecksSignatures(chain)
  if (!inPreflight) requireValidSignatures(transaction)
  const known = await findTransaction(store.db, signature)
  if (known !== null) {
    if (inPreflight) requireValidSignatures(transaction)
    refuseBundled(known)
    if (known.lifecycle === 'submitted') await sendFirst(context, transaction, input.max_retries)
    return { signature }
  }
  // A request without preflight does not require a node. The watcher determines the chain later.
  const genesis = await chain.genesisHash().catch((error) => {
    if (input.skip_preflight) return ''
    throw error
  })
  const simulated = input.skip_preflight ? undefined : await preflight(chain, transaction, 'transaction')
  const landed = simulated?.landed === true
  const submitted = [{ transaction, param: 'transaction' }]
  const siblings = siblingCheck(submitted)
  const tickers = await tickerClaims(context, submitted)
  const answer = await context.commit(async (tx) => {
    // It is sent again even if it has landed: that block may still be dropped.
    const next_send_at = clock.now() + FIRST_SEND_MS
    const since_slot = landed ? null : (simulated?.slot ?? null)
    if (!landed) {
      await siblings.hold(tx, context.clock.now())
      await tickers.hold(tx)
    }
    const plan = { genesis, since_slot, next_send_at }
    const isNew = await storeSubmitted(context, tx, transaction, input, plan)
    return isNew ? { signature } : submittedBefore(tx, signature)
  })
  if (!landed) await sendFirst(context, transaction, input.max_retries)
  context.wake('transaction-watcher')
  return answer
}

async function submittedBefore(tx: Tx, signature: string): Promise<{ signature: string }> {
  const earlier = await findTransaction(tx, signature)
  if (earlier === null) throw new Error(`${signature} was neither stored nor found`)
  refuseBundled(earlier)
  return { signature }
}

/** Throws for a transaction of a bundle, because parts of a bundle are never sent alone. */
export function refuseBundled(
  { bundle_id, lifecycle, signature }: Pick<FollowedTransaction, 'bundle_id' | 'lifecycle' | 'signature'>,
  param = 'transaction',
): void {
  if (bundle_id === null) return
  throw badRequest(
    `${param} was submitted in the bundle ${bundle_id} (${lifecycle}) and is never sent alone: follow ${signature}`,
    { param, details: { bundle_id, lifecycle, signature } },
  )
}

// Accepts up to five signed transactions that land together in one slot, or not at all.

type SubmitBundleRoute = Api['transactions']['submit']

/**
 * Only the first can be simulated beforehand, because the others may require its effects. The tracked resource belongs
 * to the last. If the relay refuses, throws internal_error, but the bundle is still followed, because an earlier
 * attempt may have reached the relay.
 */
async function submitBundle(context: Context, input: Input<SubmitBundleRoute>): Promise<Result<SubmitBundleRoute>> {
  const { store, chain, config, log } = context
  const bundle = (input.signed_transactions ?? []).map((text, i) => decodeSigned(text, `signed_transactions.${i}`))
  refuseRepeatedParts(bundle)
  const relay = relayOf(config, chain)
  relay.check(bundle)
  const signatures = bundle.map(({ signature }) => signature)
  const bundle_id = bundleIdOf(signatures)
  const answer = { bundle_id, signatures: [bundle_id], transaction_signatures: signatures }
  const known = await Promise.all(signatures.map((signature) => findTransaction(store.db, signature)))
  for (const [i, row] of known.entries()) refuseKnownPart(row, bundle_id, i)
  if (known.every((row) => row !== null && row.lifecycle !== 'submitted')) return answer
  if (known.some((row) => row === null)) await storeBundle(context, input, bundle, bundle_id)
  const sent = await relay.send(bundle.map(({ raw }) => raw)).then(
    () => true,
    (error) => {
      if (error instanceof RelayRefusal) throw error
      log.warn({ err: error, bundle_id }, 'the first sending of a bundle failed')
      return false
    },
  )
  context.wake('transaction-watcher')
  return context.commit(async (tx) => {
    if (sent && input.max_retries === 0) for (const signature of signatures) await planSend(tx, signature, null)
    return answer
  })
}

/** Stores the bundle before it is sent, so that a retry finds the same bundle. */
async function storeBundle(
  context: Context,
  input: Input<SubmitBundleRoute>,
  bundle: readonly DecodedTransaction[],
  bundle_id: string,
): Promise<void> {
  const { store, chain, clock } = context
  const genesis = await chain.genesisHash()
  const [first] = bundle
  const skips = input.skip_preflight || first === undefined
  const simulated = skips ? undefined : await preflight(chain, first, 'signed_transactions.0')
  if (simulated?.landed && first !== undefined) {
    // Another request may have stored and sent it meanwhile.
    const stored = await findTransaction(store.db, first.signature)
    refuseKnownPart(stored, bundle_id, 0)
    if (stored !== null) return
    throw badRequest('signed_transactions.0 has already landed: a bundle is all or nothing', {
      param: 'signed_transactions.0',
    })
  }
  const { max_retries } = input
  const params = bundle.map((transaction, i) => ({ transaction, param: `signed_transactions.${i}` }))
  const siblings = siblingCheck(params)
  const tickers = await tickerClaims(context, params)
  await store.write(async (tx) => {
    await siblings.hold(tx, context.clock.now())
    await tickers.hold(tx)
    const drafts: EventDraft[] = []
    for (const [i, transaction] of bundle.entries()) {
      const tracked_resource = i === bundle.length - 1 ? input.tracked_resource : undefined
      const since_slot = simulated?.slot ?? null
      const plan = { genesis, bundle_id, since_slot, next_send_at: clock.now() + FIRST_SEND_MS }
      const draft = await insertSubmitted(context, tx, transaction, { max_retries, tracked_resource }, plan)
      if (draft !== null) drafts.push(draft)
      else refuseKnownPart(await findTransaction(tx, transaction.signature), bundle_id, i)
    }
    // All events come last, because a write of events makes all daemons wait.
    await writeEvents(tx, clock, drafts)
  })
}

function refuseRepeatedParts(bundle: readonly DecodedTransaction[]): void {
  const signatures = bundle.map(({ signature }) => signature)
  const twice = signatures.findIndex((signature, i) => signatures.indexOf(signature) < i)
  if (twice < 0) return
  const param = `signed_transactions.${twice}`
  throw badRequest(`${param} is in the bundle twice`, { param })
}

/** A transaction belongs to the bundle that it was first submitted in, or to none. */
function refuseKnownPart(row: FollowedTransaction | null, bundleId: string, place: number): void {
  if (row === null || row.bundle_id === bundleId) return
  const param = `signed_transactions.${place}`
  const { signature, lifecycle, bundle_id } = row
  const where = bundle_id === null ? 'alone' : `in the bundle ${bundle_id}`
  const over = lifecycle === 'failed'
  const next = over ? 'sign it again with a fresh blockhash' : `follow ${signature}; signing it again could do it twice`
  throw badRequest(`${param} was submitted ${where} before, and is ${lifecycle}: ${next}`, {
    param,
    details: { signature, lifecycle, bundle_id },
  })
}

/** The request makes the first attempt and the watcher all later ones, so that a failure is only logged. */
export async function sendFirst(
  services: LookingServices,
  { raw, signature }: DecodedTransaction,
  maxRetries: number,
): Promise<void> {
  const { store, chain, log } = services
  lookWhenSeen(services, signature)
  await broadcast(chain, raw, maxRetries).then(
    () => (maxRetries === 0 ? store.write((tx) => planSend(tx, signature, null)) : undefined),
    (error) => log.warn({ err: error, signature }, 'the first sending of a transaction failed'),
  )
}

// Checks a transaction as soon as a node reports it as confirmed, instead of in the next round.

type LookingServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** The look reads the status itself, so a false report only causes an extra look. */
function lookWhenSeen(services: LookingServices, signature: string): void {
  services.chain.onSignature?.(signature, () => {
    void look(services, signature).catch((error) => services.log.debug({ err: error, signature }, 'a look failed'))
  })
}

async function look(services: LookingServices, signature: string): Promise<void> {
  const row = await findTransaction(services.store.db, signature)
  if (row !== null && row.next_check_at !== null) await followTransaction(services, row)
}
