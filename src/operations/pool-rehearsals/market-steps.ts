/** Rehearses the migration of a full curve, and trades in the new pool. */
import {
  buildMigrationStep,
  MIGRATION_UNITS,
  migratedPoolAddress,
  migrationStep,
} from '../../chain/programs/dbc/index.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { buildTransaction } from '../building.ts'
import { requirePool } from '../pools/on-chain.ts'
import { buildPoolSwap, POOL_SWAP_UNITS } from '../pools/pool-swap.ts'
import { openSigner } from '../signing/require-signer.ts'
import { buyerFunds } from './buyer-funds.ts'
import { curveOnCopy } from './launch-steps.ts'
import type { Rehearsal } from './rehearsal.ts'

const KEEPER_LAMPORTS = 10_000_000_000n
/** A curve with locked vesting needs one more step. */
const MAX_MIGRATION_STEPS = 3
const MIGRATION_LABELS = { create_locker: 'locker for the vesting', migrate: 'migration' } as const
/** The buyer sells this fraction of its tokens, so that positions earn fees. */
const SOLD_PART = 10n

export async function migrationSteps(rehearsal: Rehearsal): Promise<void> {
  const { context, input } = rehearsal
  if (input.type !== 'dbc') return
  const payer = await migrator(rehearsal)
  for (let steps = 0; steps < MAX_MIGRATION_STEPS; steps++) {
    const pool = await curveOnCopy(rehearsal)
    const step = migrationStep(pool)
    if (step !== 'create_locker' && step !== 'migrate') return
    await rehearsal.run({ stage: 'migration', label: MIGRATION_LABELS[step], isVital: true }, () =>
      buildTransaction(context, {
        payer,
        fallbackUnits: MIGRATION_UNITS[step],
        build: (envelope) => buildMigrationStep({ ...envelope, pool }),
      }),
    )
  }
}

/** The platform wallet if it migrates curves, else a stand-in for public migration services. */
async function migrator(rehearsal: Rehearsal): Promise<string> {
  const { context, keeper } = rehearsal
  const signer = context.config.values['pools.crank'] ? await openSigner(context) : null
  if (signer !== null) {
    rehearsal.addRole(signer.address, 'platform')
    return signer.address
  }
  rehearsal.addRole(keeper, 'keeper')
  await rehearsal.fund(keeper, KEEPER_LAMPORTS)
  return keeper
}

/** Returns the address of the pool that finally has the liquidity. */
export async function openMarket(rehearsal: Rehearsal): Promise<string> {
  if (rehearsal.input.type === 'damm_v2') return rehearsal.launch.address
  return migratedPoolAddress(await curveOnCopy(rehearsal))
}

/** `spent` is what a buyer spends if there was no curve to fill, in raw units of the quote. */
export async function tradeSteps(rehearsal: Rehearsal, spent: bigint): Promise<void> {
  const { input, buyer, launch } = rehearsal
  const market = await openMarket(rehearsal)
  if (input.type === 'damm_v2') {
    await buyerFunds(rehearsal, WRAPPED_SOL, spent)
    await trade(rehearsal, market, { side: 'buy', amount: spent, label: 'a buyer buys' })
  }
  const amount = heldBy(rehearsal, buyer, launch.mint) / SOLD_PART
  if (amount > 0n) await trade(rehearsal, market, { side: 'sell', amount, label: 'the buyer sells a tenth' })
}

async function trade(
  { context, buyer, run }: Rehearsal,
  address: string,
  { side, amount, label }: { side: 'buy' | 'sell'; amount: bigint; label: string },
): Promise<void> {
  await run({ stage: 'trade', label }, async () => {
    const pool = await requirePool(context.chain, address)
    return buildTransaction(context, {
      payer: buyer,
      fallbackUnits: POOL_SWAP_UNITS,
      build: (envelope) => buildPoolSwap(pool, { ...envelope, side, amount, minimumOut: 0n }),
    })
  })
}

/** An owner's tokens after the last transaction that changed them, in raw units. */
function heldBy({ landings }: Rehearsal, owner: string, mint: string): bigint {
  const held = new Map<string, bigint>()
  for (const { landed } of landings) {
    for (const token of landed.postTokenBalances) {
      if (token.owner === owner && token.mint === mint)
        held.set(landed.accountKeys[token.accountIndex] ?? '', token.amount)
    }
  }
  return [...held.values()].reduce((sum, amount) => sum + amount, 0n)
}
