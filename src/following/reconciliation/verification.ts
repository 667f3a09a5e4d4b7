/** Compares stored events with the chain for a range of time, in bounded steps: finds missing events, and writes them if asked to. */
import {
  executionOrder,
  type ListedSignature,
  listSignatures,
  ownFirst,
  readExecuted,
} from '../../chain/reads/history.ts'
import { ApiError } from '../../platform/errors.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { type EventDraft, isEventWritten } from '../../store/events/drafts.ts'
import { endReadAgain, insertAgain } from '../../store/following/chain-transactions.ts'
import {
  accountsAfter,
  type FollowedAccount,
  isHistoryFollowedBefore,
} from '../../store/following/followed-accounts.ts'
import { findTransactions } from '../../store/transactions/transactions.ts'
import { runAndRollBack } from '../../store/writing/roll-back.ts'
import { type Budget, createBudget } from '../budget.ts'
import { readChainStates, reserveStateCalls } from '../chain-states.ts'
import { changesOfMessage, writeEffects } from '../effects.ts'
import type { RequestedEvent, SourceTransaction, TransactionChanges } from '../projection.ts'
import type { FollowingServices } from '../services.ts'
import { firstSlot } from './beginning.ts'
import { listedOf } from './listing.ts'
import { type ReadingOptions, readRows, submittedKind } from './reading.ts'

export interface VerifiedRange {
  /** Unix milliseconds, inclusive. */
  since: number
  /** Unix milliseconds, exclusive. */
  until: number
}

/** Where a verification continues: with this account, after this signature. */
interface VerificationPlace {
  account: number
  before: string | null
}

interface MissingEvent extends RequestedEvent {
  signature: string
  slot: number
}

interface UnreadSignature {
  signature: string
  slot: number
}

interface VerifiedAccounts {
  accounts: number
  transactions: number
  missing: MissingEvent[]
  /** Transactions that were not compared, because the node's answer cannot be read. */
  unread: UnreadSignature[]
  /** Events that were missing and are stored now, with their records. */
  repaired: MissingEvent[]
  /** Final transactions of repaired events, for the ledger. */
  read: ListedSignature[]
  /** Null after the last account. */
  next: VerificationPlace | null
}

/** Where a step begins, and what it may do. */
interface VerificationStep {
  from: VerificationPlace
  /** Most calls for the comparison. */
  calls: number
  /** Whether what is missing is read again and written. This takes further calls. */
  isRepair?: boolean
  signal?: AbortSignal | undefined
}

/** Signatures listed at a time, few enough that the rest of the budget can read them. */
const PAGE = 100
const ACCOUNTS_PER_STEP = 50
/** Transactions that one step repairs at the most. */
const REPAIRED_PER_STEP = 8
/** Calls of one repair: each transaction is read, and so are the accounts that its projections need. */
const REPAIR_CALLS = 40

/**
 * Lists the history of followed accounts, and names the events that are not stored, within `calls` calls. A repair
 * also writes them. Throws internal_error when the node fails.
 */
export async function verifyAccounts(
  services: FollowingServices,
  range: VerifiedRange,
  { from, calls, isRepair = false, signal }: VerificationStep,
): Promise<VerifiedAccounts> {
  const genesis = await services.chain.genesisHash()
  const beginning = await firstSlot(services, genesis)
  const budget = createBudget(calls)
  const result: VerifiedAccounts = {
    accounts: 0,
    transactions: 0,
    missing: [],
    unread: [],
    repaired: [],
    read: [],
    next: null,
  }
  const seen = new Set<string>()
  let { account: after, before } = from
  for (;;) {
    const accounts = await accountsAfter(services.store.db, { genesis, after: after - 1, limit: ACCOUNTS_PER_STEP })
    if (accounts.length === 0) return { ...result, next: null }
    for (const account of accounts) {
      after = account.seq
      // The two histories decide only together which transactions are read.
      const isOther = account.watch === 'source' || account.beside !== null
      while (!isOther && !(await isHistoryFollowedBefore(services.store.db, account))) {
        if (!budget.take()) return { ...result, next: { account: after, before } }
        const page = await listSignatures(services.chain, listedOf(account), {
          before: before ?? undefined,
          limit: PAGE,
        })
        const inRange = page.filter((each) => isWithin(each, range, beginning) && !seen.has(each.signature))
        const most = isRepair ? REPAIRED_PER_STEP : Number.POSITIVE_INFINITY
        const checked = await missingAmong(services, { genesis, budget, most }, inRange)
        for (const { signature } of checked.done) seen.add(signature)
        result.transactions += checked.done.length
        if (isRepair && checked.lost.length > 0) {
          const { missing, repaired, read } = await repair(services, account, checked.lost, { genesis, signal })
          result.missing.push(...missing)
          result.repaired.push(...repaired)
          result.read.push(...read)
          // A step repairs one page at the most, which bounds its calls.
          checked.rest ??= inRange.at(-1)?.signature
        } else result.missing.push(...checked.lost.flatMap(({ missing }) => missing))
        for (const { signature, slot } of checked.unread) {
          seen.add(signature)
          result.unread.push({ signature, slot })
        }
        if (checked.rest !== undefined) return { ...result, next: { account: after, before: checked.rest ?? before } }
        const last = page.at(-1)
        if (page.length < PAGE || last === undefined || last.slot < beginning || (last.at ?? range.since) < range.since)
          break
        before = last.signature
      }
      result.accounts++
      before = null
      after = account.seq + 1
    }
  }
}

