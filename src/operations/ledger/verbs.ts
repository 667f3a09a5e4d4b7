/** The ledger: list, add up, verify against the chain, and repair. */
import type { Api, LedgerRepair, LedgerSum, LedgerVerification } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readHoldings } from '../../chain/programs/tokens/index.ts'
import { type ExecutedBalances, readBalances } from '../../chain/reads/executed-balances.ts'
import { listSignatures, UnreadableTransaction } from '../../chain/reads/history.ts'
import { readFirstBlock } from '../../chain/reads/statuses.ts'
import type { Context, RepeatingServices } from '../../context.ts'
import { createBudget } from '../../following/budget.ts'
import { firstSlot } from '../../following/reconciliation/beginning.ts'
import { readAgain } from '../../following/reconciliation/verification.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { followedHoldings } from '../../store/following/followed-accounts.ts'
import {
  countUnledgered,
  type LedgerEntryRow,
  type LedgerFilters,
  ledgered,
  ledgerTransactionsAfter,
  pageEntries,
  readEntries,
  tokensOfAccount,
  unledgered,
  unreadAfter,
} from '../../store/ledger/ledger.ts'
import { pageSums } from '../../store/ledger/totals.ts'
import { ledgerEntryRecord, recordPage } from '../api-records.ts'
import { PROJECTIONS } from '../projections.ts'
import { followTransactions } from '../transactions/follow-transactions.ts'
import { reconcileRecords } from '../transactions/reconcile-records.ts'
import { groupedBy } from './acts.ts'
import { followBalance, readFinalBalances } from './follow-balance.ts'
import { platformWallets } from './known-addresses.ts'
import { NETWORK } from './parties.ts'
import { SOL } from './postings.ts'
import { writeLedger, writeListed } from './write-ledger.ts'

type Routes = Api['ledger']

/** Lists entries of the ledger, newest first. */
export async function listLedger(context: Context, input: Input<Routes['list']>): Promise<Result<Routes['list']>> {
  const { limit, cursor, signature } = input
  if (cursor === undefined) await catchUp(context)
  const filters = await ledgerFilters(context, input)
  return recordPage(await pageEntries(context.store.db, { ...filters, signature, limit, cursor }), ledgerEntryRecord)
}

/** Adds up the ledger by a column, party and token. */
export async function sumLedger(
  context: Context,
  { mint, ...input }: Input<Routes['summary']>,
): Promise<Result<Routes['summary']>> {
  if (input.cursor === undefined) await catchUp(context)
  const genesis = await context.chain.genesisHash()
  const page = await pageSums(context.store.db, { ...input, genesis, token: mint === 'SOL' ? SOL : mint })
  const nameOf = (token: string) => (token === SOL ? 'SOL' : token)
  return recordPage(page, ({ received, paid, key, token, party, ...row }) => ({
    ...row,
    key: input.by === 'mint' ? nameOf(token) : key,
    party: party as LedgerSum['party'],
    token: nameOf(token),
    received: String(received),
    paid: String(paid),
    net: String(received - paid),
  }))
}

/** What a verification needs: of a request, or of a worker. */
type VerifyingServices = RepeatingServices & Pick<Context, 'role'>

const MOST_COUNTED = 1_000
/** A stored transaction is final and in the ledger within this time, unless the ledger is behind. */
const BEHIND_MS = 10 * MINUTE_MS

