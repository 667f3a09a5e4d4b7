/** The verbs of gold locks: locks of one mint that a wallet makes for itself, irrevocably until one time. */
import { formatDuration } from '../../api/durations.ts'
import type { Api, GoldLock } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  type BeforeLock,
  type Escrow,
  escrowAddress,
  goldTerms,
  onLock,
  readBeforeLock,
  readLock,
  scheduleMismatch,
} from '../../chain/programs/jupiter-lock/index.ts'
import { type OnChainToken, readTokens } from '../../chain/programs/tokens/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Context, Services } from '../../context.ts'
import { type ApiError, internal, notFound } from '../../platform/errors.ts'
import { DAY_SECONDS } from '../../platform/timing.ts'
import { isPaidOut } from '../../solana/lock-schedule.ts'
import { goldLockMemo } from '../../solana/memos.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { findLatestGoldLock, type GoldLockRow, pageGoldLocks } from '../../store/resources/gold-locks.ts'
import { unsignedAct } from '../act.ts'
import { goldLockRecord, recordPage } from '../api-records.ts'
import { trackingOf } from '../building.ts'
import { pageOfChain } from '../chain-pages.ts'
import { extensionsBeside, fault, proofOfDecimals, requireHolding, requirePayable } from '../locks/checks.ts'

type GoldLocks = Api['goldLocks']

/** The duration counts from now by the chain's clock. The resulting time is part of what the wallet signs. */
const createGoldLock = unsignedAct<GoldLocks['create']>(async (context, input) => {
  const { user, platform_id, lock_duration_days } = input
  const amount = BigInt(input.amount)
  const mint = goldMint(context)
  const before = await readBeforeLock(context.chain, { user, mint })
  if (before.escrow !== null) throw await occupiedError(context, user, before.escrow, before)
  const token = await requireLockable(context, mint, before.token)
  requireHolding(before, {
    wallet: user,
    mint,
    need: amount,
    param: 'user',
    token: 'gold token',
    frozen: `The gold of ${user} is frozen`,
  })
  const startsAt = before.at.unixSeconds
  const ends = startsAt + lock_duration_days * DAY_SECONDS
  const memo = goldLockMemo('gold-lock', platform_id)
  const proof = await proofOfDecimals(user, token)
  return {
    payer: user,
    requiredProgram: PROGRAMS.lock,
    platformFee: input.platform_fee,
    // Twice the measured cost of the most expensive lock (59,608 units), because the cost of deriving addresses varies
    // by wallet.
    fallbackUnits: 120_000,
    // The wallet alone signs and pays, and is base, creator and recipient of the lock.
    build: (envelope) =>
      onLock({ ...envelope, memo }, { ...token, address: before.address }, ({ create }) => [
        proof,
        ...create(user, { base: user, recipient: user, terms: goldTerms({ amount, startsAt, unlocksAt: ends }) }),
      ]),
    summary: { escrow: before.address, mint, unlocks_at: new Date(ends * 1000).toISOString() },
    tracked: trackingOf('gold_lock', user, ['gold.locked']),
  }
})

/**
 * Returns the error for a wallet whose only lock address is taken. It names the existing lock, its end and the remedy.
 */
async function occupiedError(context: Context, user: string, escrow: Escrow, { at }: BeforeLock): Promise<ApiError> {
  const why = goldLockMismatch(context, escrow, await storedLock(context, user))
  const { address, mint, cliffAmount } = escrow
  const details = { escrow: address, mint, amount: String(cliffAmount) }
  if (why !== null) {
    return fault(
      'user',
      `The wallet ${user} has a lock at ${address} that was made with another tool (${why}), and can have only one at a time: end it first with that tool`,
      details,
    )
  }
  const until = unlocksAt(escrow)
  const live = { ...details, status: goldLockStatusOf(escrow, at), unlocks_at: until }
  if (isPaidOut(escrow)) {
    return fault(
      'user',
      `The gold lock of ${user} at ${address} is paid out but not closed: close it (DELETE /v2/gold-locks/${user}, \`svc gold unlock\`), which returns its rent, then lock again`,
      live,
    )
  }
  const left = secondsUntilUnlock(escrow, at)
  const when =
    left > 0 ? `for another ${formatDuration(left)}, until ${until}` : `and it can be unlocked: unlock it first`
  const message = `The wallet ${user} already has a gold lock of ${cliffAmount} raw units, ${when}`
  return fault('user', message, { ...live, seconds_left: left })
}

