/** Reads the trades of a pool from a transaction, by the events with which Meteora's programs report them. */
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { DAMM_V2 } from '../../solana/programs/damm-v2.ts'
import { DBC } from '../../solana/programs/dbc.ts'

interface Trade {
  side: 'buy' | 'sell'
  /** Raw units of the side that pays, fees included. */
  amountIn: bigint
  /** Raw units that the trader receives. */
  amountOut: bigint
  /** Square root of the price in raw units after the trade, times 2^64. */
  sqrtPrice: bigint
}
/** The trader is null if the call takes it from a lookup table that was not read. */
export type ReadTrade = Trade & { trader: string | null }

interface SwapCall {
  name: string
  accounts: Readonly<Record<string, string | readonly string[] | null | undefined>>
  place: number
}

/** Returns the trades in a launch curve. `message` has the calls between programs in the order of execution. */
export function dbcTradesIn(message: DecodedMessage, pool: string): ReadTrade[] {
  return tradesIn(message, DBC.id, DBC.callsIn(message), (data) => {
    const event = DBC.event('evt_swap2', data) ?? DBC.event('evt_swap2_with_transfer_hook', data)
    if (event === null || event.pool !== pool) return null
    return {
      side: sideOf(event.trade_direction),
      amountIn: event.included_fee_input_amount,
      amountOut: event.output_amount,
      sqrtPrice: event.next_sqrt_price,
    }
  })
}

/** Returns the trades in a DAMM v2 pool, with what the transfer fees of Token-2022 take. */
export function dammV2TradesIn(message: DecodedMessage, pool: string): ReadTrade[] {
  return tradesIn(message, DAMM_V2.id, DAMM_V2.callsIn(message), (data) => {
    const event = DAMM_V2.event('evt_swap2', data)
    if (event === null || event.pool !== pool) return null
    return {
      side: sideOf(event.trade_direction),
      amountIn: event.included_transfer_fee_amount_in,
      amountOut: event.excluded_transfer_fee_amount_out,
      sqrtPrice: event.next_sqrt_price,
    }
  })
}

/** Direction 0 sells the token (base to quote, A to B), 1 buys it. */
const sideOf = (direction: number): Trade['side'] => (direction === 0 ? 'sell' : 'buy')

/** An event follows the call that it reports. */
function tradesIn(
  { keys, instructions }: DecodedMessage,
  program: string,
  calls: readonly SwapCall[],
  read: (data: Uint8Array) => Trade | null,
): ReadTrade[] {
  const swaps = new Map(calls.flatMap((call) => (call.name.startsWith('swap') ? [[call.place, call]] : [])))
  let trader: string | null = null
  return instructions.flatMap(({ programIdIndex, data }, place) => {
    const swap = swaps.get(place)
    if (swap !== undefined) trader = typeof swap.accounts.payer === 'string' ? swap.accounts.payer : null
    const trade = keys[programIdIndex] === program ? read(data) : null
    return trade === null ? [] : [{ ...trade, trader }]
  })
}
