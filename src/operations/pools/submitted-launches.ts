/** Finds launches among submitted transactions. Each takes its ticker on submission, and a second launch with it is refused. */
import { dammV2ChangesIn } from '../../chain/programs/damm-v2/index.ts'
import { dbcChangesIn } from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { writeEvents } from '../../store/events/drafts.ts'
import { findPool, launchesOfKeys, updatePool } from '../../store/resources/pools.ts'
import { pendingWithTicker } from '../../store/resources/tickers.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { readPools } from './on-chain.ts'
import { takeTickerFor, tickerCooldownStart, tickerTakenError } from './tickers.ts'
import { markPoolLive } from './transitions.ts'

/** The tickers of the launches that a submission is part of. */
interface TickerClaim {
  /**
   * Takes the tickers in the database transaction that stores the submission. Throws bad_request naming a ticker that
   * another pool has.
   */
  hold(tx: Tx): Promise<void>
}

interface SubmittedLaunch {
  transaction: DecodedTransaction
  param: string
}

/**
 * Finds launches built here in the transactions, whatever resource the client tracks. First checks whether another
 * pool with the ticker has already landed, because that pool has precedence.
 */
export async function tickerClaims(context: Context, submitted: readonly SubmittedLaunch[]): Promise<TickerClaim> {
  const { store, chain, clock } = context
  const launches = (await Promise.all(submitted.map((one) => launchesIn(store.db, one)))).flat()
  if (launches.length === 0) return NO_TICKERS
  const rivals = (await Promise.all(launches.map(({ row }) => findRivals(context, row)))).flat()
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
      for (const { row, param, signature } of launches) {
        const { address: pool, symbol, genesis } = row
        const status = (await findPool(tx, pool))?.status
        if (symbol === null || (status !== 'pending' && status !== 'failed')) continue
        const held = await takeTickerFor(context, tx, { symbol, pool, genesis })
        if (held !== null) throw tickerTakenError(context, symbol, held, param)
        await updatePool(tx, pool, { submitted_at: clock.now(), submitted_signature: signature })
      }
    },
  }
}

const NO_TICKERS: TickerClaim = { async hold() {} }

interface LaunchInTransaction {
  row: Row<'pools'>
  param: string
  signature: string
}

/**
 * Returns the launches that a transaction is part of: the keys of their mint or config sign it, which only who built
 * them has, or it creates their pool and the creator signs it. The first of several transactions counts too, so that
 * nobody pays for it and is refused the next.
 */
async function launchesIn(
  reader: Reader,
  { transaction: { message, signature }, param }: SubmittedLaunch,
): Promise<LaunchInTransaction[]> {
  const signers = message.keys.slice(0, message.signers)
  const created = [...dbcChangesIn(message), ...dammV2ChangesIn(message)].flatMap((change) =>
    change.kind === 'pool_created' ? [change.pool] : [],
  )
  const named = await Promise.all(created.map((address) => findPool(reader, address)))
  // An instruction can name a creator that has not agreed to it.
  const agreed = named.flatMap((row) => (row?.creator && signers.includes(row.creator) ? [row] : []))
  const keyed = signers.length < 2 ? [] : await launchesOfKeys(reader, signers)
  // A chosen mint may have several builds, of which only one can land: the one that is most like this transaction.
  const likeness = ({ address, config, creator }: Row<'pools'>) =>
    (created.includes(address) ? 4 : 0) +
    (signers.includes(config ?? '') ? 2 : 0) +
    (signers.includes(creator ?? '') ? 1 : 0)
  const worstFirst = [...keyed, ...agreed].sort((a, b) => likeness(a) - likeness(b) || a.created_at - b.created_at)
  const rows = new Map(worstFirst.map((row) => [row.base_mint, row]))
  return [...rows.values()].map((row) => ({ row, param, signature }))
}

async function findRivals(context: Context, row: Row<'pools'>): Promise<Row<'pools'>[]> {
  if (row.symbol === null) return []
  return pendingWithTicker(context.store.db, { ...row, symbol: row.symbol, since: tickerCooldownStart(context) })
}
