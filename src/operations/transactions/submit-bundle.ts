/** Takes up to five signed transactions that land together, in one slot, or not at all. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { bundleIdOf } from '../../chain/bundles.ts'
import { relayOf } from '../../chain/relay.ts'
import { preflight } from '../../chain/sending.ts'
import { decodeSigned } from '../../chain/transactions.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { findTransaction } from '../../store/transactions.ts'
import { FIRST_SEND_MS } from './follow/index.ts'
import { storeSubmitted } from './store-submitted.ts'

type Route = Api['transactions']['submit']

/** Only the first can be tried beforehand: the others may need what it does. What is tracked hangs on the last. */
export async function submitBundle(context: Context, input: Input<Route>): Promise<Result<Route>> {
  const { store, chain, clock, config, log } = context
  const relay = relayOf(config, chain)
  const bundle = input.signed_transactions!.map((text, i) => decodeSigned(text, `signed_transactions.${i}`))
  const signatures = bundle.map(({ signature }) => signature)
  const twice = signatures.findIndex((signature, i) => signatures.indexOf(signature) < i)
  if (twice >= 0) {
    const param = `signed_transactions.${twice}`
    throw badRequest(`${param} is in the bundle twice`, { param })
  }
  const bundle_id = bundleIdOf(signatures)
  const answer = { bundle_id, signatures: [bundle_id], transaction_signatures: signatures }
  const known = await Promise.all(signatures.map((signature) => findTransaction(store.db, signature)))
  if (known.every((row) => row?.bundle_id === bundle_id)) return answer
  const other = known.findIndex((row) => row !== null)
  if (other >= 0) {
    const param = `signed_transactions.${other}`
    throw badRequest(`${param} was submitted before, outside this bundle: sign it anew with a fresh blockhash`, {
      param,
    })
  }
  relay.check(bundle)
  const trial = input.skip_preflight ? undefined : await preflight(chain, bundle[0]!, 'signed_transactions.0')
  if (trial?.landed) {
    throw badRequest('signed_transactions.0 has landed already: a bundle is all or nothing', {
      param: 'signed_transactions.0',
    })
  }
  await context.commit(async (tx) => {
    for (const [i, transaction] of bundle.entries()) {
      const last = i === bundle.length - 1
      const { max_retries } = input
      const tracked_resource = last ? input.tracked_resource : undefined
      await storeSubmitted(
        context,
        tx,
        transaction,
        { max_retries, tracked_resource },
        {
          bundle_id,
          since_slot: trial?.slot ?? null,
          next_send_at: clock.now() + FIRST_SEND_MS,
        },
      )
    }
    return answer
  })
  await relay
    .send(bundle.map(({ raw }) => raw))
    .catch((error) => log.warn({ err: error, bundle_id }, 'a bundle was not sent at once'))
  context.wake('transaction-watcher')
  return answer
}
