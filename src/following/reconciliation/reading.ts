/** Reads transactions that were found on the chain, and writes their effects with the same projections as for submitted ones. */
import type { TrackedResource } from '../../api/index.ts'
import type { Chain } from '../../chain/connection.ts'
import { balancesIn } from '../../chain/reads/executed-balances.ts'
import {
  executedOf,
  executionOrder,
  type HistoricTransaction,
  ownFirst,
  readAnswer,
  UnreadableTransaction,
} from '../../chain/reads/history.ts'
import { finalityTime } from '../../chain/reads/slot-time.ts'
import { HOUR_MS, SECOND_MS } from '../../platform/timing.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { isPlainMessage } from '../../solana/plain-messages.ts'
import { executedTransactions } from '../../solana/squads/index.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import {
  type ChainTransaction,
  deleteChainTransactions,
  moveChainTransaction,
  type ReadingLane,
  waitingTransactions,
} from '../../store/following/chain-transactions.ts'
import { lastFollowed } from '../../store/following/followed-accounts.ts'
import { originOfExecution } from '../../store/proposals/proposals.ts'
import type { Tx } from '../../store/store.ts'
import { type FollowedTransaction, findTransactions } from '../../store/transactions/transactions.ts'
import { FAULTY_ROW_WAIT_MS, type RowFault } from '../../store/writing/write-each.ts'
import { type Budget, takeCalls } from '../budget.ts'
import { type AddressCounts, readChainStates, reserveStateCalls } from '../chain-states.ts'
import { changesOfMessage, writeEffects } from '../effects.ts'
import type { SourceTransaction, TransactionChanges } from '../projection.ts'
import type { FollowingServices } from '../services.ts'
import { writeWithEvents } from '../write-transitions.ts'
import { goneAmong, PROOF_CALLS } from './lost.ts'

/** Transactions that are read at the same time. */
const READ_TOGETHER = 8
/** Transactions that are chosen for one step. */
const ROWS_PER_STEP = 64
/** Wait for the watcher, or for a node that does not have the transaction yet. */
const MISSING_WAIT_MS = 5 * SECOND_MS
/** Longest wait for a transaction that cannot be read. Strangers could make any number of them. */
const LONGEST_WAIT_MS = HOUR_MS
/**
 * After this many answers without it, the transaction may be lost. They take more than a minute, in which most nodes
 * catch up.
 */
const LOST_TRIES = 4
/** Sorts a found change after the account readings of its slot. */
const FOUND_ORDER = 1

export interface ReadingOptions {
  genesis: string
  budget: Budget
  signal?: AbortSignal | undefined
  /** Reads also what was submitted here and followed by its bytes, because a part of it may be missing. */
  isRepair?: boolean
}

interface ReadTransaction {
  found: ChainTransaction
  source: SourceTransaction
  changes: TransactionChanges
  /** Whether the ledger keeps it although it changes no record. */
  isBooked: boolean
  transition: { state: { slot: number } }
}

/** Transactions that were read, with the last account that was followed at that time. */
interface WrittenRead {
  readable: readonly ReadTransaction[]
  states: Awaited<ReturnType<typeof readChainStates>>['states']
  accounts_known: number
}

/**
 * Reads until nothing waits or the budget is used up. While others wait, accounts that anyone can pay into get a
 * quarter of each step. Accounts whose data changed get half of the remaining calls. So a flood of payments delays no
 * record. Throws internal_error when the node fails.
 */
export async function readWaiting(services: FollowingServices, options: ReadingOptions): Promise<void> {
  const { genesis, budget, signal } = options
  const { db } = services.store
  for (;;) {
    signal?.throwIfAborted()
    const limit = Math.min(ROWS_PER_STEP, budget.left)
    if (limit === 0) return
    const now = services.clock.now()
    const waiting = (lane: ReadingLane) => waitingTransactions(db, { genesis, lane, now, limit })
    const [states, histories, holdings] = await Promise.all([waiting('state'), waiting('history'), waiting('holding')])
    const rest = Math.min(states.length + histories.length, limit - Math.min(holdings.length, Math.floor(limit / 4)))
    const half = Math.ceil(rest / 2)
    const chosen = [
      ...states.slice(0, Math.max(half, rest - histories.length)),
      ...histories.slice(0, Math.max(rest - half, rest - states.length)),
      ...holdings.slice(0, limit - rest),
    ]
    if (chosen.length === 0) return
    chosen.sort((a, b) => a.slot - b.slot || b.place - a.place)
    await readRows(services, chosen, options)
  }
}

