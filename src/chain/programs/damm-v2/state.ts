/** Reads pools of DAMM v2, with the balances of their vaults. */

import type { PoolState } from '@meteora-ag/cp-amm-sdk'
import { internal } from '../../../platform/errors.ts'
import { ratioText } from '../../../solana/amounts.ts'
import { ACCOUNTS_PER_CALL } from '../../../solana/constants.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { squareRoot } from '../../../solana/square-root.ts'
import { TOKEN_AMOUNT_OFFSET } from '../../../solana/token-accounts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { type AccountsAtSlot, accountsAtSlot, type NodeAccount } from '../../reads/node-reads.ts'
import { addressOfKey } from '../derived-addresses.ts'
import { dammV2JsonSafe, decodeDammV2Pool, toBigint } from './program.ts'

export interface DammV2Pool {
  address: string
  tokenAMint: string
  tokenBMint: string
  tokenAVault: string
  tokenBVault: string
  /** Addresses of the token programs of the two sides. */
  tokenAProgram: string
  tokenBProgram: string
  tokenADecimals: number
  tokenBDecimals: number
  sqrtPrice: bigint
  sqrtMinPrice: bigint
  sqrtMaxPrice: bigint
  liquidity: bigint
  /** Part of the liquidity that positions have locked for good. */
  permanentLockLiquidity: bigint
  creator: string
  isEnabled: boolean
  /**
   * Where fees are taken: `both` from the received side, `b` only from token B, and `compounding` leaves part of them
   * in the pool.
   */
  collectFeeMode: 'both' | 'b' | 'compounding'
  /** Kind of base fee. 2 is the rate limiter of older pools. */
  baseFeeMode: number
  activationType: 'slot' | 'timestamp'
  activationPoint: bigint
  /** Raw units in the vaults, including unclaimed fees. */
  tokenAAmount: bigint
  tokenBAmount: bigint
  /** Whole B for one whole A as decimal text, which is SOL per token in the pools that svc builds. */
  price: string
  /** The decoded account in a form for JSON. */
  raw: Record<string, unknown>
}

/** Accounts of one pool: the pool, its vaults and its mints. */
const ACCOUNTS_PER_POOL = 5
const FEE_MODES = ['both', 'b', 'compounding'] as const
const DECIMALS_OFFSET = 44

/** Returns null when the address has no pool of the program. Throws internal_error when the node fails. */
export async function readDammV2Pool(node: NodeCalls, address: string): Promise<DammV2Pool | null> {
  const [pool] = await readDammV2Pools(node, [address])
  return pool ?? null
}

/**
 * Returns pools in the order of the addresses, each with its vaults at one slot. It takes one call per hundred
 * addresses, then one per twenty pools among them. Throws internal_error when the node fails.
 */
export async function readDammV2Pools(node: NodeCalls, addresses: readonly string[]): Promise<(DammV2Pool | null)[]> {
  const accounts: AccountsAtSlot['accounts'] = []
  let slot = 0
  for (const part of chunksOf(addresses, ACCOUNTS_PER_CALL)) {
    const read = await readTogether(node, 'Reading pools', part)
    slot = Math.max(slot, read.slot)
    accounts.push(...read.accounts)
  }
  return dammV2PoolsIn(node, addresses, { slot, accounts })
}

/**
 * Returns the same from the accounts of the addresses, which were read before. `slot` is that of the latest reading.
 */
export async function dammV2PoolsIn(
  node: NodeCalls,
  addresses: readonly string[],
  { slot, accounts: read }: AccountsAtSlot,
): Promise<(DammV2Pool | null)[]> {
  const poolStates = new Map<string, PoolState>()
  for (const [i, address] of addresses.entries()) {
    const state = await decodeDammV2Pool(read[i])
    if (state !== null) poolStates.set(address, state)
  }
  const pools = new Map<string, DammV2Pool>()
  for (const part of chunksOf([...poolStates], ACCOUNTS_PER_CALL / ACCOUNTS_PER_POOL)) {
    const together = part.flatMap(([address, { tokenAVault, tokenBVault, tokenAMint, tokenBMint }]) => [
      address,
      ...[tokenAVault, tokenBVault, tokenAMint, tokenBMint].map(addressOfKey),
    ])
    const { accounts } = await readTogether(node, 'Reading pools', together, slot)
    for (const [i, [address]] of part.entries()) {
      const own = accounts.slice(i * ACCOUNTS_PER_POOL, (i + 1) * ACCOUNTS_PER_POOL)
      pools.set(address, await describePool(address, own))
    }
  }
  return addresses.map((address) => pools.get(address) ?? null)
}

