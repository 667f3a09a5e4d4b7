/** Quotes, limits and builds a buy or a sell on a pool of either family. */
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import * as dammV2 from '../../chain/programs/damm-v2/index.ts'
import * as dbc from '../../chain/programs/dbc/index.ts'
import type { ProvenMint } from '../../chain/programs/tokens/index.ts'
import type { Envelope, UnsignedTransaction } from '../../chain/sending/unsigned.ts'
import type { Slack } from '../../policy/movement/guards.ts'
import { associatedTokenAddress } from '../../solana/program-addresses.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { ChainPool } from './on-chain.ts'

/** Compute limit of a swap that cannot be simulated, above the highest measured cost of either family. */
export const POOL_SWAP_UNITS = 250_000

const WHOLE_BPS = 10_000n

interface PoolSwapOrder {
  side: 'buy' | 'sell'
  /** Raw units that are paid: of the quote for a buy, of the token for a sell. */
  amount: bigint
}

/** Throws bad_request naming `amount` if the pool cannot take it, internal_error when the node fails. */
export const quotePoolSwap = (node: NodeCalls, { type, pool }: ChainPool, order: PoolSwapOrder) =>
  type === 'dbc' ? dbc.quoteDbcSwap(node, pool, order) : dammV2.quoteDammV2Swap(node, pool, order)

/** Returns the least output in raw units, rounded down. */
export const minimumOutOf = (estimatedOut: bigint, slippageBps: bigint): bigint =>
  (estimatedOut * (WHOLE_BPS - slippageBps)) / WHOLE_BPS

/** The transaction fails on chain when fewer than `minimumOut` raw units would be received. */
export const buildPoolSwap = (
  { type, pool }: ChainPool,
  swap: Envelope & PoolSwapOrder & { minimumOut: bigint },
): Promise<UnsignedTransaction> =>
  type === 'dbc' ? dbc.buildDbcSwap({ ...swap, pool }) : dammV2.buildDammV2Swap({ ...swap, pool })

/** What a trade pays, with the decimals of its amount. */
export function paidMint({ type, pool }: ChainPool, side: PoolSwapOrder['side']): ProvenMint {
  if (type === 'damm_v2') {
    return side === 'sell'
      ? { mint: pool.tokenAMint, program: pool.tokenAProgram, decimals: pool.tokenADecimals }
      : { mint: pool.tokenBMint, program: pool.tokenBProgram, decimals: pool.tokenBDecimals }
  }
  const { baseMint, baseProgram, decimals, quoteMint, quoteProgram, quoteDecimals } = pool
  return side === 'sell'
    ? { mint: baseMint, program: TOKEN_PROGRAM_IDS[baseProgram], decimals }
    : { mint: quoteMint, program: TOKEN_PROGRAM_IDS[quoteProgram], decimals: quoteDecimals }
}

const TOKEN_PROGRAM_IDS = { spl: TOKEN_PROGRAM, token2022: TOKEN_2022_PROGRAM } as const

/** What more may leave the payer of this mint; wrapped SOL is that of the payer. */
export const slackIn = (payer: string, { mint, program }: Omit<ProvenMint, 'decimals'>, amount: bigint): Slack =>
  mint === WRAPPED_SOL
    ? { account: payer, mint: null, amount }
    : { account: associatedTokenAddress(payer, mint, program), mint, amount }
