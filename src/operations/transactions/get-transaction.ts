/** Reads one transaction by its signature, with its current state on the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { isSignature, readStatuses, type SignatureStatus } from '../../chain/reads/statuses.ts'
import type { Context } from '../../context.ts'
import { transactionRecord } from '../../following/transaction-record.ts'
import { transitionOf } from '../../following/transition.ts'
import { internal } from '../../platform/errors.ts'
import { type FollowedTransaction, findTransaction } from '../../store/transactions/transactions.ts'
import { followTransaction } from './follow-transactions.ts'

type GetTransactionRoute = Api['transactions']['get']

/** Requests within this time are answered from the record. */
const STATUS_FRESH_MS = 300
const UNKNOWN_TRANSACTION = {
  lifecycle: 'unknown',
  confirmation_status: null,
  err: null,
  slot: 0,
  confirmations: 0,
} as const
const UNSEEN = { lifecycle: 'submitted', confirmation_status: null, err_json: null, slot: 0, confirmations: 0 } as const

/**
 * Looks at the chain and updates the record, for installations without a watching daemon. If the node fails, the
 * record is unchanged.
 */
export async function getTransaction(
  context: Context,
  { signature }: Input<GetTransactionRoute>,
): Promise<Result<GetTransactionRoute>> {
  const { store, chain, clock, log } = context
  const row = await findTransaction(store.db, signature)
  if (row === null) return onChain(chain, signature)
  // A look in the future was recorded by a wrong clock, so the record's age is unknown.
  const isFresh = Math.abs(clock.now() - row.checked_at) < STATUS_FRESH_MS
  if (row.next_check_at === null || isFresh) return transactionRecord(row)
  await followIfDue(context, row).catch((error) =>
    log.warn({ err: error, signature }, 'could not look for a transaction'),
  )
  return transactionRecord((await findTransaction(store.db, signature)) ?? row)
}

/** Only the chain that it was submitted to can report its state. */
async function followIfDue(context: Context, row: FollowedTransaction): Promise<void> {
  const genesis = await context.chain.genesisHash()
  if (row.genesis === '' || row.genesis === genesis) await followTransaction(context, row)
}

/** Reads a transaction that was not submitted here. Its lifecycle is `unknown` if the chain does not know it either. */
async function onChain(chain: Context['chain'], signature: string): Promise<Result<GetTransactionRoute>> {
  if (!isSignature(signature)) return { signature, ...UNKNOWN_TRANSACTION }
  const { slot, statuses } = await readStatuses(chain, [signature], true)
  const status = statuses[0] ?? (await confirmedUnknown(chain, signature))
  const step = transitionOf(UNSEEN, { status, slot, since: null })
  return step === null ? { signature, ...UNKNOWN_TRANSACTION } : transactionRecord({ signature, ...step.state })
}

/**
 * Asks a second endpoint about a signature that a node did not know, because a client may sign again after `unknown`.
 * Throws internal_error if only one of several endpoints answers.
 */
async function confirmedUnknown(chain: Context['chain'], signature: string): Promise<SignatureStatus | null> {
  if (!chain.hasSeveralEndpoints) return null
  const readings = await chain.witnesses((node) => readStatuses(node, [signature], true))
  if (readings.length === 0) {
    throw internal('Only one RPC endpoint answered, and it does not know the transaction: try again')
  }
  return readings.map(({ statuses }) => statuses[0] ?? null).find((status) => status !== null) ?? null
}
