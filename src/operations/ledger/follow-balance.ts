/** Follows an account's balance of one token from one ledger transaction to the next, up to the balance now. */
import type { LedgerVerification } from '../../api/index.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { readBalances } from '../../chain/reads/executed-balances.ts'
import { type ListedSignature, listSignatures, UnreadableTransaction } from '../../chain/reads/history.ts'
import type { Context } from '../../context.ts'
import { MINUTE_MS, once } from '../../platform/timing.ts'
import { TOKEN_ACCOUNT_SIZE, TOKEN_AMOUNT_OFFSET } from '../../solana/token-accounts.ts'
import { listedUpTo } from '../../store/following/followed-accounts.ts'
import { balancesAfter, ledgered, waitingAmong } from '../../store/ledger/ledger.ts'
import { amountOfParts } from '../../store/queries/amount-parts.ts'
import { groupedBy } from './acts.ts'
import { SOL } from './postings.ts'

const TRANSACTIONS_PER_STEP = 2_000
/** Newest signatures that are checked for transactions missing in the ledger. */
const NEWEST_LISTED = 200
/** Transactions that are read at the same time. */
const READ_TOGETHER = 8
/** A younger transaction of an account that is not followed may not have reached the ledger yet. */
const YOUNG_MS = 2 * MINUTE_MS

/** An account whose balance is followed, with its balance on chain. */
interface FollowedBalance {
  genesis: string
  account: string
  /** Empty for lamports. */
  token: string
  /** The finalized balance now. */
  balance: bigint
  /** If an account has no entry, its transactions from this slot on are checked. Without a slot they are not. */
  since?: number
}

interface Followed {
  /** Of the first transaction; null before it. */
  first: number | null
  slot: number
  /** Null before the first transaction. */
  balance: bigint | null
  opening: bigint
  sum: bigint
}

/** What one transaction changed: the balance before and after it. */
interface BalanceStep {
  signature: string
  before: bigint
  after: bigint
}

/**
 * Adds the findings to `step`. Returns the place to continue from, or null at the end. Transactions of one slot match
 * if in some order each begins with the balance that the one before has left.
 */
export async function followBalance(
  context: Pick<Context, 'store' | 'chain' | 'clock'>,
  followed: FollowedBalance,
  from: readonly string[],
  step: LedgerVerification,
): Promise<readonly string[] | null> {
  const at = followedFrom(from)
  const { genesis, account, token } = followed
  const query = { genesis, account, token, slot: at.slot, limit: TRANSACTIONS_PER_STEP }
  const rows = await balancesAfter(context.store.db, query)
  const isEnd = rows.length < TRANSACTIONS_PER_STEP
  const lastSlot = rows.at(-1)?.slot ?? 0
  // If the step's limit cuts a slot, the next step takes that slot whole, unless this step has no other slot.
  const whole = isEnd || rows[0]?.slot === lastSlot ? rows : rows.filter(({ slot }) => slot < lastSlot)
  const newest = once(() => newestMoves(context, followed))
  let isBroken = false
  for (const [slot, group] of groupedBy(whole, (row) => row.slot)) {
    const steps = group.map((row): BalanceStep => {
      const after = BigInt(row.balance_after)
      return { signature: row.signature, before: after - amountOfParts(row), after }
    })
    const start: bigint = at.balance ?? startOf(steps)
    if (at.balance === null) at.opening = start
    at.first ??= slot
    const fault = breakIn(steps, start)
    isBroken ||= fault !== null
    // A transaction that the ledger reads later than a newer one leaves a gap until then.
    if (fault !== null && !isOnItsWay(await newest(), at.slot, slot)) {
      const place = { signature: fault.signature, account, token: token || 'SOL', reason: 'discontinuous' as const }
      step.faults.push({ ...place, expected: String(start), found: String(fault.before) })
    }
    const change = steps.reduce((sum, { before, after }) => sum + after - before, 0n)
    at.sum += change
    at.balance = fault === null ? start + change : endOf(steps)
    at.slot = slot
  }
  if (!isEnd) return [at.slot, at.balance ?? 0n, at.opening, at.sum, at.first ?? 0].map(String)
  await compareWithNow(followed, { at, newest, isBroken }, step)
  return null
}

