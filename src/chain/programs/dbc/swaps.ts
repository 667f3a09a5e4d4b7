/**
 * Quotes buys and sells on a launch curve by the program's arithmetic, and builds them with SOL wrapped and unwrapped.
 */

import type { PoolConfig, VirtualPool } from '@meteora-ag/dynamic-bonding-curve-sdk'
import type { TransactionInstruction } from '@solana/web3.js'
import { ApiError, badRequest, internal } from '../../../platform/errors.ts'
import { MAX_U64 } from '../../../solana/u64.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { nodeReason } from '../../nodes/rpc-faults.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { decimalsProof } from '../tokens/transfers.ts'
import { baseAccount, bigintOf, openDbc, quoteAccount } from './program.ts'
import { readForQuote } from './state.ts'
import type { DbcPool, DbcPoolAccounts } from './types.ts'

/** Compute limit for a swap that cannot be simulated: half more than the largest run used. */
export const SWAP_UNITS = 230_000
/** Values of the program's `SwapMode`. */
const EXACT_IN = 0
const PARTIAL_FILL = 1

type TradeSide = 'buy' | 'sell'
type Traded = DbcPoolAccounts & Pick<DbcPool, 'swapShowsInstructions'>

export interface DbcSwapQuote {
  /** Raw units of the token for a buy, of the quote (lamports of SOL) for a sell, after fees. */
  estimatedOut: bigint
  /**
   * Fee in raw units of the quote. If the pool takes its fees in both tokens, a buy pays it in raw units of the token.
   */
  fee: bigint
  /** Amount that is actually paid, which is less than requested when a buy reaches the end of the curve. */
  amountIn: bigint
}

export interface DbcSwap extends Envelope {
  pool: Traded
  side: TradeSide
  /** Most that is paid in raw units: of the quote (lamports of SOL) for a buy, of the token for a sell. */
  amount: bigint
  /** Least output, below which the transaction fails. */
  minimumOut: bigint
  /**
   * Whether a buy beyond the end of the curve takes the remainder and leaves the rest. If false it fails (6033).
   * Sells are never partial.
   */
  partialFill?: boolean
}

/**
 * Quotes with the pool, its config and the clock at one slot. A buy is quoted up to the end of the curve. Throws
 * bad_request naming `amount` for what the pool cannot do, not_found without the pool, internal_error when the node
 * fails.
 */
export async function quoteDbcSwap(
  node: NodeCalls,
  pool: Pick<DbcPool, 'address' | 'config'>,
  { side, amount }: { side: TradeSide; amount: bigint },
): Promise<DbcSwapQuote> {
  checkDbcAmount(amount)
  const { sdk, bn } = await openDbc()
  const { pool: state, config, transferHook, slot, unixSeconds } = await readForQuote(node, pool)
  requireTradable(pool, { state, config, transferHook })
  const point = bn(config.activationType === sdk.ActivationType.Slot ? slot : unixSeconds)
  if (point.lt(state.poolState.activationPoint))
    throw badRequest(`Pool ${pool.address} is not open yet`, { param: 'address' })
  const compute = side === 'buy' ? sdk.swapQuotePartialFill : sdk.swapQuoteExactIn
  try {
    const quote = compute(state, config, side === 'sell', bn(amount), 0, false, point, false)
    const estimatedOut = bigintOf(quote.outputAmount)
    if (estimatedOut === 0n) throw badRequest('amount is too little: nothing would come out', { param: 'amount' })
    const fee = bigintOf(quote.tradingFee) + bigintOf(quote.protocolFee) + bigintOf(quote.referralFee)
    return { estimatedOut, fee, amountIn: bigintOf(quote.includedFeeInputAmount) }
  } catch (error) {
    if (error instanceof ApiError) throw error
    const reason = nodeReason(error)
    if (/liquidity|exceed|overflow|subtraction/i.test(reason)) {
      throw badRequest(`amount is more than pool ${pool.address} can take (${reason})`, {
        param: 'amount',
        cause: error,
      })
    }
    throw internal(`A ${side} on pool ${pool.address} could not be quoted: ${reason}`, { cause: error })
  }
}