/** Throws internal_error when the node fails. */
export async function verifyLedger(
  context: VerifyingServices,
  { cursor }: Input<Routes['verify']>,
): Promise<Result<Routes['verify']>> {
  if (cursor === undefined) await catchUp(context)
  const genesis = await context.chain.genesisHash()
  const [phase = 'transactions', place = '0', ...rest] = cursor?.split('.') ?? []
  const step: LedgerVerification = {
    transactions: 0,
    entries: 0,
    faults: [],
    unread: [],
    waiting: 0,
    not_final: 0,
    accounts: [],
    next_cursor: null,
  }
  if (phase === 'transactions') {
    const next = await compareTransactions(context, { genesis, after: Number(place) }, step)
    return { ...step, next_cursor: next === null ? 'accounts.0' : `transactions.${next}` }
  }
  // While older transactions are missing between newer ones, a balance cannot be followed.
  const [oldest] = await unledgered(context.store.db, { genesis, limit: 1 })
  const isBehind = oldest !== undefined && context.clock.now() - oldest.created_at > BEHIND_MS
  const wallet = isBehind ? undefined : (await platformWallets(context))[Number(place)]
  if (wallet === undefined) return { ...step, waiting: await countUnledgered(context.store.db, genesis, MOST_COUNTED) }
  if (phase === 'holdings') {
    const next = await followHoldings(context, { genesis, wallet, from: rest }, step)
    return { ...step, next_cursor: next === null ? `accounts.${Number(place) + 1}` : [phase, place, ...next].join('.') }
  }
  const [balance = 0n] = await readFinalBalances(context.chain, [{ account: wallet, token: SOL }])
  const next = await followBalance(context, { genesis, account: wallet, token: SOL, balance }, rest, step)
  return { ...step, next_cursor: next === null ? `holdings.${place}` : [phase, place, ...next].join('.') }
}

/** Transactions that one step reads. */
const READ_PER_STEP = 24
/** Calls for their records: each is read, and so are the accounts that its projections need. */
const RECORD_CALLS = 48

/** Throws internal_error when the node fails. */
export async function repairLedger(
  context: Context,
  { cursor }: Input<Routes['repair']>,
): Promise<Result<Routes['repair']>> {
  if (cursor === undefined) await catchUp(context)
  const genesis = await context.chain.genesisHash()
  const [phase = 'unread', place = '', before] = cursor?.split('.') ?? []
  const step: LedgerRepair = { transactions: 0, repaired: [], unread: [], next_cursor: null }
  const next =
    phase === 'unread'
      ? await readUnread(context, { genesis, after: Number(place) }, step)
      : await readHistory(context, { genesis, place, before }, step)
  return { ...step, next_cursor: next }
}

async function readUnread(
  context: Context,
  { genesis, after }: { genesis: string; after: number },
  step: LedgerRepair,
): Promise<string> {
  const unread = await unreadAfter(context.store.db, { genesis, after, limit: READ_PER_STEP })
  await writeAndTell(context, genesis, unread, step)
  const last = unread.at(-1)
  return last === undefined || unread.length < READ_PER_STEP ? 'history' : `unread.${last.seq}`
}

/** `place` is the account that comes next, in the order of addresses. Returns the next place, or null at the end. */
async function readHistory(
  context: Context,
  { genesis, place, before }: { genesis: string; place: string; before: string | undefined },
  step: LedgerRepair,
): Promise<string | null> {
  const wallets = await platformWallets(context)
  const [account, following] = (await findAccounts(context, genesis, wallets)).filter((address) => address >= place)
  if (account === undefined) return null
  const services = { ...context, projections: PROJECTIONS, booked: new Set(wallets) }
  const beginning = await firstSlot(services, genesis)
  const page = await listSignatures(context.chain, account, account === place ? { before } : {})
  const isOwn = wallets.includes(account)
  // A failed transaction cost the wallet its fee, and changed no token account.
  const final = page.filter((each) => each.isFinal && each.slot >= beginning && (isOwn || !each.isFailed))
  const written = await ledgered(
    context.store.db,
    genesis,
    final.map(({ signature }) => signature),
    'written',
  )
  const unknown = final.filter(({ signature }) => !written.has(signature))
  const part = unknown.slice(0, READ_PER_STEP)
  const options = { genesis, address: account, budget: createBudget(RECORD_CALLS), signal: context.ending }
  await writeAndTell(context, genesis, await readAgain(services, part, options), step)
  const last = part.length < unknown.length ? part.at(-1) : page.at(-1)
  if (last !== undefined && (part.length < unknown.length || last.slot >= beginning))
    return `history.${account}.${last.signature}`
  return following === undefined ? null : `history.${following}`
}

async function findAccounts(context: Context, genesis: string, wallets: readonly string[]): Promise<string[]> {
  const accounts = new Set(wallets)
  for (const wallet of wallets) {
    for (const account of (await readLedgerAccounts(context, genesis, wallet)).keys()) accounts.add(account)
  }
  return [...accounts].sort()
}

