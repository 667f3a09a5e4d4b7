/** Writes the ledger: reads final transactions from the chain and stores what each moved, once. */
import { type ExecutedBalances, readBalances } from '../../chain/reads/executed-balances.ts'
import { executionOrder, UnreadableTransaction } from '../../chain/reads/history.ts'
import { readFirstBlock } from '../../chain/reads/statuses.ts'
import type { Services } from '../../context.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/timing.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { type BookedAmounts, claimsWithoutAmounts, storeClaimAmounts } from '../../store/fees/fee-claims.ts'
import {
  addLedgerTransaction,
  addUnread,
  amountParts,
  dueUnread,
  insertEntries,
  isAnyUnledgered,
  latestEntryAt,
  lockLedger,
  neverLanded,
  noteLedgered,
  readEntries,
  unledgered,
} from '../../store/ledger/ledger.ts'
import { addToTotals } from '../../store/ledger/totals.ts'
import { findPool } from '../../store/resources/pools.ts'
import type { Tx } from '../../store/store.ts'
import { writeEach } from '../../store/writing/write-each.ts'
import { solPrice } from '../pools/sol-price.ts'
import { groupedBy } from './acts.ts'
import { knownAddresses, tokenSymbols } from './known-addresses.ts'
import { type Posting, postingsOf, SOL } from './postings.ts'

type LedgerServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer' | 'ending'>

/** Transactions that are read at the same time. */
const READ_TOGETHER = 8
/** Time between two rounds of the worker. */
export const LEDGER_ROUND_MS = 5 * SECOND_MS
/** Transactions in one round, with one call to the node each. Missing ones take one more call per eight. */
const LEDGER_CALLS = 40
const FIRST_WAIT_MS = 5 * SECOND_MS
/** Longest wait for a transaction that the node should have but does not return. */
const LONGEST_UNREAD_WAIT_MS = 6 * HOUR_MS
/** Longest wait for a transaction older than the node's history. After an upgrade there may be many. */
export const LONGEST_LEDGER_WAIT_MS = 32 * DAY_MS
/** Transactions stored within this time do not wait for older ones. */
const NEW_WITHIN_MS = DAY_MS
const NOT_SHOWN = 'the node does not have it: set rpc-url to a node with its history'
/** The current price is not used for older transactions. */
const PRICED_WITHIN_MS = HOUR_MS

interface Candidate {
  signature: string
  /** Null if unknown. */
  slot: number | null
  mayBeGone: boolean
  tries: number
  /** Whether a node has listed it as final, so that it did reach the chain. */
  isListed?: boolean
}

type UnreadTransaction = Candidate & { reason: string; isBeforeHistory?: boolean }

interface ReadTransaction {
  signature: string
  executed: ExecutedBalances
  postings: Posting[]
  symbols: ReadonlyMap<string, string>
  price: EntryPrice
}

type EntryPrice = { price: string | null; price_currency: string | null; price_source: string | null }
const UNPRICED: EntryPrice = { price: null, price_currency: null, price_source: null }

/**
 * Runs one round of at most `calls` transactions with one call each. Returns their number, or 0 when nothing is due.
 * Any number of processes may run rounds and be killed, because all writes for a transaction are one database
 * transaction. Throws internal_error when the node fails.
 */
export async function writeLedger(
  services: LedgerServices,
  { signal, calls = LEDGER_CALLS }: { signal?: AbortSignal | undefined; calls?: number } = {},
): Promise<number> {
  const { store, chain, clock } = services
  if (!(await isAnyUnledgered(store.db, clock.now()))) return 0
  const genesis = await chain.genesisHash()
  const candidates = await findCandidates(services, genesis, calls)
  for (let at = 0; at < candidates.length; at += READ_TOGETHER) {
    signal?.throwIfAborted()
    await takeAll(services, genesis, candidates.slice(at, at + READ_TOGETHER), signal)
  }
  return candidates.length
}

/**
 * Reads these final transactions of a listing, with one call each, and writes what the ledger lacks of them. Throws
 * internal_error when the node fails.
 */
export async function writeListed(
  services: LedgerServices,
  genesis: string,
  listed: readonly { signature: string; slot: number | null }[],
): Promise<void> {
  const candidates = listed.map((each) => ({ ...each, mayBeGone: false, tries: 0, isListed: true }))
  for (let at = 0; at < candidates.length; at += READ_TOGETHER) {
    await takeAll(services, genesis, candidates.slice(at, at + READ_TOGETHER), services.ending)
  }
}

/**
 * At least half of a round is for unread transactions rather than retries, and half of that for older ones. Of the
 * recent ones the newest are chosen, and read in the order in which they were stored.
 */
