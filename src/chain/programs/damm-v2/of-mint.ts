/** Finds the pools of a mint, whoever made them, and which part of their liquidity can be withdrawn. */
import { addressOf } from '../../../solana/addresses.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { readTokenAccount } from '../../../solana/token-accounts.ts'
import type { Chain } from '../../connection.ts'
import { scanAccounts } from '../../holders/scan.ts'
import type { ChainTime } from '../../reads/chain-clock.ts'
import { accountsAt } from '../../sending/runs.ts'
import { POSITION_DISCRIMINATOR_BYTES } from './program.ts'
import { type DammV2Pool, readDammV2Pools } from './state.ts'

type ScanChain = Pick<Chain, 'call' | 'callLarge'>

/** The slot that the node must have reached, and the chain's time there. */
interface ChainReading {
  slot: number
  at: ChainTime
}

/** A pool with the parts of its liquidity. */
export interface PoolOfMint {
  pool: DammV2Pool
  /** Liquidity that is locked for good, or belongs to nobody. */
  locked: bigint
  /** Liquidity that a schedule still locks. */
  vesting: bigint
}

export interface PoolsOfMint {
  /** The pools with most of the token, the one with most first. */
  pools: PoolOfMint[]
  /** All pools that hold some of the token. */
  found: number
}

/** Most pools and positions that are searched, because anyone can make more. */
const LIMITS = { accounts: 10_000, milliseconds: 20_000 }
/** Pools that are read, those with most of the token. */
const MOST_POOLS = 50

/** Places of the two mints and vaults in a pool's account. */
const [MINT_A_AT, MINT_B_AT, VAULTS_AT, POOL_BYTES] = [168, 200, 232, 1_112]
/** Places of the pool, of unlocked, vested and locked liquidity, and of the schedule in a position's account. */
const [POOL_AT, LIQUIDITY_AT, SCHEDULE_AT, POSITION_BYTES] = [8, 152, 312, 408]
const SCHEDULE_BYTES = 66
/** Places of the position and of the schedule in the account of a schedule that was added later. */
const [VESTED_POSITION_AT, ADDED_SCHEDULE_AT, ADDED_BYTES] = [8, 40, 184]
/** Positions whose added schedules are searched; what others have vested counts as withdrawable. */
const MOST_VESTED = 20
/** Liquidity without an owner in a pool that compounds its fees. */
const DEAD_LIQUIDITY = 100n << 64n

/**
 * Takes a search for each side of a pool, and one for the positions of each pool that is not locked as a whole. Throws
 * internal_error when the node fails, does not list the accounts of programs, or shows more than are read.
 */
export async function poolsOfMint(chain: ScanChain, mint: string, reading: ChainReading): Promise<PoolsOfMint> {
  const sides = await Promise.all([MINT_A_AT, MINT_B_AT].map((place) => vaultsOf(chain, mint, place, reading.slot)))
  const found = sides.flat()
  const vaults = await accountsAt(
    chain,
    found.map(({ vault }) => vault),
  )
  const holding = found
    .map(({ address }, i) => {
      const account = vaults[i] ?? null
      return { address, amount: account === null ? 0n : (readTokenAccount(account)?.amount ?? 0n) }
    })
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => (a.amount === b.amount ? (a.address < b.address ? -1 : 1) : a.amount > b.amount ? -1 : 1))
  const largest = holding.slice(0, MOST_POOLS).map(({ address }) => address)
  const pools: PoolOfMint[] = []
  for (const pool of await readDammV2Pools(chain, largest)) {
    if (pool !== null) pools.push({ pool, ...(await lockedParts(chain, pool, reading)) })
  }
  return { pools, found: holding.length }
}

async function vaultsOf(
  chain: ScanChain,
  mint: string,
  mintAt: number,
  minSlot: number,
): Promise<{ address: string; vault: string }[]> {
  const vaultAt = mintAt === MINT_A_AT ? VAULTS_AT : VAULTS_AT + 32
  const found: { address: string; vault: string }[] = []
  await scanAccounts(
    chain,
    {
      what: `Listing the pools of ${mint}`,
      program: PROGRAMS.dammV2.id,
      filters: [{ dataSize: POOL_BYTES }, { memcmp: { offset: mintAt, bytes: mint } }],
      dataSlice: { offset: vaultAt, length: 32 },
      minSlot,
      commitment: 'confirmed',
      limits: LIMITS,
    },
    ({ address, data }) => {
      if (data.length === 32) found.push({ address, vault: addressOf(data) })
    },
  )
  return found
}