const isWithin = ({ at, slot, isFailed }: ListedSignature, { since, until }: VerifiedRange, beginning: number) =>
  !isFailed && slot >= beginning && at !== null && at >= since && at < until

/** A transaction with missing events, and what writes them. */
interface LostTransaction extends Omit<Rewritten, 'budget'> {
  each: ListedSignature
  missing: readonly MissingEvent[]
}

interface CheckedTransactions {
  done: ListedSignature[]
  lost: LostTransaction[]
  unread: ListedSignature[]
  /** The last signature that the budget reached, or null for none; undefined if the budget sufficed. */
  rest: string | null | undefined
}

async function missingAmong(
  services: FollowingServices,
  { genesis, budget, most }: { genesis: string; budget: Budget; most: number },
  listed: readonly ListedSignature[],
): Promise<CheckedTransactions> {
  const submitted = await findTransactions(
    services.store.db,
    listed.map(({ signature }) => signature),
  )
  const bySignature = new Map(submitted.map((row) => [row.signature, row]))
  const checked: CheckedTransactions = { done: [], lost: [], unread: [], rest: undefined }
  for (const [i, each] of listed.entries()) {
    const { signature, slot } = each
    const own = bySignature.get(signature)
    const kind = own === undefined ? 'hidden' : submittedKind(own)
    if (kind === 'pending' || (kind === 'followed' && own?.raw.length === 0)) continue
    if (checked.lost.length >= most || (kind === 'hidden' && !budget.take())) {
      return { ...checked, rest: listed[i - 1]?.signature ?? null }
    }
    const message =
      kind === 'followed' && own !== undefined
        ? decodeWireTransaction(own.raw).message
        : await executedMessage(services, signature, own === undefined)
    if (message === UNREADABLE) checked.unread.push(each)
    if (message === null || message === UNREADABLE) continue
    const changed: { projection: (typeof services.projections)[number]; changes: unknown }[] = []
    const all = await unlessUnreadable(services, signature, () => changesOfMessage(services, message, null))
    if (all === UNREADABLE) {
      checked.unread.push(each)
      continue
    }
    for (const { projection, changes } of all) {
      const kept =
        own === undefined && projection.ofRecords !== undefined
          ? await projection.ofRecords(services.store.db, changes, genesis)
          : changes
      if (kept !== null) changed.push({ projection, changes: kept })
    }
    const source: SourceTransaction =
      own === undefined ? { seq: 1, signature, genesis, external_uid: null, metadata_json: null } : { ...own, genesis }
    const changes = { tracked: null, changed }
    const missing = await findMissing(services, { source, slot, changes, budget })
    if (missing.length > 0) checked.lost.push({ each, source, slot, changes, missing })
    checked.done.push(each)
  }
  return checked
}

