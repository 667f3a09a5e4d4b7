/** Decodes the accounts that prove a passport, from the layouts of their programs alone. */
import { bytesOfBase64 } from '../claim-page/browser/bytes.ts'
import { lastUnlock, lockAmounts } from '../solana/lock-schedule.ts'
import { DAMM_V2 } from '../solana/programs/damm-v2.ts'
import { DBC } from '../solana/programs/dbc.ts'
import { canBeCancelled, decodeEscrow } from '../solana/programs/jupiter-lock.ts'
import { SYSVAR } from '../solana/programs/sysvar.ts'

export interface ShownAccount {
  owner: string
  data: Uint8Array
}

export type Call = (method: string, params: readonly unknown[]) => Promise<unknown>

/** At most 100 accounts at one slot, in the order of the addresses. Throws an Error for an incomplete answer. */
export async function readAccounts(
  call: Call,
  addresses: readonly string[],
): Promise<{ slot: number; accounts: (ShownAccount | null)[] }> {
  const answer = (await call('getMultipleAccounts', [addresses, { encoding: 'base64', commitment: 'confirmed' }])) as {
    context?: { slot?: unknown }
    value?: unknown
  }
  const [slot, value] = [answer?.context?.slot, answer?.value]
  if (!Number.isSafeInteger(slot) || !Array.isArray(value) || value.length !== addresses.length) {
    throw new Error('the node’s answer is incomplete')
  }
  return { slot: slot as number, accounts: value.map(shown) }
}

function shown(value: { owner?: unknown; data?: unknown } | null): ShownAccount | null {
  if (value === null) return null
  const { owner, data } = value
  if (typeof owner !== 'string' || !Array.isArray(data) || typeof data[0] !== 'string') {
    throw new Error('the node’s answer is incomplete')
  }
  return { owner, data: bytesOfBase64(data[0]) }
}

/** Epoch and Unix seconds of the chain's clock. */
export function clockOf(account: ShownAccount | null): { epoch: bigint; now: bigint } {
  const clock = SYSVAR.decode('clock', account)
  if (clock === null) throw new Error('the node shows no clock')
  return { epoch: clock.epoch, now: clock.unixTimestamp }
}

interface ShownLock {
  recipient: string
  mint: string
  isCancelled: boolean
  canBeCancelled: boolean
  /** Unix seconds of the last payout. */
  endsAt: bigint
  /** Raw units that are not due yet, and that are not paid out yet. */
  left: bigint
  owed: bigint
}

/** A lock of Jupiter Lock at a time; null for any other account. */
export function lockOf(account: ShownAccount | null, now: bigint): ShownLock | null {
  const escrow = decodeEscrow('', account)
  if (escrow === null) return null
  const { recipient, mint } = escrow
  const { total, locked } = lockAmounts(escrow, now)
  const isCancelled = escrow.cancelledAt !== 0n
  return {
    recipient,
    mint,
    isCancelled,
    canBeCancelled: canBeCancelled(escrow),
    endsAt: lastUnlock(escrow),
    left: locked,
    owed: isCancelled ? 0n : total - escrow.claimed,
  }
}

interface ShownPool {
  mints: string[]
  liquidity: bigint
  /** Liquidity that the pool itself counts as locked for good. */
  locked: bigint
  isMigrated: boolean
}

const COMPOUNDING = 2
/** Liquidity without an owner in a pool that compounds its fees. */
const DEAD_LIQUIDITY = 100n << 64n

/** A pool of DAMM v2 or a launch curve of DBC; null for any other account. */
export function poolOf(account: ShownAccount | null, type: 'dbc' | 'damm_v2'): ShownPool | null {
  if (type === 'dbc') {
    const curve = DBC.decode('virtual_pool', account) ?? DBC.decode('transfer_hook_pool', account)
    return curve && { mints: [curve.base_mint], liquidity: 1n, locked: 1n, isMigrated: curve.is_migrated === 1 }
  }
  const pool = DAMM_V2.decode('pool', account)
  if (pool === null) return null
  const locked = pool.permanent_lock_liquidity + (pool.collect_fee_mode === COMPOUNDING ? DEAD_LIQUIDITY : 0n)
  return { mints: [pool.token_a_mint, pool.token_b_mint], liquidity: pool.liquidity, locked, isMigrated: false }
}

/** Liquidity of a pool's position that is not locked for good; 0 for any other account. */
export function positionLiquidity(account: ShownAccount | null, pool: string, nftMint: string): bigint {
  const position = DAMM_V2.decode('position', account)
  if (position?.pool !== pool || position.nft_mint !== nftMint) return 0n
  return position.unlocked_liquidity + position.vested_liquidity
}