async function lockedParts(
  chain: ScanChain,
  pool: DammV2Pool,
  { slot, at }: ChainReading,
): Promise<Pick<PoolOfMint, 'locked' | 'vesting'>> {
  const dead = pool.collectFeeMode === 'compounding' ? DEAD_LIQUIDITY : 0n
  const all = pool.permanentLockLiquidity + dead
  const locked = all < pool.liquidity ? all : pool.liquidity
  if (locked === pool.liquidity) return { locked, vesting: 0n }
  const point = pool.activationType === 'slot' ? BigInt(at.slot) : BigInt(at.unixSeconds)
  const vested = await vestedPositions(chain, pool.address, slot)
  let vesting = 0n
  for (const position of vested.slice(0, MOST_VESTED)) {
    const own = stillLocked(position.schedule, point)
    const left = position.vested - own
    const added = left > 0n ? await addedSchedules(chain, position.address, slot) : []
    const byAdded = added.reduce((sum, schedule) => sum + stillLocked(schedule, point), 0n)
    vesting += own + (byAdded < left ? byAdded : left)
  }
  return { locked, vesting: vesting < pool.liquidity - locked ? vesting : pool.liquidity - locked }
}

interface VestedPosition {
  address: string
  vested: bigint
  schedule: Buffer
}

/** The positions with vested liquidity, the largest first. */
async function vestedPositions(chain: ScanChain, pool: string, minSlot: number): Promise<VestedPosition[]> {
  const positions: VestedPosition[] = []
  const length = SCHEDULE_AT + SCHEDULE_BYTES - LIQUIDITY_AT
  await scanAccounts(
    chain,
    {
      what: `Listing the positions of the pool ${pool}`,
      program: PROGRAMS.dammV2.id,
      filters: [
        { dataSize: POSITION_BYTES },
        { memcmp: { offset: 0, bytes: POSITION_DISCRIMINATOR_BYTES.toString('base64'), encoding: 'base64' } },
        { memcmp: { offset: POOL_AT, bytes: pool } },
      ],
      dataSlice: { offset: LIQUIDITY_AT, length },
      minSlot,
      commitment: 'confirmed',
      limits: LIMITS,
    },
    ({ address, data }) => {
      if (data.length !== length) return
      const vested = u128(data, 16)
      if (vested > 0n) positions.push({ address, vested, schedule: data.subarray(SCHEDULE_AT - LIQUIDITY_AT) })
    },
  )
  return positions.sort((a, b) => (a.vested > b.vested ? -1 : 1))
}

async function addedSchedules(chain: ScanChain, position: string, minSlot: number): Promise<Buffer[]> {
  const schedules: Buffer[] = []
  await scanAccounts(
    chain,
    {
      what: `Listing the schedules of the position ${position}`,
      program: PROGRAMS.dammV2.id,
      filters: [{ dataSize: ADDED_BYTES }, { memcmp: { offset: VESTED_POSITION_AT, bytes: position } }],
      dataSlice: { offset: ADDED_SCHEDULE_AT, length: SCHEDULE_BYTES },
      minSlot,
      commitment: 'confirmed',
      limits: LIMITS,
    },
    ({ data }) => {
      if (data.length === SCHEDULE_BYTES) schedules.push(data)
    },
  )
  return schedules
}

/**
 * Returns the liquidity that a schedule still locks at a point of the pool's time: what has come due counts as
 * withdrawable, whether it was released or not.
 */
function stillLocked(schedule: Buffer, point: bigint): bigint {
  const [cliff, frequency] = [schedule.readBigUInt64LE(0), schedule.readBigUInt64LE(8)]
  const [atCliff, perPeriod, periods] = [u128(schedule, 16), u128(schedule, 32), BigInt(schedule.readUInt16LE(64))]
  const total = atCliff + perPeriod * periods
  if (point < cliff) return total
  const elapsed = frequency === 0n ? periods : (point - cliff) / frequency
  return total - atCliff - perPeriod * (elapsed < periods ? elapsed : periods)
}

const u128 = (data: Buffer, at: number): bigint => data.readBigUInt64LE(at) + (data.readBigUInt64LE(at + 8) << 64n)