/** Reads the rows in the given order, and plans later attempts for the others. Each step moves at least one row. */
export async function readRows(
  services: FollowingServices,
  rows: readonly ChainTransaction[],
  options: ReadingOptions,
): Promise<void> {
  const { store, clock, log } = services
  // Records of accounts that are followed from now on may be missing in what is read now.
  const accounts_known = await lastFollowed(store.db)
  const submitted = await findTransactions(
    store.db,
    rows.map(({ signature }) => signature),
  )
  const bySignature = new Map(submitted.map((row) => [row.signature, row]))
  const done: number[] = []
  const later = new Map<ChainTransaction, { wait: number; tries?: number }>()
  const tryAgain = (row: ChainTransaction, wait: number) =>
    later.set(row, { wait: Math.min(LONGEST_WAIT_MS, wait * 2 ** Math.min(row.tries, 20)), tries: row.tries + 1 })
  const toRead: ChainTransaction[] = []
  for (const row of rows) {
    const own = bySignature.get(row.signature)
    const kind = own === undefined ? 'hidden' : submittedKind(own)
    if (kind === 'hidden' || (kind === 'followed' && options.isRepair)) toRead.push(row)
    else if (kind === 'pending') later.set(row, { wait: MISSING_WAIT_MS })
    else done.push(row.seq)
  }
  const read: ReadTransaction[] = []
  const counts: AddressCounts = new Map()
  const absent: ChainTransaction[] = []
  let outage: unknown
  for (let at = 0; at < toRead.length && options.budget.left > 0 && outage === undefined; at += READ_TOGETHER) {
    const part = toRead.slice(at, at + READ_TOGETHER).filter(() => options.budget.take())
    const executed = await Promise.allSettled(
      part.map((row) => readFound(services.chain, row.signature, services.booked)),
    )
    options.signal?.throwIfAborted()
    outage = outageOf(executed)
    for (const [i, row] of part.entries()) {
      const one = executed[i]
      try {
        if (one?.status !== 'fulfilled') throw one?.reason
        if (one.value === null) {
          absent.push(row)
          tryAgain(row, MISSING_WAIT_MS)
          continue
        }
        const each = await readChanges(services, row, one.value, bySignature.get(row.signature))
        if (reserveStateCalls(options.budget, counts, each)) read.push(each)
        else later.set(row, { wait: 0 })
      } catch (error) {
        log.error({ err: error, signature: row.signature }, 'a transaction that was found on the chain cannot be read')
        tryAgain(row, FAULTY_ROW_WAIT_MS)
      }
    }
  }
  const { readable, states, fault } = await readChainStates(services.chain, read)
  for (const { found } of read.filter((each) => !readable.includes(each))) tryAgain(found, FAULTY_ROW_WAIT_MS)
  const faults = await writeRead(services, { readable, states, accounts_known }, options.signal)
  for (const { row, error } of faults) {
    log.error({ err: error, signature: row.found.signature }, 'what a transaction did could not be written')
    tryAgain(row.found, FAULTY_ROW_WAIT_MS)
  }
  const gone = await findGone(services, absent, options.budget)
  const now = clock.now()
  await store.write(async (tx) => {
    await deleteChainTransactions(tx, done)
    for (const row of gone) {
      later.delete(row)
      await moveChainTransaction(tx, row, { state: 'dropped', next_check_at: null })
    }
    for (const [row, { wait, ...tries }] of later) {
      await moveChainTransaction(tx, row, { state: 'waiting', next_check_at: now + wait, ...tries })
    }
  })
  const cause = outage ?? fault
  if (cause !== undefined) throw cause
}

/** Returns those that are lost with their fork, among the ones that no node has known for a while. */
async function findGone(
  { chain, log }: FollowingServices,
  absent: readonly ChainTransaction[],
  budget: Budget,
): Promise<ChainTransaction[]> {
  const lost = absent.filter(({ tries }) => tries >= LOST_TRIES)
  if (lost.length === 0 || !takeCalls(budget, PROOF_CALLS)) return []
  try {
    const gone = await goneAmong(chain, lost)
    return lost.filter(({ seq }) => gone.has(seq))
  } catch (error) {
    log.warn({ err: error }, 'could not determine whether transactions that no node knows are lost')
    return []
  }
}

/** Returns the error if the node answered nothing at all, as opposed to single transactions that cannot be read. */
function outageOf(reads: readonly PromiseSettledResult<unknown>[]): unknown {
  const faults = reads.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const isAll = faults.length === reads.length && !faults.some((fault) => fault instanceof UnreadableTransaction)
  return isAll ? faults[0] : undefined
}

/** What another client executed for a proposal of this service has the own id of its request. */
const originOfFound = async ({ store }: FollowingServices, genesis: string, message: DecodedMessage) =>
  (await originOfExecution(store.db, { genesis, addresses: executedTransactions(message) })) ?? {
    external_uid: null,
    metadata_json: null,
  }