const unlockGoldLock = unsignedAct<GoldLocks['unlock']>(async (context, input) => {
  const { user, platform_id } = input
  const { escrow, at } = await readLock(context.chain, escrowAddress(user))
  if (escrow === null) throw noGoldLock(context, user)
  const why = goldLockMismatch(context, escrow, await storedLock(context, user))
  if (why !== null) throw noGoldLock(context, user, escrow, why)
  const left = secondsUntilUnlock(escrow, at)
  // A lock that another tool has already paid out is only closed.
  if (left > 0 && !isPaidOut(escrow)) {
    const until = unlocksAt(escrow)
    const message = `The gold of ${user} is locked for another ${formatDuration(left)}, until ${until}`
    throw fault('user', message, { escrow: escrow.address, unlocks_at: until, seconds_left: left })
  }
  await requirePayable(context.chain, escrow, {
    wallets: [user],
    param: 'user',
    what: 'the gold',
    cannot: `The gold of ${user} cannot be unlocked`,
  })
  const { address, mint, cliffAmount, claimed } = escrow
  const amount = isPaidOut(escrow) ? 0n : cliffAmount - claimed
  const memo = goldLockMemo('gold-unlock', platform_id)
  return {
    payer: user,
    requiredProgram: PROGRAMS.lock,
    platformFee: input.platform_fee,
    // Twice the measured cost of the most expensive unlocking (74,000 units), because the cost of deriving addresses
    // varies by wallet.
    fallbackUnits: 150_000,
    build: (envelope) =>
      onLock({ ...envelope, memo }, escrow, ({ claim }) => claim(user, user, amount, { closes: true })),
    summary: { escrow: address, mint, amount: String(amount) },
    tracked: trackingOf('gold_lock', user, amount > 0n ? ['gold.unlocked'] : []),
  }
})

/** Reads the lock from the chain, or the last ended one when there is none. */
async function getGoldLock(context: Context, { user }: Input<GoldLocks['get']>): Promise<Result<GoldLocks['get']>> {
  const { escrow, at } = await readLock(context.chain, escrowAddress(user))
  const stored = await storedLock(context, user)
  if (escrow === null) {
    if (stored === null) throw noGoldLock(context, user)
    const record = goldLockRecord(stored)
    const left = Math.max(0, stored.unlocks_at / 1000 - at.unixSeconds)
    // No one can end a lock before its time, so the node has not seen it yet.
    return left > 0 ? { ...record, seconds_left: left } : { ...record, status: 'unlocked', seconds_left: 0 }
  }
  const why = goldLockMismatch(context, escrow, stored)
  if (why !== null) throw noGoldLock(context, user, escrow, why)
  return {
    user,
    mint: escrow.mint,
    amount: String(escrow.cliffAmount),
    unlocks_at: unlocksAt(escrow),
    status: goldLockStatusOf(escrow, at),
    escrow: escrow.address,
    created_at: stored !== null && isStoredLock(escrow, stored) ? goldLockRecord(stored).created_at : null,
    seconds_left: secondsUntilUnlock(escrow, at),
  }
}

async function listGoldLocks(
  context: Pick<Context, 'store' | 'chain' | 'log'>,
  input: Input<GoldLocks['list']>,
): Promise<Result<GoldLocks['list']>> {
  const { db } = context.store
  const page = await pageOfChain(context, 'gold locks', (cursor = input.cursor) =>
    pageGoldLocks(db, { ...input, cursor }),
  )
  return recordPage(page, goldLockRecord)
}

async function getGoldToken(context: Context): Promise<Result<GoldLocks['token']>> {
  const mint = goldMint(context)
  const [token = null] = await readTokens(context.chain, [mint])
  const { decimals, tokenProgram } = await requireLockable(context, mint, token)
  return { mint, decimals, token_program: tokenProgram }
}

/** Throws internal_error when none is configured. */
function goldMint({ config }: Pick<Services, 'config'>): string {
  const mint = config.values['gold.mint']
  if (mint !== undefined) return mint
  throw internal(
    'gold.mint is not set, so there is no gold token to lock: set its mint with `svc config set gold.mint <mint>` or SVC_GOLD_MINT, then restart the daemon',
    { unset: 'gold.mint' },
  )
}