async function describePool(address: string, accounts: readonly (NodeAccount | null)[]): Promise<DammV2Pool> {
  const [account, vaultA, vaultB, mintA, mintB] = accounts
  const state = await decodeDammV2Pool(account)
  // Pools and vaults cannot be closed, so an answer without them is a fault of the node.
  if (state === null || !vaultA || !vaultB || !mintA || !mintB) {
    throw internal(`Reading the pool ${address} failed at the RPC node: accounts are missing in its answer`)
  }
  const [tokenADecimals, tokenBDecimals] = [
    mintA.data.readUInt8(DECIMALS_OFFSET),
    mintB.data.readUInt8(DECIMALS_OFFSET),
  ]
  return {
    address,
    tokenAMint: addressOfKey(state.tokenAMint),
    tokenBMint: addressOfKey(state.tokenBMint),
    tokenAVault: addressOfKey(state.tokenAVault),
    tokenBVault: addressOfKey(state.tokenBVault),
    tokenAProgram: tokenProgramOfFlag(state.tokenAFlag),
    tokenBProgram: tokenProgramOfFlag(state.tokenBFlag),
    tokenADecimals,
    tokenBDecimals,
    sqrtPrice: toBigint(state.sqrtPrice),
    sqrtMinPrice: toBigint(state.sqrtMinPrice),
    sqrtMaxPrice: toBigint(state.sqrtMaxPrice),
    liquidity: toBigint(state.liquidity),
    permanentLockLiquidity: toBigint(state.permanentLockLiquidity),
    creator: addressOfKey(state.creator),
    isEnabled: state.poolStatus === 0,
    collectFeeMode: FEE_MODES[state.collectFeeMode] ?? 'both',
    baseFeeMode: baseFeeMode(state),
    activationType: state.activationType === 0 ? 'slot' : 'timestamp',
    activationPoint: toBigint(state.activationPoint),
    tokenAAmount: vaultA.data.readBigUInt64LE(TOKEN_AMOUNT_OFFSET),
    tokenBAmount: vaultB.data.readBigUInt64LE(TOKEN_AMOUNT_OFFSET),
    price: dammV2PriceText(toBigint(state.sqrtPrice), tokenADecimals, tokenBDecimals),
    // Most readers of a pool build with it and never show it.
    get raw() {
      return dammV2JsonSafe(state) as Record<string, unknown>
    },
  }
}

const tokenProgramOfFlag = (flag: number): string => (flag === 0 ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM)

/** The eighth byte of every base fee identifies its kind. */
const baseFeeMode = (state: PoolState): number => state.poolFees.baseFee.baseFeeInfo.data[8] ?? 0

/**
 * Reads at most a hundred accounts at one slot, which is at least `minSlot`. Throws internal_error when the node fails.
 */
export async function readTogether(
  node: NodeCalls,
  what: string,
  addresses: readonly string[],
  minSlot?: number,
): Promise<AccountsAtSlot> {
  return askNode(what, () => accountsAtSlot(node, addresses, minSlot))
}

export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}

// Converts prices of cp_amm: the square root of raw B for one raw A, times 2^64.

const ONE = 1n << 128n
/** Significant digits of a price as text. Square roots of low prices have no more precision. */
const PRICE_DIGITS = 12

/** Returns the price, rounded down, at which `of` raw units of B buy `supply` raw units of A. */
export const dammV2SqrtPrice = (of: bigint, supply: bigint): bigint => squareRoot((of * ONE) / supply)

/** Returns whole B for one whole A, as decimal text of at most twelve significant digits. */
export const dammV2PriceText = (sqrtPrice: bigint, decimalsA: number, decimalsB: number): string =>
  ratioText(sqrtPrice * sqrtPrice * 10n ** BigInt(decimalsA), ONE * 10n ** BigInt(decimalsB), PRICE_DIGITS)