async function findCandidates({ store, clock }: LedgerServices, genesis: string, calls: number): Promise<Candidate[]> {
  const now = clock.now()
  const again = await dueUnread(store.db, { genesis, now, limit: Math.ceil(calls / 2) })
  const left = calls - again.length
  const past = await unledgered(store.db, { genesis, limit: left })
  // If all of them fit into the round, recent ones need no priority.
  const isShort = past.length < left
  const recent = isShort ? [] : await unledgered(store.db, { genesis, since: now - NEW_WITHIN_MS, limit: left })
  const newest = recent.slice(0, Math.floor(left / 2)).reverse()
  const chosen = new Map([...newest, ...past].map((source) => [source.signature, source]))
  return [
    ...again.map(({ signature, slot, tries }) => ({ signature, slot, tries, mayBeGone: false })),
    ...[...chosen.values()].slice(0, left).map((source) => ({ ...source, tries: 0 })),
  ]
}

async function takeAll(
  services: LedgerServices,
  genesis: string,
  candidates: readonly Candidate[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { store, chain, clock, log } = services
  const ended = await neverLanded(
    store.db,
    candidates.filter(({ isListed }) => !isListed).map(({ signature }) => signature),
  )
  const landed = candidates.filter(({ signature }) => !ended.has(signature))
  const answers = await Promise.allSettled(landed.map(({ signature }) => readBalances(chain, signature)))
  const read: ReadTransaction[] = []
  const unread: UnreadTransaction[] = []
  const gone = [...ended]
  let outage: unknown
  let historyStart: number | null = null
  for (const [i, candidate] of landed.entries()) {
    const answer = answers[i]
    try {
      if (answer?.status !== 'fulfilled') throw answer?.reason
      const executed = answer.value
      if (executed !== null) read.push(await readTransaction(services, candidate.signature, executed))
      else if (candidate.mayBeGone) gone.push(candidate.signature)
      else {
        historyStart ??= await readFirstBlock(chain)
        const isBeforeHistory = (candidate.slot ?? historyStart) < historyStart
        unread.push({ ...candidate, isBeforeHistory, reason: NOT_SHOWN })
      }
    } catch (error) {
      if (!(error instanceof UnreadableTransaction)) outage = error
      else unread.push({ ...candidate, reason: error.message })
    }
  }
  const faults = await writeEach(store, read, (tx, part) => writeRead(tx, part, { genesis, now: clock.now() }), signal)
  for (const { row, error } of faults) {
    log.error({ err: error, signature: row.signature }, 'what a transaction moved could not be written to the ledger')
    const { slot } = row.executed
    unread.push({ signature: row.signature, slot, mayBeGone: false, tries: 0, reason: 'it could not be written' })
  }
  const now = clock.now()
  await store.write(async (tx) => {
    for (const each of unread) {
      const { signature, reason } = each
      const again = { tries: each.tries + 1, next_try_at: now + waitOf(each) }
      await addUnread(tx, { genesis, signature, slot: each.slot, reason, ...again, created_at: now })
    }
    const signatures = [...gone, ...unread.map(({ signature }) => signature)]
    await noteLedgered(tx, { genesis, signatures, now })
  })
  if (outage !== undefined) throw outage
}

/** A node rarely gains older history. Usually the operator must configure another one. */
function waitOf({ tries, isBeforeHistory = false }: UnreadTransaction): number {
  const doubled = 2 ** Math.min(tries, 20)
  return isBeforeHistory
    ? Math.min(LONGEST_LEDGER_WAIT_MS, DAY_MS * doubled)
    : Math.min(LONGEST_UNREAD_WAIT_MS, FIRST_WAIT_MS * doubled)
}

async function readTransaction(
  services: LedgerServices,
  signature: string,
  executed: ExecutedBalances,
): Promise<ReadTransaction> {
  const known = await knownAddresses(services, executionOrder(executed), signature)
  const postings = postingsOf(executed, known)
  const symbols = await tokenSymbols(services.store.db, [...new Set(postings.map(({ token }) => token))])
  return { signature, executed, postings, symbols, price: await priceAt(services, executed.at) }
}

async function priceAt(services: LedgerServices, at: number | null): Promise<EntryPrice> {
  const { config, clock } = services
  const url = config.values['price-url']
  if (url === undefined || at === null || Math.abs(clock.now() - at) > PRICED_WITHIN_MS) return UNPRICED
  const price = await solPrice(services)
  return price === null
    ? UNPRICED
    : { price: decimalText(price), price_currency: 'USD', price_source: new URL(url).hostname }
}

/** Formats a number without an exponent, because it is multiplied digit by digit. */
function decimalText(price: number): string {
  const text = String(price)
  return /e/i.test(text) ? price.toFixed(20).replace(/\.?0+$/, '') : text
}

async function writeRead(
  tx: Tx,
  read: readonly ReadTransaction[],
  { genesis, now }: { genesis: string; now: number },
): Promise<void> {
  await lockLedger(tx)
  let latest = await latestEntryAt(tx)
  for (const { signature, executed, postings, symbols, price } of read) {
    const occurred_at = executed.at ?? now
    const failed = executed.isFailed ? 1 : 0
    const at = { genesis, signature, slot: executed.slot, occurred_at, created_at: now }
    if (await addLedgerTransaction(tx, { ...at, failed })) {
      latest = Math.max(latest, occurred_at)
      const month = new Date(occurred_at).toISOString().slice(0, 7)
      const entries = postings.map(({ amount, balanceAfter, ...posting }) => ({
        ...at,
        ...posting,
        ...amountParts(amount),
        month,
        latest_at: latest,
        symbol: posting.token === SOL ? 'SOL' : (symbols.get(posting.token) ?? null),
        balance_after: balanceAfter === null ? null : String(balanceAfter),
        ...(posting.token === SOL ? price : UNPRICED),
      }))
      await insertEntries(tx, entries)
      await addToTotals(tx, entries)
    }
  }
  const signatures = read.map(({ signature }) => signature)
  await writeClaimAmounts(tx, genesis, signatures)
  await noteLedgered(tx, { genesis, signatures, now })
}

/**
 * Stores the amounts of claims. If a claim is recorded after its transaction was read, this runs again for that
 * transaction.
 */
async function writeClaimAmounts(tx: Tx, genesis: string, signatures: readonly string[]): Promise<void> {
  const claims = await claimsWithoutAmounts(tx, signatures)
  if (claims.length === 0) return
  const entries = await readEntries(
    tx,
    genesis,
    claims.flatMap(({ signature }) => signature ?? []),
  )
  // If one wallet claimed for both parties at once, the parts cannot be separated and get no amounts.
  const nameOf = ({ signature, pool_address, kind, claimer }: (typeof claims)[number]) =>
    [signature, pool_address, kind, claimer].join(' ')
  for (const [claim, ...others] of groupedBy(claims, nameOf).values()) {
    if (claim === undefined || others.length > 0) continue
    const pool = await findPool(tx, claim.pool_address)
    const own = entries.filter(({ signature }) => signature === claim.signature)
    if (pool !== null && own.length > 0) await storeClaimAmounts(tx, claim.id, claimAmounts(own, pool, claim))
  }
}

/** The fields of an entry that claim amounts need. */
interface ClaimEntry {
  owner: string
  token: string
  amount: string
  kind: string
  detail: string | null
  party: string
  counterparty: string | null
  pool: string | null
}

interface ClaimedPool {
  address: string
  base_mint: string
  quote_mint: string
}

/** Identifies the claim within its transaction; null if it is not recorded. */
interface ClaimOf {
  kind: string | null
  claimer: string | null
}

/** Parties whose accounts pay a claim. */
const HOLDERS: readonly string[] = ['pool', 'lock']

/**
 * Amounts are those that left the pool's accounts, or the lock of its vested tokens. `received` has the claim and its
 * shares by wallet, so that shares passed on count for their recipients.
 */
export function claimAmounts(
  entries: readonly ClaimEntry[],
  { address, base_mint, quote_mint }: ClaimedPool,
  { kind, claimer }: ClaimOf,
): BookedAmounts {
  const own = entries.filter(
    (entry) =>
      entry.pool === address &&
      (entry.kind === 'claim' || entry.kind === 'split_share') &&
      (kind === null || entry.detail === kind) &&
      (claimer === null || entry.owner === claimer || entry.counterparty === claimer),
  )
  const gone = (token: string) =>
    own
      .filter((entry) => entry.kind === 'claim' && HOLDERS.includes(entry.party) && entry.token === token)
      .reduce((sum, { amount }) => sum - BigInt(amount), 0n)
  const received = new Map<string, { wallet: string; token: string; amount: bigint }>()
  for (const { owner, token, amount, party } of own) {
    if (HOLDERS.includes(party)) continue
    const known = received.get(`${owner} ${token}`) ?? { wallet: owner, token, amount: 0n }
    received.set(`${owner} ${token}`, { ...known, amount: known.amount + BigInt(amount) })
  }
  const shares = [...received.values()].filter(({ amount }) => amount !== 0n)
  return {
    quote_amount: String(gone(quote_mint === WRAPPED_SOL ? SOL : quote_mint)),
    base_amount: String(gone(base_mint)),
    lamports: String(gone(SOL)),
    received_json: JSON.stringify(shares.map((share) => ({ ...share, amount: String(share.amount) }))),
  }
}
