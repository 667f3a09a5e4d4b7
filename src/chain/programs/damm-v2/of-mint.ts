/** Finds the pools of a mint, whoever made them, and which part of their liquidity can be withdrawn. */
import { addressOf } from '../../../solana/addresses.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { readTokenAccount } from '../../../solana/token-accounts.ts'
import type { Chain } from '../../connection.ts'
import { scanAccounts } from '../../holders/scan.ts'
import type { ChainTime } from '../../reads/chain-clock.ts'
import { accountsAt } from '../../sending/runs.ts'
import { type BurntPosition, burntAmong } from './burnt-positions.ts'
import { POSITION_DISCRIMINATOR_BYTES } from './program.ts'
import { type DammV2Pool, readDammV2Pools } from './state.ts'

type ScanChain = Pick<Chain, 'call' | 'callLarge'>

/** The slot that the node must have reached, and the chain's time there. */
interface ChainReading {
  slot: number
  at: ChainTime
}

/** The parts of a pool's liquidity that its owners cannot withdraw now. */
export interface LockedLiquidity {
  /** Liquidity that is locked for good, belongs to nobody, or to a burnt position. */
  locked: bigint
  /** Liquidity that a schedule still locks. */
  vesting: bigint
  /** Positions whose NFT is in a burn address, so nobody can act on them. */
  burnt: BurntPosition[]
  /** The largest positions whose liquidity is free, with all that can be withdrawn of each. */
  free: { nftMint: string; liquidity: bigint }[]
}

export interface PoolsOfMint {
  /** The pools with most of the token, the one with most first. */
  pools: DammV2Pool[]
  /** All pools that hold some of the token. */
  found: number
}

/** Most pools and positions that are searched, because anyone can make more. */
const LIMITS = { accounts: 10_000, milliseconds: 20_000 }
/** Pools that are read, those with most of the token. */
const MOST_POOLS = 50

/** Places of the two mints and vaults in a pool's account. */
const [MINT_A_AT, MINT_B_AT, VAULTS_AT, POOL_BYTES] = [168, 200, 232, 1_112]
/** Places of the pool, the NFT, unlocked, vested and locked liquidity, and the schedule in a position's account. */
const [POOL_AT, NFT_AT, LIQUIDITY_AT, SCHEDULE_AT, POSITION_BYTES] = [8, 40, 152, 312, 408]
const SCHEDULE_BYTES = 66
/** Places of the position and of the schedule in the account of a schedule that was added later. */
const [VESTED_POSITION_AT, ADDED_SCHEDULE_AT, ADDED_BYTES] = [8, 40, 184]
/**
 * Positions whose added schedules are searched, and whose NFTs are looked for in burn addresses: the largest ones, each
 * with at least a thousandth of the pool. What others have counts as withdrawable.
 */
const MOST_POSITIONS = 20
const LEAST_PARTS = 1_000n
/** Free positions that are named. */
const MOST_FREE = 3
/** Liquidity without an owner in a pool that compounds its fees. */
const DEAD_LIQUIDITY = 100n << 64n

/**
 * Takes a search for each side of a pool, and a reading for every hundred pools. Throws internal_error when the node
 * fails, does not list the accounts of programs, or shows more than are read.
 */
export async function poolsOfMint(chain: ScanChain, mint: string, minSlot: number): Promise<PoolsOfMint> {
  const sides = await Promise.all([MINT_A_AT, MINT_B_AT].map((place) => vaultsOf(chain, mint, place, minSlot)))
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
  const pools = (await readDammV2Pools(chain, largest)).filter((pool) => pool !== null)
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

/** Liquidity that the pool itself counts as locked for good. It takes no call. */
export function lockedForGood({ collectFeeMode, permanentLockLiquidity, liquidity }: DammV2Pool): bigint {
  const all = permanentLockLiquidity + (collectFeeMode === 'compounding' ? DEAD_LIQUIDITY : 0n)
  return all < liquidity ? all : liquidity
}

/**
 * Takes a search for the positions, one call for their NFTs, and a search for each large position with vested
 * liquidity; none for a pool that is locked as a whole. Throws like `poolsOfMint`.
 */
export async function lockedLiquidity(
  chain: ScanChain,
  pool: DammV2Pool,
  { slot, at }: ChainReading,
): Promise<LockedLiquidity> {
  const forGood = lockedForGood(pool)
  if (forGood === pool.liquidity) return { locked: forGood, vesting: 0n, burnt: [], free: [] }
  const point = pool.activationType === 'slot' ? BigInt(at.slot) : BigInt(at.unixSeconds)
  const positions = (await positionsIn(chain, pool.address, slot))
    .filter((each) => (each.unlocked + each.vested) * LEAST_PARTS >= pool.liquidity)
    .slice(0, MOST_POSITIONS)
  const burnt = await burntAmong(chain, positions)
  let [locked, vesting] = [forGood, 0n]
  const free: LockedLiquidity['free'] = []
  for (const position of positions) {
    const { address, nftMint, unlocked, vested, schedule } = position
    if (burnt.some((each) => each.position === address)) {
      locked += unlocked + vested
      continue
    }
    const own = vested === 0n ? 0n : stillLocked(schedule, point)
    const left = vested - own
    const added = left > 0n ? await addedSchedules(chain, address, slot) : []
    const byAdded = added.reduce((sum, each) => sum + stillLocked(each, point), 0n)
    const later = own + (byAdded < left ? byAdded : left)
    vesting += later
    if (unlocked + vested > later) free.push({ nftMint, liquidity: unlocked + vested - later })
  }
  locked = locked < pool.liquidity ? locked : pool.liquidity
  const rest = pool.liquidity - locked
  return { locked, vesting: vesting < rest ? vesting : rest, burnt, free: free.slice(0, MOST_FREE) }
}

interface PoolPosition {
  address: string
  nftMint: string
  unlocked: bigint
  vested: bigint
  schedule: Buffer
}

/** The positions with liquidity that is not locked for good, the largest first. */
async function positionsIn(chain: ScanChain, pool: string, minSlot: number): Promise<PoolPosition[]> {
  const positions: PoolPosition[] = []
  const length = SCHEDULE_AT + SCHEDULE_BYTES - NFT_AT
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
      dataSlice: { offset: NFT_AT, length },
      minSlot,
      commitment: 'confirmed',
      limits: LIMITS,
    },
    ({ address, data }) => {
      if (data.length !== length) return
      const [unlocked, vested] = [u128(data, LIQUIDITY_AT - NFT_AT), u128(data, LIQUIDITY_AT - NFT_AT + 16)]
      if (unlocked + vested === 0n) return
      const [nftMint, schedule] = [addressOf(data.subarray(0, 32)), data.subarray(SCHEDULE_AT - NFT_AT)]
      positions.push({ address, nftMint, unlocked, vested, schedule })
    },
  )
  return positions.sort((a, b) => (a.unlocked + a.vested > b.unlocked + b.vested ? -1 : 1))
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
