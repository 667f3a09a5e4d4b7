/** Manages tickers: which pool has one, when it expires, and the error for a second pool. */

import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import type { Context, Services } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/timing.ts'
import { blockingTicker, type TickerTerms, takeTicker } from '../../store/resources/tickers.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'

type TickerServices = Pick<Services, 'clock' | 'config'>
type TickerHolder = Pick<Row<'tickers'>, 'pool_address' | 'taken_at'>

/** Checks the ticker of a launch that is built. It is taken when the launch is submitted. */
export async function requireFreeTicker(
  context: Context,
  { symbol }: Pick<Input<Api['pools']['create']>, 'symbol'>,
): Promise<void> {
  const held = await blockingTicker(context.store.db, symbol, termsAt(context, await context.chain.genesisHash()))
  if (held !== null) throw tickerTakenError(context, symbol, held)
}

interface TickerTaking {
  symbol: string
  /** Address of the pool. */
  pool: string
  genesis: string
}

/** Takes the ticker within the commit, or returns the pool that has it. */
export const takeTickerFor = (
  at: TickerServices,
  tx: Tx,
  { symbol, pool, genesis }: TickerTaking,
): Promise<Row<'tickers'> | null> => takeTicker(tx, { symbol, pool, now: at.clock.now(), ...termsAt(at, genesis) })

const termsAt = (at: TickerServices, genesis: string): TickerTerms => ({
  genesis,
  since: tickerCooldownStart(at),
  submittedSince: submittedSinceOf(at),
})

/** Returns the time before which a submission that has not landed is given up. */
export const submittedSinceOf = ({ clock, config }: TickerServices) =>
  clock.now() - config.values['pools.pending-minutes'] * MINUTE_MS

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
