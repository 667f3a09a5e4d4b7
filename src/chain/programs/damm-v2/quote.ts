/** Quotes a swap at this moment by the program's own arithmetic. */

import type { PoolState } from '@meteora-ag/cp-amm-sdk'
import type BN from 'bn.js'
import { badRequest, internal, notFound } from '../../../platform/errors.ts'
import { CLOCK_SYSVAR, TOKEN_2022_PROGRAM } from '../../../solana/program-ids.ts'
import { MAX_U64 } from '../../../solana/u64.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { nodeReason } from '../../nodes/rpc-faults.ts'
import { chainTimeOf } from '../../reads/chain-clock.ts'
import type { NodeAccount } from '../../reads/node-reads.ts'
import { decodeDammV2Pool, loadSdk, type Sdk, toBigint } from './program.ts'
import { type DammV2Pool, readTogether } from './state.ts'

export type SwapSide = 'buy' | 'sell'

export interface SwapOrder {
  /** Direction of the swap: a buy pays token B (SOL) for token A, and a sell the reverse. */
  side: SwapSide
  /** Raw units that are paid. */
  amount: bigint
}

export interface DammV2SwapQuote {
  amountIn: bigint
  /** Raw units that are received after fees. */
  estimatedOut: bigint
  /** Raw units of the side that pays the fee, which is token B in pools that take fees only in it. */
  fee: bigint
}

/**
 * Quotes with the pool's current state, not with `pool` as it was read. Throws bad_request for an amount that the pool
 * cannot take, not_found when the pool is gone, internal_error when the node fails.
 */
export async function quoteDammV2Swap(
  node: NodeCalls,
  pool: Pick<DammV2Pool, 'address' | 'tokenAMint' | 'tokenBMint'>,
  { side, amount }: SwapOrder,
): Promise<DammV2SwapQuote> {
  checkDammV2Amount(amount)
  const { sdk, toBn } = await loadSdk()
  const { address, tokenAMint, tokenBMint } = pool
  const together = [address, CLOCK_SYSVAR, tokenAMint, tokenBMint]
  const { slot, accounts } = await readTogether(node, 'Reading a pool', together)
  const [account, clock, mintA, mintB] = accounts
  const state = await decodeDammV2Pool(account)
  if (state === null) throw notFound(`There is no DAMM v2 pool at ${address}`, { param: 'address' })
  if (!clock || !mintA || !mintB) {
    throw internal(`Reading the pool ${address} failed at the RPC node: accounts are missing in its answer`)
  }
  const time = await chainTimeOf(clock)
  const point = toBn(BigInt(state.activationType === 0 ? slot : await timeAt(node, slot, time.unixSeconds)))
  if (!sdk.isSwapEnabled(state, point)) throw badRequest(`The pool ${address} is not open for swaps`)
  const epoch = Number(time.epoch)
  const [a, b] = [[tokenAMint, mintA] as const, [tokenBMint, mintB] as const]
  const [paid, received] = side === 'buy' ? [b, a] : [a, b]
  const order = { side, point, amount: await afterTransferFee(toBn(amount), ...paid, epoch) }
  const result = calculate(sdk, state, order, amount)
  const estimatedOut = toBigint(await afterTransferFee(result.outputAmount, ...received, epoch))
  if (estimatedOut === 0n) {
    throw badRequest(`The amount ${amount} is too small: nothing is received for it`, { param: 'amount' })
  }
  const fees = [result.claimingFee, result.compoundingFee, result.protocolFee]
  return { amountIn: amount, estimatedOut, fee: fees.reduce((sum, part) => sum + toBigint(part), 0n) }
}

/** Throws bad_request for an amount that no instruction can hold. */
export function checkDammV2Amount(amount: bigint): void {
  if (amount > 0n && amount <= MAX_U64) return
  throw badRequest(`amount must be from 1 to ${MAX_U64} raw units`, { param: 'amount' })
}

function calculate(sdk: Sdk, state: PoolState, order: { side: SwapSide; point: BN; amount: BN }, requested: bigint) {
  const direction = order.side === 'buy' ? sdk.TradeDirection.BtoA : sdk.TradeDirection.AtoB
  const feeMode = sdk.getFeeMode(state.collectFeeMode, direction, false)
  try {
    return sdk.getSwapResultFromExactInput(state, order.amount, feeMode, direction, order.point)
  } catch (error) {
    const isDry = error instanceof sdk.PriceRangeViolationError || error instanceof sdk.InsufficientLiquidityError
    const reason = isDry ? 'it holds too little for that, take a smaller amount' : nodeReason(error)
    throw badRequest(`The pool cannot take a ${order.side} of ${requested} raw units: ${reason}`, {
      param: 'amount',
      cause: error,
    })
  }
}

/**
 * Returns Unix seconds. The sysvar has the time of the last block, and a chain without new blocks has moved on since.
 */
async function timeAt(node: NodeCalls, slot: number, sysvar: number): Promise<number> {
  // Nodes refuse this for slots whose block they do not have. The sysvar is then the only source.
  const block = await node.call<number | null>('getBlockTime', [slot]).catch(() => null)
  return Math.max(block ?? 0, sysvar)
}

/** Returns the raw units that arrive if the mint takes a fee from every transfer. */
export async function afterTransferFee(amount: BN, address: string, mint: NodeAccount, epoch: number): Promise<BN> {
  if (mint.owner !== TOKEN_2022_PROGRAM) return amount
  const { sdk } = await loadSdk()
  return sdk.calculateTransferFeeExcludedAmount(amount, await unpackedMint(address, mint), epoch).amount
}

/** Returns the raw units that must leave so that this many arrive. */
export async function beforeTransferFee(amount: BN, address: string, mint: NodeAccount, epoch: number): Promise<BN> {
  if (mint.owner !== TOKEN_2022_PROGRAM) return amount
  const { sdk } = await loadSdk()
  return sdk.calculateTransferFeeIncludedAmount(amount, await unpackedMint(address, mint), epoch).amount
}

async function unpackedMint(address: string, mint: NodeAccount) {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const owner = new PublicKey(mint.owner)
  // The lamports do not affect the decoding, so they are left at 0.
  return spl.unpackMint(new PublicKey(address), { ...mint, owner, lamports: 0 }, owner)
}
