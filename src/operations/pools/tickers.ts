/** Manages tickers: which pool has one, when it expires, and the error for a second pool. */

import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import type { Context, Services } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { HOUR_MS } from '../../platform/timing.ts'
import { findPool, findTicker, isHeldAgainst, takeTicker } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'

type TickerServices = Pick<Services, 'clock' | 'config'>
type TickerHolder = Pick<Row<'tickers'>, 'pool_address' | 'taken_at'>

/** Checks the ticker before the expensive steps. The commit checks it again and takes it. */
export async function requireFreeTicker(
  context: Context,
  { symbol, creator }: Pick<Input<Api['pools']['create']>, 'symbol' | 'creator'>,
): Promise<void> {
  const { db } = context.store
  const held = await findTicker(db, symbol)
  if (held === null || held.taken_at <= tickerCooldownStart(context)) return
  const holder = await findPool(db, held.pool_address)
  const genesis = await context.chain.genesisHash()
  if (isHeldAgainst(holder, { creator, genesis })) throw tickerTakenError(context, symbol, held)
}

export interface TickerTaking {
  symbol: string
  creator: string | null
  /** Address of the pool. */
  pool: string
  genesis: string
}

/** Takes the ticker within the commit, or returns the pool that has it. */
export const takeTickerFor = (at: TickerServices, tx: Tx, taking: TickerTaking): Promise<Row<'tickers'> | null> =>
  takeTicker(tx, { ...taking, now: at.clock.now(), since: tickerCooldownStart(at) })

/** Returns the time from which another pool can take the ticker. */
export const tickerFreeAt = ({ config }: Pick<Services, 'config'>, { taken_at }: TickerHolder): string =>
  new Date(taken_at + config.values['pools.ticker-cooldown-hours'] * HOUR_MS).toISOString()

export function tickerTakenError(at: Pick<Services, 'config'>, symbol: string, held: TickerHolder, param = 'symbol') {
  const until = tickerFreeAt(at, held)
  return badRequest(`The ticker ${symbol} is taken by the pool ${held.pool_address} until ${until}: choose another`, {
    param,
    details: { pool_address: held.pool_address, until },
  })
}

/** Returns the time before which a ticker must have been taken to be free again. */
export const tickerCooldownStart = ({ clock, config }: TickerServices) =>
  clock.now() - config.values['pools.ticker-cooldown-hours'] * HOUR_MS