/** Writes the transactions into the ledger, and adds to `step` which it has now and which no node shows. */
async function writeAndTell(
  context: Context,
  genesis: string,
  listed: readonly { signature: string; slot: number | null }[],
  step: LedgerRepair,
): Promise<void> {
  await writeListed(context, genesis, listed)
  const signatures = listed.map(({ signature }) => signature)
  const written = await ledgered(context.store.db, genesis, signatures, 'written')
  step.transactions += listed.length
  step.repaired.push(...signatures.filter((signature) => written.has(signature)))
  step.unread.push(...signatures.filter((signature) => !written.has(signature)))
}

type RequestFilters = Omit<Input<Api['ledger']['list']>, 'limit' | 'cursor' | 'signature'>

/** Throws internal_error when no node reports which chain this is. */
async function ledgerFilters(
  { chain }: Pick<Context, 'chain'>,
  { pool, mint, party, kind, account, created_after, created_before }: RequestFilters,
): Promise<LedgerFilters> {
  return {
    genesis: await chain.genesisHash(),
    pool,
    party,
    kind,
    owner: account,
    after: created_after,
    before: created_before,
    token: mint === 'SOL' ? SOL : mint,
  }
}

/** Most rounds of one request. The next request continues. */
const MOST_ROUNDS = 25

/**
 * Follows due transactions, finds those of other tools, and reads those that are final. In a daemon it does nothing,
 * because the workers do this. If the node fails, the ledger stays as it is and the error is logged.
 */
async function catchUp(context: VerifyingServices): Promise<void> {
  if (context.role !== null) return
  try {
    await followTransactions(context)
    await reconcileRecords(context)
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if ((await writeLedger(context, { signal: context.ending })) === 0) return
    }
  } catch (error) {
    if (context.ending.aborted) throw error
    context.log.warn({ err: error }, 'the ledger was not brought up to date')
  }
}

// Follows the balances of a platform wallet's token accounts, including closed ones, some in each step.

const ACCOUNTS_PER_STEP = 10

/**
 * Goes through the accounts in the order of their addresses. `from` names the last finished account, or an unfinished
 * one and the place in it. Adds the findings to `step`. Returns the place to continue from, or null at the end.
 */
async function followHoldings(
  context: VerifyingServices,
  { genesis, wallet, from: [last = '', ...within] }: { genesis: string; wallet: string; from: readonly string[] },
  step: LedgerVerification,
): Promise<readonly string[] | null> {
  const isBehind = (account: string) => (within.length > 0 ? account >= last : account > last)
  const all = await readLedgerAccounts(context, genesis, wallet)
  const chosen = [...all].filter(([account]) => isBehind(account)).sort(([one], [other]) => (one < other ? -1 : 1))
  const part = chosen.slice(0, ACCOUNTS_PER_STEP).map(([account, token]) => ({ account, token }))
  const balances = part.length === 0 ? [] : await readFinalBalances(context.chain, part)
  const since = await firstSlot({ ...context, projections: PROJECTIONS }, genesis)
  let place: readonly string[] = within
  for (const [i, each] of part.entries()) {
    const followed = { genesis, ...each, balance: balances[i] ?? 0n, since }
    const next = await followBalance(context, followed, place, step)
    if (next !== null) return [each.account, ...next]
    place = []
  }
  const end = part.at(-1)
  return end === undefined || chosen.length === part.length ? null : [end.account]
}

/**
 * Returns the wallet's token accounts, each with the followed token. Wrapped SOL is followed as lamports, as in the
 * ledger.
 */
async function readLedgerAccounts(
  { store, chain }: Pick<Context, 'store' | 'chain'>,
  genesis: string,
  wallet: string,
): Promise<Map<string, string>> {
  const { holdings } = await readHoldings(chain, { wallet })
  const tokens = new Map(holdings.map(({ account, mint }) => [account, mint === WRAPPED_SOL ? SOL : mint]))
  for (const account of await followedHoldings(store.db, genesis, wallet)) {
    if (tokens.has(account)) continue
    const booked = await tokensOfAccount(store.db, genesis, account)
    tokens.set(account, booked.find((token) => token !== SOL) ?? SOL)
  }
  return tokens
}

