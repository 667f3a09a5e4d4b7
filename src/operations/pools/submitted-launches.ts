/** Finds launches among submitted transactions. Each takes its ticker on submission, and a second launch with it is refused. */
import { dammV2ChangesIn } from '../../chain/programs/damm-v2/index.ts'
import { dbcChangesIn } from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { writeEvents } from '../../store/events/drafts.ts'
import { findPool, pendingWithTicker, updatePool } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { readPools } from './on-chain.ts'
import { takeTickerFor, tickerCooldownStart, tickerTakenError } from './tickers.ts'
import { markPoolLive } from './transitions.ts'

/** The tickers of the pools that a submission creates. */
export interface TickerClaim {
  /**
   * Takes the tickers in the database transaction that stores the submission. Throws bad_request naming a ticker that
   * another pool has.
   */
  hold(tx: Tx): Promise<void>
}

export interface SubmittedLaunch {
  transaction: DecodedTransaction
  param: string
}

/**
 * Finds launches built here in the transactions, whatever resource the client tracks. First checks whether another
 * pool with the ticker has already landed, because that pool has precedence.
 */
export async function tickerClaims(context: Context, submitted: readonly SubmittedLaunch[]): Promise<TickerClaim> {
  const created = submitted.flatMap(({ transaction: { message }, param }) =>
    [...dbcChangesIn(message), ...dammV2ChangesIn(message)].flatMap((change) =>
      change.kind === 'pool_created'
        ? [{ address: change.pool, param, signers: message.keys.slice(0, message.signers) }]
        : [],
    ),
  )
  return created.length === 0 ? NO_TICKERS : claimsOf(context, created)
}

const NO_TICKERS: TickerClaim = { async hold() {} }

interface CreatedPool {
  address: string
  param: string
  signers: readonly string[]
}

async function claimsOf(context: Context, created: readonly CreatedPool[]): Promise<TickerClaim> {
  const { store, chain, clock } = context
  const rows = await Promise.all(created.map(({ address }) => findPool(store.db, address)))
  const rivals = (await Promise.all(rows.map((row) => rivalsOf(context, row)))).flat()
  // If the node fails, the submission is accepted, because the workers notice pools that have landed.
  const chainPools = await readPools(
    chain,
    rivals.map(({ address }) => address),
  ).catch(() => [])
  return {
    async hold(tx) {
      for (const [i, rival] of rivals.entries()) {
        if (chainPools[i]) await writeEvents(tx, clock, (await markPoolLive(context, tx, rival)).drafts)
      }
      for (const { address, param, signers } of created) {
        const row = await findPool(tx, address)
        if (row === null || row.symbol === null || (row.status !== 'pending' && row.status !== 'failed')) continue
        const { symbol, creator, genesis } = row
        // An instruction can name a creator that has not agreed to it, so it takes no ticker without the creator's
        // signature.
        if (creator === null || !signers.includes(creator)) continue
        const held = await takeTickerFor(context, tx, { symbol, creator, pool: address, genesis })
        if (held !== null) throw tickerTakenError(context, symbol, held, param)
        await updatePool(tx, address, { submitted_at: clock.now() })
      }
    },
  }
}

async function rivalsOf(context: Context, row: Row<'pools'> | null): Promise<Row<'pools'>[]> {
  if (row === null || row.symbol === null) return []
  return pendingWithTicker(context.store.db, { ...row, symbol: row.symbol, since: tickerCooldownStart(context) })
}
