/** Lists the trades of a pool, newest first, from the history of its account at the node. */
import type { Api } from '../../api/index.ts'
import type { PoolTrade } from '../../api/pool-trades.ts'
import type { Input, Result } from '../../api/route.ts'
import { dammV2PriceText } from '../../chain/programs/damm-v2/index.ts'
import { dbcPriceText } from '../../chain/programs/dbc/index.ts'
import { dammV2TradesIn, dbcTradesIn, type ReadTrade } from '../../chain/programs/pool-trades.ts'
import { executionOrder, type ListedSignature, listSignatures } from '../../chain/reads/history.ts'
import { isSignature } from '../../chain/reads/statuses.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeTextCursor, encodeTextCursor, filteredList } from '../../store/queries/paging.ts'
import { isoTimeOrNull } from '../api-records.ts'
import { findExecuted } from '../transactions/fetch-transactions.ts'
import { type ChainPool, requirePool } from './on-chain.ts'

type TradesRoute = Api['pools']['trades']

/** Transactions that are read at the same time. */
const AT_ONCE = 8

/** A page is `limit` transactions of the pool: those that are no trades are read and left out. */
export async function listTrades(
  { chain }: Context,
  { address, limit, cursor }: Input<TradesRoute>,
): Promise<Result<TradesRoute>> {
  const pool = await requirePool(chain, address)
  const list = filteredList('pools.trades', { address })
  const before = cursor === undefined ? undefined : decodeTextCursor(list, cursor)
  if (before !== undefined && !isSignature(before)) throw badRequest('cursor is damaged', { param: 'cursor' })
  const listed = await listSignatures(chain, address, { before, limit })
  const landed = listed.filter(({ isFailed }) => !isFailed)
  const items: PoolTrade[] = []
  for (let at = 0; at < landed.length; at += AT_ONCE) {
    const part = landed.slice(at, at + AT_ONCE)
    items.push(...(await Promise.all(part.map((found) => tradesOf(chain, pool, found)))).flat())
  }
  const last = listed.at(-1)
  return { items, next_cursor: last === undefined ? null : encodeTextCursor(list, last.signature) }
}

/** None if no node has the transaction, or if it cannot be read. */
async function tradesOf(
  chain: Context['chain'],
  found: ChainPool,
  { signature, slot, at }: ListedSignature,
): Promise<PoolTrade[]> {
  const executed = await findExecuted(chain, signature)
  if (executed === null) return []
  const about = { pool_address: found.pool.address, signature, slot, traded_at: isoTimeOrNull(at) }
  const [base, quote] = decimalsOf(found)
  return tradesIn(found, executionOrder(executed))
    .toReversed()
    .map(({ trader, side, amountIn, amountOut, sqrtPrice }) => ({
      ...about,
      trader,
      side,
      amount_in: String(amountIn),
      decimals_in: side === 'buy' ? quote : base,
      amount_out: String(amountOut),
      decimals_out: side === 'buy' ? base : quote,
      price: (found.type === 'dbc' ? dbcPriceText : dammV2PriceText)(sqrtPrice, base, quote),
    }))
}

const tradesIn = ({ type, pool }: ChainPool, message: DecodedMessage): ReadTrade[] =>
  type === 'dbc' ? dbcTradesIn(message, pool.address) : dammV2TradesIn(message, pool.address)

const decimalsOf = ({ type, pool }: ChainPool): [base: number, quote: number] =>
  type === 'dbc' ? [pool.decimals, pool.quoteDecimals] : [pool.tokenADecimals, pool.tokenBDecimals]
