/** Reads the positions that a wallet holds in a pool, and their claimable fees. */

import type { PositionState } from '@meteora-ag/cp-amm-sdk'
import { base58 } from '@scure/base'
import { notFound } from '../../../platform/errors.ts'
import { isAddress } from '../../../solana/addresses.ts'
import { TOKEN_2022_PROGRAM } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { readTokenAccount } from '../../../solana/token-accounts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { tokenAccountsOf } from '../../reads/node-reads.ts'
import { addressOfKey } from '../derived-addresses.ts'
import { positionKeys } from './addresses.ts'
import { decodeDammV2Pool, decodePosition, loadSdk, POSITION_DISCRIMINATOR_BYTES, toBigint } from './program.ts'
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

/** Offsets in a position's account: its pool, and its unlocked, vested and locked liquidity, of 16 bytes each. */
const POSITION_DISCRIMINATOR = base58.encode(POSITION_DISCRIMINATOR_BYTES)
const [POOL_OFFSET, LIQUIDITY_OFFSET] = [8, 152]
/** Most positions of one pool that count, because others can open any number of small ones. */
const LARGEST_POSITIONS = 50
/** Positions below this share of the liquidity earn almost nothing, and cost nothing to open. */
const LEAST_PART = 1_000n

/**
 * Returns the addresses of a pool's largest positions with at least a thousandth of its liquidity, whoever owns them,
 * in one search. Throws internal_error when the node fails.
 */
export function positionsIn(chain: NodeCalls, pool: string): Promise<string[]> {
  const filters = [
    { memcmp: { offset: 0, bytes: POSITION_DISCRIMINATOR } },
    { memcmp: { offset: POOL_OFFSET, bytes: pool } },
  ]
  const dataSlice = { offset: LIQUIDITY_OFFSET, length: 48 }
  return askNode('Looking for the positions of a pool', async () => {
    const options = { filters, encoding: 'base64', dataSlice, commitment: 'confirmed' }
    const found = await chain.call<unknown>('getProgramAccounts', [PROGRAMS.dammV2.id, options])
    if (!Array.isArray(found)) throw new Error('its answer is incomplete')
    const positions = found.map(({ pubkey, account }: { pubkey?: unknown; account?: { data?: unknown[] } }) => {
      const data = Buffer.from(String(account?.data?.[0]), 'base64')
      if (typeof pubkey !== 'string' || !isAddress(pubkey) || data.length < 48) {
        throw new Error('its answer is incomplete')
      }
      const u128 = (at: number) => data.readBigUInt64LE(at) + (data.readBigUInt64LE(at + 8) << 64n)
      return { pubkey, liquidity: u128(0) + u128(16) + u128(32) }
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

/** Positions read in one call, in addition to the pool itself. */
const POSITIONS_PER_CALL = 99

/** Address of the pool that a position belongs to; null if there is no position at the address. */
export async function poolOfPosition(node: NodeCalls, position: string): Promise<string | null> {
  const { accounts } = await readTogether(node, 'Reading a position', [position])
  const state = await decodePosition(accounts[0])
  return state === null ? null : addressOfKey(state.pool)
}

/**
 * Finds positions by the NFTs in the owner's token accounts, ordered by address. Throws not_found when the pool is
 * gone, internal_error when the node fails.
 */
export async function positionsOf(node: NodeCalls, pool: string, owner: string): Promise<DammV2Position[]> {
  const [{ PublicKey }, { sdk }] = await Promise.all([import('@solana/web3.js'), loadSdk()])
  const held = await askNode('Reading the positions of a wallet', () =>
    tokenAccountsOf(node, owner, TOKEN_2022_PROGRAM),
  )
  const candidates = await Promise.all(
    held
      // The token account of an NFT has the amount one. Its mint comes first, and the amount follows mint and owner.
      .filter(({ account }) => account.data.length >= 72 && account.data.readBigUInt64LE(64) === 1n)
      .map(async ({ address, account }) => ({
        position: addressOfKey((await positionKeys(new PublicKey(account.data.subarray(0, 32)))).position),
        nftMint: base58.encode(account.data.subarray(0, 32)),
        positionNftAccount: address,
        token: readTokenAccount(account),
      })),
  )
  const positions: DammV2Position[] = []
  // The pool is read even without candidates, to distinguish a missing pool from one without positions.
  for (const part of candidates.length === 0 ? [[]] : chunksOf(candidates, POSITIONS_PER_CALL)) {
    const together = [pool, ...part.map(({ position }) => position)]
    const [poolAccount, ...accounts] = (await readTogether(node, 'Reading positions', together)).accounts
    const poolState = await decodeDammV2Pool(poolAccount)
    if (poolState === null) throw notFound(`There is no DAMM v2 pool at ${pool}`, { param: 'address' })
    for (const [i, { position, nftMint, positionNftAccount, token }] of part.entries()) {
      const state = await decodePosition(accounts[i])
      if (state === null || addressOfKey(state.pool) !== pool) continue
      const fees = sdk.getUnClaimLpFee(poolState, state)
      positions.push({
        position,
        nftMint,
        positionNftAccount,
        unlockedLiquidity: toBigint(state.unlockedLiquidity),
        permanentLockedLiquidity: toBigint(state.permanentLockedLiquidity),
        vestedLiquidity: toBigint(state.vestedLiquidity),
        schedule: scheduleOf(state),
        feeA: toBigint(fees.feeTokenA),
        feeB: toBigint(fees.feeTokenB),
        delegate: token?.delegate ?? null,
        delegatedAmount: token?.delegatedAmount ?? 0n,
        permissions: state.delegatePermission,
      })
    }
  }
  return positions.sort((a, b) => (a.position < b.position ? -1 : 1))
}

function scheduleOf({ innerVesting }: PositionState): PositionSchedule | null {
  const schedule = {
    cliffPoint: toBigint(innerVesting.cliffPoint),
    frequency: toBigint(innerVesting.periodFrequency),
    cliffLiquidity: toBigint(innerVesting.cliffUnlockLiquidity),
    liquidityPerPeriod: toBigint(innerVesting.liquidityPerPeriod),
    periods: innerVesting.numberOfPeriod,
    released: toBigint(innerVesting.totalReleasedLiquidity),
  }
  const total = schedule.cliffLiquidity + schedule.liquidityPerPeriod * BigInt(schedule.periods)
  return total > schedule.released ? schedule : null
}