/** Calls to the node in one step. */
const TRANSACTIONS_PER_STEP = 48
const READ_TOGETHER = 8

/** Adds the findings to `step`. Returns the place to continue from, or null at the end. */
async function compareTransactions(
  { store, chain }: Pick<Context, 'store' | 'chain'>,
  { genesis, after }: { genesis: string; after: number },
  step: LedgerVerification,
): Promise<number | null> {
  const rows = await ledgerTransactionsAfter(store.db, { genesis, after, limit: TRANSACTIONS_PER_STEP })
  const written = rows.filter(({ status }) => status === 'written')
  for (const { status, signature, reason } of rows) {
    if (status === 'unread') step.unread.push({ signature, reason: reason ?? 'it has not been read yet' })
  }
  const signatures = written.map(({ signature }) => signature)
  const entries = groupedBy(await readEntries(store.db, genesis, signatures), ({ signature }) => signature)
  let historyStart: number | null = null
  for (let at = 0; at < written.length; at += READ_TOGETHER) {
    const part = written.slice(at, at + READ_TOGETHER)
    const answers = await Promise.allSettled(part.map(({ signature }) => readBalances(chain, signature)))
    for (const [i, { signature, slot }] of part.entries()) {
      const answer = answers[i]
      const own = entries.get(signature) ?? []
      step.entries += own.length
      if (answer?.status !== 'fulfilled') {
        if (!(answer?.reason instanceof UnreadableTransaction)) throw answer?.reason
        step.unread.push({ signature, reason: answer.reason.message })
      } else if (answer.value !== null) {
        step.transactions++
        step.faults.push(...faultsOf(signature, own, answer.value))
      } else {
        // A node proves nothing about transactions before its history.
        historyStart ??= await readFirstBlock(chain)
        if ((slot ?? 0) < historyStart) {
          step.unread.push({ signature, reason: 'the history of the node begins after it' })
        } else {
          step.faults.push({ ...NO_PLACE, signature, reason: 'not_on_chain', expected: null, found: null })
        }
      }
    }
  }
  return rows.length < TRANSACTIONS_PER_STEP ? null : (rows.at(-1)?.seq ?? null)
}

const NO_PLACE = { account: null, token: null } as const

/** Compares the change of each account and token on chain with the sum of its entries. */
function faultsOf(
  signature: string,
  entries: readonly LedgerEntryRow[],
  executed: ExecutedBalances,
): LedgerVerification['faults'] {
  const changes = changesOf(executed)
  const sums = new Map<string, bigint>()
  const byToken = new Map<string, bigint>()
  for (const { account, token, amount } of entries) {
    const key = `${account} ${token}`
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount))
    byToken.set(token, (byToken.get(token) ?? 0n) + BigInt(amount))
  }
  const unequal = [...new Set([...changes.keys(), ...sums.keys()])].flatMap((key) => {
    const [expected, found] = [changes.get(key) ?? 0n, sums.get(key) ?? 0n]
    if (expected === found) return []
    const [account = '', token = ''] = key.split(' ')
    const place = { account, token: token === SOL ? 'SOL' : token }
    return [{ signature, ...place, reason: 'amount' as const, expected: String(expected), found: String(found) }]
  })
  const unbalanced = [...byToken].flatMap(([token, sum]) => {
    if (sum === 0n) return []
    const place = { account: null, token: token === SOL ? 'SOL' : token }
    return [{ signature, ...place, reason: 'unbalanced' as const, expected: '0', found: String(sum) }]
  })
  return [...unequal, ...unbalanced]
}

function changesOf({ accounts, fee }: ExecutedBalances): Map<string, bigint> {
  const changes = new Map<string, bigint>([[`${NETWORK} ${SOL}`, fee]])
  const supplies = new Map<string, bigint>()
  for (const { address, before, after, holdings } of accounts) {
    changes.set(`${address} ${SOL}`, after - before)
    for (const { mint, before: held, after: holds } of holdings) {
      if (mint === WRAPPED_SOL) continue
      changes.set(`${address} ${mint}`, holds - held)
      supplies.set(mint, (supplies.get(mint) ?? 0n) + holds - held)
    }
  }
  for (const [mint, supply] of supplies) changes.set(`${mint} ${mint}`, -supply)
  return changes
}
