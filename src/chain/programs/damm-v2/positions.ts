/** Reads the positions that a wallet holds in a pool, and their claimable fees. */

import { notFound } from '../../../platform/errors.ts'
import { isAddress } from '../../../solana/addresses.ts'
import { ByteReader } from '../../../solana/byte-reader.ts'
import { TOKEN_2022_PROGRAM } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import { readTokenAccount, type TokenAccountState } from '../../../solana/token-accounts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { readTokenAccounts } from '../../reads/node-reads.ts'
import { positionAddresses } from './addresses.ts'
import { decodeDammV2Pool, decodePosition, loadSdk, toBigint } from './program.ts'
import { chunksOf, readTogether } from './state.ts'

export interface DammV2Position {
  position: string
  /** Mint of the NFT; whoever holds it owns the position. */
  nftMint: string
  positionNftAccount: string
  unlockedLiquidity: bigint
  permanentLockedLiquidity: bigint
  vestedLiquidity: bigint
  /** The schedule in the position itself, or null; others can be in accounts of their own. */
  schedule: PositionSchedule | null
  /** Raw units of token A that a claim would pay now; `feeB` has those of token B. */
  feeA: bigint
  feeB: bigint
  /** Address that may act for the owner as `permissions` say, or null. */
  delegate: string | null
  /** 1 if the delegate could move the NFT itself. The program then refuses it. */
  delegatedAmount: bigint
  /** Bits of what a delegate may do, also without a delegate. */
  permissions: number
}

/** Points are Unix seconds or slots, as the pool is activated by one or the other. */
export interface PositionSchedule {
  cliffPoint: bigint
  frequency: bigint
  cliffLiquidity: bigint
  liquidityPerPeriod: bigint
  periods: number
  released: bigint
}

/** Bytes of unlocked, vested and locked liquidity in a position's account, which follow each other. */
const LIQUIDITY_BYTES = 48
/** Most positions of one pool that count, because others can open any number of small ones. */
const LARGEST_POSITIONS = 50
/** Positions below this share of the liquidity earn almost nothing, and cost nothing to open. */
const LEAST_PART = 1_000n

/** The filters of getProgramAccounts for the positions of a pool. */
export const positionFilters = (pool: string): object[] => [
  {
    memcmp: {
      offset: 0,
      bytes: Buffer.from(DAMM_V2.firstBytesOf('position')).toString('base64'),
      encoding: 'base64',
    },
  },
  { memcmp: { offset: DAMM_V2.offsetOf('position', 'pool'), bytes: pool } },
]

/**
 * Returns the addresses of a pool's largest positions with at least a thousandth of its liquidity, whoever owns them,
 * in one search. Throws internal_error when the node fails.
 */
export function positionsIn(chain: NodeCalls, pool: string): Promise<string[]> {
  const filters = positionFilters(pool)
  const dataSlice = { offset: DAMM_V2.offsetOf('position', 'unlocked_liquidity'), length: LIQUIDITY_BYTES }
  return askNode('Looking for the positions of a pool', async () => {
    const options = { filters, encoding: 'base64', dataSlice, commitment: 'confirmed' }
    const found = await chain.call<unknown>('getProgramAccounts', [DAMM_V2.id, options])
    if (!Array.isArray(found)) throw new Error('its answer is incomplete')
    const positions = found.map(({ pubkey, account }: { pubkey?: unknown; account?: { data?: unknown[] } }) => {
      const data = Buffer.from(String(account?.data?.[0]), 'base64')
      if (typeof pubkey !== 'string' || !isAddress(pubkey) || data.length < LIQUIDITY_BYTES) {
        throw new Error('its answer is incomplete')
      }
      const reader = new ByteReader(data)
      return { pubkey, liquidity: reader.u128() + reader.u128() + reader.u128() }
    })
    const all = positions.reduce((sum, { liquidity }) => sum + liquidity, 0n)
    return positions
      .filter(({ liquidity }) => liquidity > 0n && liquidity * LEAST_PART >= all)
      .sort((a, b) =>
        a.liquidity === b.liquidity ? (a.pubkey < b.pubkey ? -1 : 1) : a.liquidity > b.liquidity ? -1 : 1,
      )
      .slice(0, LARGEST_POSITIONS)
      .map(({ pubkey }) => pubkey)
  })
}