/** Reads the transactions again as the follower does, and tells which of their events are stored then. */
async function repair(
  services: FollowingServices,
  account: FollowedAccount,
  lost: readonly LostTransaction[],
  options: { genesis: string; signal: AbortSignal | undefined },
): Promise<Pick<VerifiedAccounts, 'missing' | 'repaired' | 'read'>> {
  const budget = createBudget(REPAIR_CALLS)
  const listed = lost.map(({ each }) => each)
  const read = await readAgain(services, listed, { ...options, address: account.address, budget })
  const missing: MissingEvent[] = []
  for (const each of lost) missing.push(...(await findMissing(services, { ...each, budget })))
  const keyOf = (event: MissingEvent) => JSON.stringify([event.type, event.resource_id, event.signature])
  const open = new Set(missing.map(keyOf))
  const repaired = lost.flatMap((each) => each.missing).filter((event) => !open.has(keyOf(event)))
  return { missing, repaired, read }
}

const UNREADABLE = 'unreadable'

/** A stranger's unreadable transaction must not end the whole comparison; a failure of the node does. */
async function unlessUnreadable<T>(
  { log }: FollowingServices,
  signature: string,
  read: () => Promise<T>,
): Promise<T | typeof UNREADABLE> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiError) throw error
    log.error({ err: error, signature }, 'a transaction was not compared with the stored events')
    return UNREADABLE
  }
}

async function executedMessage(services: FollowingServices, signature: string, isForeign: boolean) {
  const read = await unlessUnreadable(services, signature, () => readExecuted(services.chain, signature))
  if (read === UNREADABLE) return read
  if (read === null || read.isFailed) return null
  return isForeign ? executionOrder(read) : ownFirst(read)
}

interface Rewritten {
  source: SourceTransaction
  slot: number
  changes: TransactionChanges
  budget: Budget
}

/**
 * Writes the effects of the transaction again, rolls them back, and returns the drafts of events that are not stored.
 */
async function findMissing(
  services: FollowingServices,
  { source, slot, changes, budget }: Rewritten,
): Promise<MissingEvent[]> {
  if (changes.changed.length === 0) return []
  const { signature } = source
  const each = { changes, transition: { state: { slot } } }
  reserveStateCalls(budget, new Map(), each)
  const { states, fault } = await readChainStates(services.chain, [each])
  if (fault !== undefined) throw fault
  return runAndRollBack(services.store, async (tx) => {
    const missing: MissingEvent[] = []
    const found = ({ type, resource_type, resource_id }: RequestedEvent) =>
      missing.push({ type, resource_type, resource_id, signature, slot })
    for (const { projection, changes: own } of changes.changed) {
      for (const group of projection.expectedEvents?.(own) ?? []) {
        const [first] = group
        if (first !== undefined && !(await isAnyWritten(tx, group, signature))) found(first)
      }
    }
    const drafts = await writeEffects(tx, services, { row: source, slot, states }, changes)
    for (const draft of drafts) {
      const isNamed = missing.some(({ type, resource_id }) => type === draft.type && resource_id === draft.resource_id)
      if (!isNamed && !(await isEventWritten(tx, draft))) found(draft)
    }
    return missing
  })
}

async function isAnyWritten(
  tx: Parameters<typeof isEventWritten>[0],
  group: readonly RequestedEvent[],
  signature: string,
): Promise<boolean> {
  for (const each of group) {
    const draft: Omit<EventDraft, 'object' | 'origin'> = { ...each, dedupe_by: signature }
    if (await isEventWritten(tx, draft)) return true
  }
  return false
}

/**
 * Writes the records and events of the transactions, each once. `listed` is newest first, as a node lists it. Returns
 * the final ones that changed a record or a wallet of the ledger. What the budget does not reach stays for the next
 * round of the follower. Throws internal_error when the node fails.
 */
export async function readAgain(
  services: FollowingServices,
  listed: readonly ListedSignature[],
  { address, ...options }: Omit<ReadingOptions, 'isRepair'> & { address: string },
): Promise<ListedSignature[]> {
  if (listed.length === 0) return []
  const { store, clock } = services
  const { genesis } = options
  const found = listed.map(({ signature, slot }, place) => ({ signature, slot, place }))
  const rows = await store.write((tx) => insertAgain(tx, found, { genesis, address, now: clock.now() }))
  await readRows(services, rows, { ...options, isRepair: true })
  const final = listed.filter(({ isFinal }) => isFinal)
  const signatures = final.map(({ signature }) => signature)
  const read = await store.write((tx) => endReadAgain(tx, genesis, signatures))
  return final.filter(({ signature }) => read.has(signature))
}