/** Throws bad_request for a full curve, and for a token with a transfer hook. */
function requireTradable(
  { address }: Pick<DbcPool, 'address'>,
  { state, config, transferHook }: { state: VirtualPool; config: PoolConfig; transferHook: string | null },
): void {
  if (state.poolState.quoteReserve.gte(config.migrationQuoteThreshold)) {
    throw badRequest(
      `The curve of pool ${address} is full, and trades again in the pool that it migrates to; anybody may migrate it (POST /v2/pools/{address}/migrations, \`svc pools migrate ${address}\`)`,
      { param: 'address' },
    )
  }
  if (transferHook !== null) {
    throw badRequest(
      `The token of pool ${address} calls the program ${transferHook} in each transfer until its curve is full, so svc does not trade it before: trade in the pool that it migrates to`,
      { param: 'address', details: { transfer_hook: transferHook } },
    )
  }
}

/** The payer trades with its own accounts. Wrapped SOL that it had before is unwrapped too. */
export async function buildDbcSwap(swap: DbcSwap): Promise<UnsignedTransaction> {
  checkDbcAmount(swap.amount)
  return compileUnsigned(swap, await (swap.side === 'buy' ? buyInstructions : sellInstructions)(swap))
}

interface Trade extends Pick<DbcSwap, 'payer' | 'pool' | 'amount' | 'minimumOut' | 'partialFill'> {
  /** Address that pays the rent of the trader's account of the token. The default is the trader. */
  funder?: string
  /** Decimals of a quote other than SOL that the amount was converted with; the trade asserts them. */
  provenDecimals?: number
}

/** A trader pays for its wrapped SOL account even if another wallet funds, because the rent returns to the trader. */
export async function buyInstructions(trade: Trade): Promise<TransactionInstruction[]> {
  const { web3, spl, key } = await openDbc()
  const payer = key(trade.payer)
  const funder = key(trade.funder ?? trade.payer)
  const quote = await quoteAccount(trade.pool, payer)
  const token = await baseAccount(trade.pool, payer, funder)
  const swap = await dbcSwapInstruction('buy', trade, quote.address, token.address)
  if (quote.unwrap === null) {
    const { provenDecimals: decimals } = trade
    const proven = { mint: trade.pool.quoteMint, program: quote.program.toBase58() }
    const proof = decimals === undefined ? [] : [await decimalsProof(trade.payer, { ...proven, decimals })]
    return [token.open, ...proof, swap]
  }
  return [
    quote.open,
    token.open,
    web3.SystemProgram.transfer({ fromPubkey: payer, toPubkey: quote.address, lamports: trade.amount }),
    spl.createSyncNativeInstruction(quote.address),
    swap,
    quote.unwrap,
  ]
}

async function sellInstructions(trade: Trade): Promise<TransactionInstruction[]> {
  const payer = (await openDbc()).key(trade.payer)
  const quote = await quoteAccount(trade.pool, payer)
  const token = await baseAccount(trade.pool, payer)
  const swap = await dbcSwapInstruction('sell', trade, token.address, quote.address)
  return [quote.open, swap, ...(quote.unwrap === null ? [] : [quote.unwrap])]
}

type AccountKey = import('@solana/web3.js').PublicKey

async function dbcSwapInstruction(
  side: TradeSide,
  trade: Trade,
  input: AccountKey,
  output: AccountKey,
): Promise<TransactionInstruction> {
  const { methods, web3, key, bn, poolAuthority, events } = await openDbc()
  const { pool } = trade
  const shown = pool.swapShowsInstructions
    ? [{ pubkey: web3.SYSVAR_INSTRUCTIONS_PUBKEY, isSigner: false, isWritable: false }]
    : []
  return methods
    .swap2({
      amount0: bn(trade.amount),
      amount1: bn(trade.minimumOut),
      swapMode: side === 'buy' && trade.partialFill !== false ? PARTIAL_FILL : EXACT_IN,
    })
    .accountsStrict({
      poolAuthority,
      config: key(pool.config),
      pool: key(pool.address),
      inputTokenAccount: input,
      outputTokenAccount: output,
      baseVault: key(pool.baseVault),
      quoteVault: key(pool.quoteVault),
      baseMint: key(pool.baseMint),
      quoteMint: key(pool.quoteMint),
      payer: key(trade.payer),
      tokenBaseProgram: (await baseAccount(pool, key(trade.payer))).program,
      tokenQuoteProgram: (await quoteAccount(pool, key(trade.payer))).program,
      referralTokenAccount: null,
      ...events,
    })
    .remainingAccounts(shown)
    .instruction()
}

function checkDbcAmount(amount: bigint): void {
  if (amount > 0n && amount <= MAX_U64) return
  throw badRequest(`amount must be from 1 to ${MAX_U64}`, { param: 'amount' })
}
