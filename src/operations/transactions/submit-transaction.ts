/** Accepts a signed transaction: checks it, stores it with its event, then sends it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { preflight, preflightChecksSignatures } from '../../chain/sending/send.ts'
import { decodeWithSignatures, requireValidSignatures } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { FIRST_SEND_MS } from '../../following/send.ts'
import { badRequest } from '../../platform/errors.ts'
import type { Tx } from '../../store/store.ts'
import { type FollowedTransaction, findTransaction } from '../../store/transactions/transactions.ts'
import { tickerClaims } from '../pools/submitted-launches.ts'
import { siblingCheck } from './message-terms.ts'
import { sendFirst } from './send-first.ts'
import { storeSubmitted } from './store-submitted.ts'
import { submitBundle } from './submit-bundle.ts'

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
      await siblings.hold(tx)
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