function followedFrom([slot, balance, opening, sum, first]: readonly string[]): Followed {
  if (slot === undefined || balance === undefined) return { first: null, slot: -1, balance: null, opening: 0n, sum: 0n }
  const amounts = { balance: BigInt(balance), opening: BigInt(opening ?? 0), sum: BigInt(sum ?? 0) }
  return { first: Number(first ?? slot), slot: Number(slot), ...amounts }
}

/**
 * Counts for each balance how often it is an end more than a start. A chain differs from zero only at its start and
 * its end.
 */
function surplusOf(steps: readonly BalanceStep[]): Map<bigint, number> {
  const counts = new Map<bigint, number>()
  for (const { before, after } of steps) {
    counts.set(before, (counts.get(before) ?? 0) - 1)
    counts.set(after, (counts.get(after) ?? 0) + 1)
  }
  return counts
}

const startOf = (steps: readonly BalanceStep[]): bigint =>
  [...surplusOf(steps)].find(([, count]) => count < 0)?.[0] ?? steps[0]?.before ?? 0n
const endOf = (steps: readonly BalanceStep[]): bigint =>
  [...surplusOf(steps)].find(([, count]) => count > 0)?.[0] ?? steps.at(-1)?.after ?? 0n

/** Returns the step at which a chain from `start` breaks, or null if one chain goes through all steps. */
function breakIn(steps: readonly BalanceStep[], start: bigint): BalanceStep | null {
  const end = steps.reduce((sum, { before, after }) => sum + after - before, start)
  const counts = surplusOf(steps)
  counts.set(start, (counts.get(start) ?? 0) + 1)
  counts.set(end, (counts.get(end) ?? 0) - 1)
  if ([...counts.values()].every((count) => count === 0)) return null
  return steps.find(({ before }) => (counts.get(before) ?? 0) < 0) ?? steps[0] ?? null
}

/** The account's newest transactions that change its balance and are not in the ledger. */
interface NewestMoves {
  final: MovingTransaction[]
  /** Those of the final ones that the ledger will still read. */
  unread: MovingTransaction[]
  pending: MovingTransaction[]
}

async function newestMoves(
  context: Pick<Context, 'store' | 'chain' | 'clock'>,
  followed: FollowedBalance,
): Promise<NewestMoves> {
  const { store, chain } = context
  const { genesis, account } = followed
  const listed = await listSignatures(chain, account, { limit: NEWEST_LISTED })
  const signatures = listed.flatMap(({ isFinal, signature }) => (isFinal ? signature : []))
  const known = await ledgered(store.db, genesis, signatures)
  const unknown = listed.filter(({ isFinal, signature }) => isFinal && !known.has(signature))
  const final = await movingAmong(chain, unknown, followed)
  const notFinal = listed.filter(({ isFinal }) => !isFinal)
  const pending = await movingAmong(chain, notFinal, followed)
  return { final, unread: await onTheirWay(context, followed, final), pending }
}

/** Those that the ledger will still read: stored here and not in it yet, or newer than the last listing of the account. */
async function onTheirWay(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  { genesis, account }: FollowedBalance,
  moving: readonly MovingTransaction[],
): Promise<MovingTransaction[]> {
  if (moving.length === 0) return []
  const signatures = moving.map(({ signature }) => signature)
  const stored = await waitingAmong(store.db, genesis, signatures)
  const listedTo = await listedUpTo(store.db, { genesis, address: account })
  // Nothing says how far an account was read that is not followed yet.
  const isYoung = (at: number | null) => at === null || clock.now() - at < YOUNG_MS
  return moving.filter(
    ({ signature, slot, at }) => stored.has(signature) || (listedTo === null ? isYoung(at) : slot > listedTo),
  )
}

/** Whether all that is missing in the ledger from one slot to another is on its way, and something is. */
function isOnItsWay({ final, unread }: NewestMoves, from: number, to: number): boolean {
  const between = final.filter(({ slot }) => slot >= from && slot <= to)
  return between.length > 0 && between.every((each) => unread.includes(each))
}