/**
 * Extensions that change neither amounts nor transfers. A transfer fee would reduce the locked amount, a hook requires
 * extra accounts, and frozen accounts cannot be paid. The program itself refuses all others.
 */
const HARMLESS = [
  'MintCloseAuthority',
  'PermanentDelegate',
  'MetadataPointer',
  'TokenMetadata',
  'GroupPointer',
  'GroupMemberPointer',
]

/** Throws internal_error if the configured address is not a mint, or a mint that cannot be locked. */
async function requireLockable(
  { chain }: Pick<Services, 'chain'>,
  mint: string,
  token: OnChainToken | null,
): Promise<OnChainToken> {
  if (token === null) {
    throw internal(`gold.mint is ${mint}, but there is no token mint at that address on ${chain.cluster.label}`, {
      details: { mint },
    })
  }
  const obstacles = await extensionsBeside(HARMLESS, token)
  if (obstacles.length === 0) return token
  throw internal(
    `gold.mint is ${mint}, whose token extension${obstacles.length === 1 ? '' : 's'} ${obstacles.join(', ')} cannot be locked: gold locks accept SPL tokens, and Token-2022 tokens without transfer fees or restrictions`,
    { details: { mint, extensions: obstacles } },
  )
}

/** Returns the latest lock of the wallet that landed on this chain through this service. */
async function storedLock(
  { chain, store }: Pick<Services, 'chain' | 'store'>,
  user: string,
): Promise<GoldLockRow | null> {
  return findLatestGoldLock(store.db, user, await chain.genesisHash())
}

/** Whether the row belongs to this lock rather than to an earlier one at its address. */
export function isStoredLock(escrow: Escrow, row: Pick<GoldLockRow, 'mint' | 'amount' | 'unlocks_at'>): boolean {
  const { mint, cliffAmount, cliffTime } = escrow
  return row.mint === mint && row.amount === String(cliffAmount) && row.unlocks_at === Number(cliffTime) * 1000
}

/**
 * Returns why the lock of a wallet is not a gold lock, as the end of a sentence. Returns null for a lock of the gold
 * mint, or one that was followed here when another mint was configured. Throws internal_error if that depends on
 * `gold.mint` and it is not set.
 */
function goldLockMismatch(services: Pick<Services, 'config'>, escrow: Escrow, stored: GoldLockRow | null) {
  const mismatch = scheduleMismatch(escrow)
  if (mismatch !== null) return mismatch
  if (stored !== null && isStoredLock(escrow, stored)) return null
  const gold = goldMint(services)
  return escrow.mint === gold ? null : `its mint is ${escrow.mint}, not the gold mint ${gold}`
}

/** Returns not_found for a wallet without a gold lock, naming any other lock at its address. */
function noGoldLock({ chain }: Pick<Services, 'chain'>, user: string, escrow?: Escrow, why?: string | null) {
  const none = `The wallet ${user} has no gold lock on ${chain.cluster.label}`
  if (escrow === undefined) return notFound(none, { param: 'user' })
  return notFound(`${none}: the lock at ${escrow.address} was made with another tool (${why})`, {
    param: 'user',
    details: { escrow: escrow.address, mint: escrow.mint },
  })
}

/** Returns whole seconds of the chain's clock, or 0 once the time has come. */
const secondsUntilUnlock = ({ cliffTime }: Escrow, { unixSeconds }: ChainTime): number =>
  Math.max(0, Number(cliffTime) - unixSeconds)

function goldLockStatusOf(escrow: Escrow, at: ChainTime): GoldLock['status'] {
  if (isPaidOut(escrow)) return 'unlocked'
  return secondsUntilUnlock(escrow, at) > 0 ? 'locked' : 'unlockable'
}

const unlocksAt = ({ cliffTime }: Escrow): string => new Date(Number(cliffTime) * 1000).toISOString()

/** The function of each route. */
export const goldLockVerbs = {
  create: createGoldLock,
  unlock: unlockGoldLock,
  list: listGoldLocks,
  get: getGoldLock,
  token: getGoldToken,
}