/** Keeps the changes of a stranger's transaction only if they concern a record here. */
async function readChanges(
  services: FollowingServices,
  found: ChainTransaction,
  { executed, isBooked }: ReadFound,
  own: FollowedTransaction | undefined,
): Promise<ReadTransaction> {
  const { genesis, signature } = found
  const { slot, at: occurred_at } = executed
  const message = own === undefined ? executionOrder(executed) : ownFirst(executed)
  const source: SourceTransaction = {
    ...(own ?? { seq: FOUND_ORDER, signature, ...(await originOfFound(services, genesis, message)) }),
    genesis,
    occurred_at,
  }
  const tracked: TrackedResource | null =
    own === undefined || own.tracked_resource_json === null ? null : JSON.parse(own.tracked_resource_json)
  const all = executed.isFailed ? [] : await changesOfMessage(services, message, tracked)
  const changed: { projection: (typeof all)[number]['projection']; changes: unknown }[] = []
  for (const { projection, changes } of all) {
    const kept =
      own === undefined && projection.ofRecords !== undefined
        ? await projection.ofRecords(services.store.db, changes, genesis)
        : changes
    if (kept !== null) changed.push({ projection, changes: kept })
  }
  return { found, source, changes: { tracked, changed }, isBooked, transition: { state: { slot } } }
}

/** Writes the transactions in the order in which they took place, without those that another process has written. */
function writeRead(
  services: FollowingServices,
  { readable, states, accounts_known }: WrittenRead,
  signal: AbortSignal | undefined,
): Promise<RowFault<ReadTransaction>[]> {
  const writeAll = async (tx: Tx, part: readonly ReadTransaction[]) => {
    const drafts: EventDraft[] = []
    for (const { found, source, changes, isBooked, transition } of part) {
      const next_check_at = services.clock.now() + finalityTime(services.chain)
      const state = changes.changed.length > 0 || isBooked ? 'read' : 'empty'
      if (!(await moveChainTransaction(tx, found, { state, next_check_at, accounts_known }))) continue
      if (state === 'empty') continue
      const { slot } = transition.state
      drafts.push(...(await writeEffects(tx, services, { row: source, slot, states }, changes)))
    }
    return drafts
  }
  return writeWithEvents(services, readable, writeAll, signal)
}

// Reads a transaction that was found, and decides whether the ledger keeps it although it changes no record.

interface ReadFound {
  executed: HistoricTransaction
  /** Whether a wallet of the ledger signs or pays, or its balances change. */
  isBooked: boolean
}

/**
 * Returns null for a transaction that the node does not have. Throws internal_error when the node fails, and
 * UnreadableTransaction for an answer that is not this transaction or that cannot be decoded.
 */
const readFound = (
  node: Pick<Chain, 'call'>,
  signature: string,
  booked: ReadonlySet<string> = new Set(),
): Promise<ReadFound | null> =>
  readAnswer(node, signature, 'confirmed', (answer) => {
    const executed = executedOf(answer, signature)
    return { executed, isBooked: isMoving(executed, booked, () => balancesIn(answer, signature).accounts) }
  })

/** Anyone can name a wallet in a transaction. The ledger needs only those that change the wallet's balances. */
function isMoving(
  { message }: HistoricTransaction,
  booked: ReadonlySet<string>,
  readAccounts: () => ReturnType<typeof balancesIn>['accounts'],
): boolean {
  if (booked.size === 0) return false
  if (message.keys.slice(0, message.signers).some((key) => booked.has(key))) return true
  try {
    return readAccounts().some(
      ({ address, before, after, holdings }) =>
        (booked.has(address) && before !== after) ||
        holdings.some((held) => booked.has(held.owner) && (held.before !== held.after || before !== after)),
    )
  } catch {
    // If the node shows no balances, the ledger says so instead of reporting that nothing moved.
    return message.keys.some((key) => booked.has(key))
  }
}

/**
 * `followed`: the watcher is done with it; `pending`: the watcher comes first; `hidden`: only the chain shows what it
 * did, because it calls other programs or uses lookup tables.
 */
type SubmittedKind = 'followed' | 'pending' | 'hidden'

export function submittedKind({
  lifecycle,
  raw,
}: Pick<FollowedTransaction, 'lifecycle'> & { raw: Uint8Array }): SubmittedKind {
  if (lifecycle === 'submitted' || lifecycle === 'processing') return 'pending'
  if (lifecycle === 'failed' || raw.length === 0) return 'followed'
  return isPlainMessage(decodeWireTransaction(raw).message) ? 'followed' : 'hidden'
}