/**
 * The NFTs in a wallet's token accounts, with the addresses of these. Each is one token of Token-2022. Throws
 * internal_error when the node fails.
 */
export async function readPositionNfts(
  node: NodeCalls,
  owner: string,
): Promise<{ address: string; token: TokenAccountState }[]> {
  const held = await askNode('Reading the positions of a wallet', () =>
    readTokenAccounts(node, owner, TOKEN_2022_PROGRAM),
  )
  return held.flatMap(({ address, account }) => {
    const token = readTokenAccount(account)
    return token?.amount === 1n ? [{ address, token }] : []
  })
}

/** Positions read in one call, in addition to the pool itself. */
const POSITIONS_PER_CALL = 99

/** Address of the pool that a position belongs to; null if there is no position at the address. */
export async function poolOfPosition(node: NodeCalls, position: string): Promise<string | null> {
  const { accounts } = await readTogether(node, 'Reading a position', [position])
  return DAMM_V2.decode('position', accounts[0] ?? null)?.pool ?? null
}

/**
 * Finds positions by the NFTs in the owner's token accounts, ordered by address. Throws not_found when the pool is
 * gone, internal_error when the node fails.
 */
export async function readPositions(node: NodeCalls, pool: string, owner: string): Promise<DammV2Position[]> {
  const { sdk } = await loadSdk()
  const held = await readPositionNfts(node, owner)
  const candidates = held.map(({ address, token }) => ({
    position: positionAddresses(token.mint).position,
    nftMint: token.mint,
    positionNftAccount: address,
    token,
  }))
  const positions: DammV2Position[] = []
  // The pool is read even without candidates, to distinguish a missing pool from one without positions.
  for (const part of candidates.length === 0 ? [[]] : chunksOf(candidates, POSITIONS_PER_CALL)) {
    const together = [pool, ...part.map(({ position }) => position)]
    const [poolAccount, ...accounts] = (await readTogether(node, 'Reading positions', together)).accounts
    const poolState = await decodeDammV2Pool(poolAccount)
    if (poolState === null) throw notFound(`There is no DAMM v2 pool at ${pool}`, { param: 'address' })
    for (const [i, { position, nftMint, positionNftAccount, token }] of part.entries()) {
      const state = await decodePosition(accounts[i])
      const fields = DAMM_V2.decode('position', accounts[i] ?? null)
      if (state === null || fields?.pool !== pool) continue
      const fees = sdk.getUnClaimLpFee(poolState, state)
      positions.push({
        position,
        nftMint,
        positionNftAccount,
        unlockedLiquidity: fields.unlocked_liquidity,
        permanentLockedLiquidity: fields.permanent_locked_liquidity,
        vestedLiquidity: fields.vested_liquidity,
        schedule: openSchedule(fields),
        feeA: toBigint(fees.feeTokenA),
        feeB: toBigint(fees.feeTokenB),
        delegate: token.delegate,
        delegatedAmount: token.delegatedAmount,
        permissions: fields.delegate_permission,
      })
    }
  }
  return positions.sort((a, b) => (a.position < b.position ? -1 : 1))
}

/** The fields of a schedule, which a position and an account of its own have alike. */
export type VestingFields = Pick<
  NonNullable<ReturnType<typeof DAMM_V2.decode<'vesting'>>>,
  | 'cliff_point'
  | 'period_frequency'
  | 'cliff_unlock_liquidity'
  | 'liquidity_per_period'
  | 'number_of_period'
  | 'total_released_liquidity'
>

export const vestingSchedule = (fields: VestingFields): PositionSchedule => ({
  cliffPoint: fields.cliff_point,
  frequency: fields.period_frequency,
  cliffLiquidity: fields.cliff_unlock_liquidity,
  liquidityPerPeriod: fields.liquidity_per_period,
  periods: fields.number_of_period,
  released: fields.total_released_liquidity,
})

/** All liquidity that a schedule ever releases. */
export const scheduledLiquidity = ({ cliffLiquidity, liquidityPerPeriod, periods }: PositionSchedule): bigint =>
  cliffLiquidity + liquidityPerPeriod * BigInt(periods)

function openSchedule(fields: VestingFields): PositionSchedule | null {
  const schedule = vestingSchedule(fields)
  return scheduledLiquidity(schedule) > schedule.released ? schedule : null
}
