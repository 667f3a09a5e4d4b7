/** A buy or a sell on a pool of either family: its quote, its slippage bound and its transaction. */
import type { Connection } from '@solana/web3.js'
import * as dammV2 from '../../chain/programs/damm-v2/index.ts'
import * as dbc from '../../chain/programs/dbc/index.ts'
import type { Envelope, UnsignedTransaction } from '../../chain/unsigned.ts'
import type { ChainPool } from './on-chain.ts'

/** Compute limit of a swap that cannot be simulated: more than the costliest one of either family was measured at. */
export const POOL_SWAP_UNITS = 250_000

const WHOLE_BPS = 10_000n

export interface PoolSwapOrder {
  side: 'buy' | 'sell'
  /** Raw units of what is paid: of the quote for a buy, of the token for a sell. */
  amount: bigint
}

/** Throws bad_request naming `amount` for what the pool cannot take, internal_error where the node fails. */
export const quotePoolSwap = (connection: Connection, { type, pool }: ChainPool, order: PoolSwapOrder) =>
  type === 'dbc' ? dbc.quoteDbcSwap(connection, pool, order) : dammV2.quoteDammV2Swap(connection, pool, order)

/** The least that may come out, in raw units, rounded down. */
export const minimumOutOf = (estimatedOut: bigint, slippageBps: bigint): bigint =>
  (estimatedOut * (WHOLE_BPS - slippageBps)) / WHOLE_BPS

/** The chain fails the transaction where less than `minimumOut` raw units would come out. */
export const buildPoolSwap = (
  { type, pool }: ChainPool,
  swap: Envelope & PoolSwapOrder & { minimumOut: bigint },
): Promise<UnsignedTransaction> =>
  type === 'dbc' ? dbc.buildDbcSwap({ ...swap, pool }) : dammV2.buildDammV2Swap({ ...swap, pool })
