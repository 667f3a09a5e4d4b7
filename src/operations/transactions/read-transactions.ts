/** Reads one transaction by its signature, with its current state on the chain, and lists the stored ones. */
import type { Api, StoredTransaction, TrackedResource, Transaction } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { MOST_LAG_SLOTS } from '../../chain/nodes/slot-book.ts'
import { readBalances } from '../../chain/reads/executed-balances.ts'
import { isSignature, readStatuses, type SignatureStatus } from '../../chain/reads/statuses.ts'
import { explainStored } from '../../chain/sending/stored-errors.ts'
import type { Context } from '../../context.ts'
import { transactionRecord } from '../../following/transaction-record.ts'
import { isExpiry, type TransactionState, transitionOf } from '../../following/transition.ts'
import { internal, notFound } from '../../platform/errors.ts'
import { isoTime } from '../../platform/timing.ts'
import type { Row } from '../../store/schema.ts'
import { type FollowedTransaction, findTransaction, pageTransactions } from '../../store/transactions/transactions.ts'
import { fromJsonOrNull, isoTimeOrNull, recordPage } from '../api-records.ts'
import { followTransaction } from './follow-transactions.ts'

type GetTransactionRoute = Api['transactions']['get']
type ListTransactionsRoute = Api['transactions']['list']
type BalanceChangesRoute = Api['transactions']['changes']
type StoredRow = Row<'transactions'>

/** Requests within this time are answered from the record. */
const STATUS_FRESH_MS = 300
const UNKNOWN_TRANSACTION = {
  lifecycle: 'unknown',
  confirmation_status: null,
  err: null,
  slot: 0,
  confirmations: 0,
} as const
const NO_BYTES = Buffer.alloc(0)
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
  if (isFresh || (row.next_check_at === null && !isExpiry(row))) return storedRecord(row)
  await followIfDue(context, row).catch((error) =>
    log.warn({ err: error, signature }, 'could not look for a transaction'),
  )
  return storedRecord((await findTransaction(store.db, signature)) ?? row)
}

/** Lists what was submitted here, newest first; the chain is not asked. */
export async function listTransactions(
  { store }: Pick<Context, 'store'>,
  { resource_id: tracked_id, ...input }: Input<ListTransactionsRoute>,
): Promise<Result<ListTransactionsRoute>> {
  return recordPage(await pageTransactions(store.db, { ...input, tracked_id }), storedRecord)
}

/** Reads what a confirmed transaction changed. Throws not_found if the node does not have it. */
export async function getBalanceChanges(
  { chain }: Pick<Context, 'chain'>,
  { signature }: Input<BalanceChangesRoute>,
): Promise<Result<BalanceChangesRoute>> {
  const executed = isSignature(signature) ? await readBalances(chain, signature, 'confirmed') : null
  if (executed === null) {
    throw notFound(`The node has no confirmed transaction ${signature}`, { param: 'signature' })
  }
  const rows = executed.accounts.flatMap(({ address, before, after, holdings }) => [
    { address, mint: null, owner: null, decimals: null, before, after },
    ...holdings.map((held) => ({ address, ...held })),
  ])
  return {
    signature,
    slot: executed.slot,
    fee: `${executed.fee}`,
    balance_changes: rows
      .filter(({ before, after }) => before !== after)
      .map(({ before, after, ...row }) => ({
        ...row,
        before: `${before}`,
        after: `${after}`,
        change: `${after - before}`,
      })),
  }
}

const storedRecord = (row: StoredRow): StoredTransaction => ({
  ...explainedRecord(row),
  tracked_resource: fromJsonOrNull<TrackedResource>(row.tracked_resource_json),
  bundle_id: row.bundle_id,
  external_uid: row.external_uid,
  created_at: isoTime(row.created_at),
  bytes_removed_at: isoTimeOrNull(row.raw_removed_at),
})

const explainedRecord = (row: Pick<StoredRow, 'signature' | 'raw'> & TransactionState): Transaction => ({
  ...transactionRecord(row),
  error: row.err_json === null ? null : inWords(row),
})

function inWords(row: Pick<StoredRow, 'raw'> & TransactionState): Transaction['error'] {
  const { program, name, message, hint } = explainStored(row)
  return { program, name, message, hint }
}

/**
 * Only the chain that it was submitted to can report its state. One that ended as expired is looked for again, because a
 * chain that shows it corrects the record.
 */
async function followIfDue(context: Context, row: FollowedTransaction): Promise<void> {
  const genesis = await context.chain.genesisHash()
  if (row.genesis === '' || row.genesis === genesis) await followTransaction(context, row)
}

/** Reads a transaction that was not submitted here. Its lifecycle is `unknown` if the chain does not know it either. */
async function onChain(chain: Context['chain'], signature: string): Promise<Result<GetTransactionRoute>> {
  if (!isSignature(signature)) return { signature, ...UNKNOWN_TRANSACTION, absence: 'proven' }
  const { slot, statuses } = await readStatuses(chain, [signature], true)
  const seen = { status: statuses[0] ?? null, isProven: chain.provesAbsence }
  const { status, isProven } = seen.status !== null ? seen : await confirmedUnknown(chain, signature, slot)
  const step = transitionOf(UNSEEN, { status, slot, since: null })
  return step === null
    ? { signature, ...UNKNOWN_TRANSACTION, absence: isProven ? 'proven' : 'unproven' }
    : explainedRecord({ signature, ...step.state, raw: NO_BYTES })
}

/**
 * Asks a second endpoint about a signature that a node did not know at `slot`, because a client may sign again after
 * `unknown`. An endpoint that is further behind proves nothing. Throws internal_error if only one of several answers.
 */
async function confirmedUnknown(
  chain: Context['chain'],
  signature: string,
  slot: number,
): Promise<{ status: SignatureStatus | null; isProven: boolean }> {
  if (!chain.hasSeveralEndpoints) return { status: null, isProven: chain.provesAbsence }
  const readings = await chain.witnesses((node) => readStatuses(node, [signature], true))
  if (readings.length === 0) {
    throw internal('Only one RPC endpoint answered, and it does not know the transaction: try again')
  }
  const status = readings.map(({ statuses }) => statuses[0] ?? null).find((each) => each !== null) ?? null
  const newest = Math.max(slot, ...readings.map((reading) => reading.slot))
  return { status, isProven: readings.every((reading) => reading.slot >= newest - MOST_LAG_SLOTS) }
}
