/** Finds the pools of a mint, whoever made them, and which part of their liquidity can be withdrawn. */
import { addressOf } from '../../../solana/addresses.ts'
import { BURN_ADDRESSES, isBurntNft } from '../../../solana/burnt-nfts.ts'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { TOKEN_2022_PROGRAM } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import { readTokenAccount } from '../../../solana/token-accounts.ts'
import type { Chain } from '../../connection.ts'
import { scanAccounts, scanDecoded } from '../../holders/scan.ts'
import type { ChainTime } from '../../reads/chain-clock.ts'
import { accountsAt } from '../../sending/runs.ts'
import { positionAddresses } from './addresses.ts'
import { dueLiquidity } from './liquidity.ts'
import { positionFilters, scheduledLiquidity, type VestingFields, vestingSchedule } from './positions.ts'
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
  const sides = await Promise.all((['a', 'b'] as const).map((side) => readVaults(chain, mint, side, minSlot)))
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

async function readVaults(
  chain: ScanChain,
  mint: string,
  side: 'a' | 'b',
  minSlot: number,
): Promise<{ address: string; vault: string }[]> {
  const found: { address: string; vault: string }[] = []
  await scanAccounts(
    chain,
    {
      what: `Listing the pools of ${mint}`,
      program: DAMM_V2.id,
      filters: DAMM_V2.filtersOf('pool', { [`token_${side}_mint`]: mint }),
      dataSlice: { offset: DAMM_V2.offsetOf('pool', `token_${side}_vault`), length: 32 },
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
    const own = vested === 0n ? 0n : lockedBy(schedule, point)
    const left = vested - own
    const added = left > 0n ? await addedSchedules(chain, address, slot) : []
    const byAdded = added.reduce((sum, each) => sum + lockedBy(each, point), 0n)
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
  schedule: VestingFields
}

/** The positions with liquidity that is not locked for good, the largest first. */
async function positionsIn(chain: ScanChain, pool: string, minSlot: number): Promise<PoolPosition[]> {
  const bytes = DAMM_V2.sizeOf('position')
  const asked = {
    what: `Listing the positions of the pool ${pool}`,
    program: DAMM_V2.id,
    filters: [{ dataSize: bytes }, ...positionFilters(pool)],
    bytes,
    minSlot,
    limits: LIMITS,
  }
  const positions = await scanDecoded(chain, asked, (account, address): PoolPosition | null => {
    const schedule = DAMM_V2.decode('position', account)
    if (schedule === null) return null
    const { nft_mint: nftMint, unlocked_liquidity: unlocked, vested_liquidity: vested } = schedule
    return unlocked + vested > 0n ? { address, nftMint, unlocked, vested, schedule } : null
  })
  return positions.sort((a, b) => (a.unlocked + a.vested > b.unlocked + b.vested ? -1 : 1))
}

/** The schedules of a position in accounts of their own. */
function addedSchedules(chain: ScanChain, position: string, minSlot: number): Promise<VestingFields[]> {
  const asked = {
    what: `Listing the schedules of the position ${position}`,
    program: DAMM_V2.id,
    filters: DAMM_V2.filtersOf('vesting', { position }),
    bytes: DAMM_V2.sizeOf('vesting'),
    minSlot,
    limits: LIMITS,
  }
  return scanDecoded(chain, asked, (account) => DAMM_V2.decode('vesting', account))
}

/** What a schedule still locks at a point of the pool's time. What is due counts as unlocked, even if not released yet. */
function lockedBy(fields: VestingFields, point: bigint): bigint {
  const schedule = vestingSchedule(fields)
  return scheduledLiquidity(schedule) - dueLiquidity(schedule, point)
}

export interface BurntPosition {
  position: string
  nftMint: string
  /** The token account with the NFT, whose owner is a burn address. */
  nftAccount: string
}

/** An NFT's mint, the account it was minted into, and the associated one of each burn address. */
const ACCOUNTS_EACH = 2 + BURN_ADDRESSES.length

/**
 * Finds positions whose NFT is in a burn address: nobody can sign for it, so nobody can ever withdraw their liquidity.
 * Takes one call for 25 positions. Throws internal_error when the node fails.
 */
async function burntAmong(
  chain: ScanChain,
  positions: readonly { address: string; nftMint: string }[],
): Promise<BurntPosition[]> {
  if (positions.length === 0) return []
  const places = positions.map(({ nftMint }) => [
    nftMint,
    positionAddresses(nftMint).positionNftAccount,
    ...BURN_ADDRESSES.map((owner) => associatedTokenAddress(owner, nftMint, TOKEN_2022_PROGRAM)),
  ])
  const accounts = await accountsAt(chain, places.flat())
  return positions.flatMap(({ address, nftMint }, i) => {
    const [mint = null, ...holders] = accounts.slice(i * ACCOUNTS_EACH, (i + 1) * ACCOUNTS_EACH)
    const at = holders.findIndex((account) => isBurntNft(mint, nftMint, account))
    const nftAccount = places[i]?.[at + 1]
    return at < 0 || nftAccount === undefined ? [] : [{ position: address, nftMint, nftAccount }]
  })
}