async function compareWithNow(
  { account, token, balance, since = Number.POSITIVE_INFINITY }: FollowedBalance,
  { at, newest, isBroken }: { at: Followed; newest: () => Promise<NewestMoves>; isBroken: boolean },
  step: LedgerVerification,
): Promise<void> {
  const isUnknown = at.balance === null
  if (isUnknown && since === Number.POSITIVE_INFINITY) return
  const expected = isUnknown ? balance : at.opening + at.sum
  const amounts = { opening: String(at.opening), change: String(at.sum), expected: String(expected) }
  const place = { account, token: token || 'SOL' }
  if (!isUnknown) step.accounts.push({ ...place, ...amounts, balance: String(balance) })
  if (!isUnknown && !isBroken && balance === expected) return
  const { final, unread, pending: notFinal } = await newest()
  // Of the transactions before the first entry, the opening balance has the sum.
  const missing = final.filter(({ slot }) => slot >= (at.first ?? since))
  const pending = isUnknown ? [] : notFinal
  const ahead = balance - expected - changeOf(missing)
  // A cluster's final balance is without what is not final yet; that of the embedded chain is with it.
  const isAhead = missing.length + pending.length > 0 && (ahead === 0n || ahead === changeOf(pending))
  if (missing.every((each) => unread.includes(each)) && (isAhead || missing.length > 0)) {
    step.waiting += missing.length
    if (ahead !== 0n) step.not_final += pending.length
    return
  }
  if (balance !== expected) {
    const amounts = { expected: String(expected), found: String(balance) }
    step.faults.push({ signature: null, ...place, reason: 'balance', ...amounts })
  }
  for (const { signature } of missing) {
    step.faults.push({ signature, ...place, reason: 'missing', expected: null, found: null })
  }
}

/** A transaction that changes the balance; 0 if it cannot be read. */
type MovingTransaction = ListedSignature & { change: bigint }

const changeOf = (moving: readonly MovingTransaction[]): bigint => moving.reduce((sum, { change }) => sum + change, 0n)

/**
 * Returns the transactions that change the balance. Others only name the account, as anyone can. Unreadable ones count
 * as changing it.
 */
async function movingAmong(
  chain: Context['chain'],
  listed: readonly ListedSignature[],
  { account, token }: Pick<FollowedBalance, 'account' | 'token'>,
): Promise<MovingTransaction[]> {
  const moving: MovingTransaction[] = []
  for (let at = 0; at < listed.length; at += READ_TOGETHER) {
    const part = listed.slice(at, at + READ_TOGETHER)
    const answers = await Promise.allSettled(
      part.map(({ signature, isFinal }) => readBalances(chain, signature, isFinal ? 'finalized' : 'confirmed')),
    )
    for (const [i, each] of part.entries()) {
      const answer = answers[i]
      if (answer?.status === 'rejected' && !(answer.reason instanceof UnreadableTransaction)) throw answer.reason
      const executed = answer?.status === 'fulfilled' ? answer.value : null
      const own = executed?.accounts.find(({ address }) => address === account)
      const held = token === SOL ? own : own?.holdings.find(({ mint }) => mint === token)
      const change = (held?.after ?? 0n) - (held?.before ?? 0n)
      if (executed === null || change !== 0n) moving.push({ ...each, change })
    }
  }
  return moving
}

/** Returns the finalized lamports of accounts, or the tokens of token accounts; 0 without an account. */
export function readFinalBalances(
  chain: Context['chain'],
  accounts: readonly Pick<FollowedBalance, 'account' | 'token'>[],
): Promise<bigint[]> {
  const addresses = accounts.map(({ account }) => account)
  return askNode('Reading balances', async () => {
    const options = { commitment: 'finalized', encoding: 'base64' }
    const answer = await chain.call<unknown>('getMultipleAccounts', [addresses, options])
    const shown = (answer as { value?: unknown } | null)?.value
    if (!Array.isArray(shown) || shown.length !== accounts.length) throw new Error('its answer is incomplete')
    return accounts.map(({ token }, i) => {
      if (shown[i] === null) return 0n
      const { lamports, data } = (shown[i] ?? {}) as { lamports?: unknown; data?: unknown[] }
      if (!Number.isSafeInteger(lamports)) throw new Error('its answer is incomplete')
      if (token === SOL) return BigInt(lamports as number)
      const bytes = Buffer.from(String(data?.[0]), 'base64')
      return bytes.length < TOKEN_ACCOUNT_SIZE ? 0n : bytes.readBigUInt64LE(TOKEN_AMOUNT_OFFSET)
    })
  })
}
