/** Rehearses the launch itself, and a buyer who buys the remaining tokens of its curve. */
import { type DbcPool, migrationStep, readDbcPool } from '../../chain/programs/dbc/index.ts'
import { internal } from '../../platform/errors.ts'
import { decodeWireTransaction, keyAt } from '../../solana/messages.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { buildTransaction } from '../building.ts'
import { buildPoolSwap, POOL_SWAP_UNITS } from '../pools/pool-swap.ts'
import { buyerFunds } from './buyer-funds.ts'
import type { Rehearsal } from './rehearsal.ts'

/** A fee may take 99 % of a payment, so a hundred times the price of the remaining tokens is enough. */
const MOST_FEE_FACTOR = 110n
/** A limit per swap can require several swaps. */
const MAX_FILLS = 5

export async function launchSteps(rehearsal: Rehearsal): Promise<void> {
  const { launch, input } = rehearsal
  for (const [i, transaction] of launch.transactions.entries()) {
    const label = launch.transactions.length === 1 ? 'launch' : `launch, ${i + 1} of ${launch.transactions.length}`
    rehearsal.addRole(keyAt(decodeWireTransaction(transaction).message, 0), 'payer')
    await rehearsal.run({ stage: 'launch', label, isVital: true }, async () => ({ transaction }))
  }
  if (input.type === 'dbc') {
    rehearsal.addRole((await curveOnCopy(rehearsal)).feeClaimer, 'partner')
    await fillCurve(rehearsal)
  }
}

/** Reads the launch's curve from the copy. */
export async function curveOnCopy({ context, launch }: Rehearsal): Promise<DbcPool> {
  const pool = await readDbcPool(context.chain, launch.address)
  if (pool === null) throw internal(`The rehearsed pool ${launch.address} cannot be read from the copy`)
  return pool
}

async function fillCurve(rehearsal: Rehearsal): Promise<void> {
  const { context, buyer } = rehearsal
  for (let fills = 0; fills < MAX_FILLS; fills++) {
    const pool = await curveOnCopy(rehearsal)
    if (migrationStep(pool) !== 'not_full') return
    const amount = least((pool.threshold - pool.quoteReserve) * MOST_FEE_FACTOR + 1n, MAX_U64 / 4n)
    if (fills === 0) await buyerFunds(rehearsal, pool.quoteMint, amount)
    await rehearsal.run({ stage: 'fill', label: 'a buyer fills the curve', isVital: true }, () =>
      buildTransaction(context, {
        payer: buyer,
        fallbackUnits: POOL_SWAP_UNITS,
        // Any excess stays with the buyer.
        build: (envelope) => buildPoolSwap({ type: 'dbc', pool }, { ...envelope, side: 'buy', amount, minimumOut: 0n }),
      }),
    )
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
