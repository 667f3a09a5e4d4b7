/** Plans a party's one-time withdrawals from a curve: surplus, migration fee, leftover and pool creation fee. */
import {
  buildCreationFeeWithdrawal,
  buildLeftoverWithdrawal,
  buildQuoteWithdrawal,
  type DbcPool,
  type OneTimeClaim,
  readLeftover,
  WITHDRAWAL_UNITS,
} from '../../chain/programs/dbc/index.ts'
import { buildTransaction } from '../building.ts'
import { isFull } from '../pools/on-chain.ts'
import {
  curveMints,
  nothingToClaim,
  requireWrappedRent,
  throwClaimRefusal,
  tooEarly,
  withdrawnAlready,
} from './claim-answers.ts'
import type { ClaimContext } from './claim-context.ts'
import type { Party, PlannedFeeClaim } from './types.ts'

interface QuoteWithdrawalRequest {
  kind: 'surplus' | 'migration_fee'
  pool: DbcPool
  party: Party
  payer: string
}

/** Throws bad_request while the curve is not full, and if there is nothing to withdraw or it was withdrawn before. */
export async function planQuoteWithdrawal(
  context: ClaimContext,
  { kind, pool, party, payer }: QuoteWithdrawalRequest,
): Promise<PlannedFeeClaim> {
  const isCreator = party.beneficiary === 'creator'
  const what = `The ${isCreator ? 'creator’s ' : ''}${kind === 'surplus' ? 'surplus' : 'migration fee'} of ${pool.address}`
  if (!pool.isMigrated && !isFull(pool)) {
    throw tooEarly(
      `The pool ${pool.address} has not migrated, and its curve is not full: its ${kind.replace('_', ' ')} can be withdrawn once it is full`,
    )
  }
  const amount = claimableOnce(oneTimeClaim(pool, kind, isCreator), what, pool.address)
  await requireWrappedRent(context, { pool, claimer: party.claimer, payer })
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: WITHDRAWAL_UNITS[kind],
    build: (envelope) => buildQuoteWithdrawal({ ...envelope, ...party, kind, pool }),
    onFailedSimulation: throwClaimRefusal,
  })
  const plan = {
    ...curveMints(pool),
    ...party,
    kind,
    estimated_quote: String(amount),
    type: 'fee_claim.executed' as const,
  }
  return { built, plan }
}

/** A party's part of the surplus or of the migration fee, as the pool's accounts have it. */
export function oneTimeClaim(pool: DbcPool, kind: QuoteWithdrawalRequest['kind'], isCreator: boolean): OneTimeClaim {
  if (kind === 'surplus') return isCreator ? pool.creatorSurplus : pool.surplus
  return isCreator ? pool.creatorMigrationFee : pool.migrationFee
}

function claimableOnce({ claimable, withdrawn }: OneTimeClaim, what: string, address: string): bigint {
  if (withdrawn) throw withdrawnAlready(what)
  if (claimable === 0n) throw nothingToClaim(address)
  return claimable
}

/** Anyone may send it: it pays the leftover receiver of the pool's config. */
export async function planLeftover(context: ClaimContext, pool: DbcPool, payer: string): Promise<PlannedFeeClaim> {
  const { address, leftover } = pool
  if (!leftover.isPossible) throw nothingToClaim(address, ': its supply is not fixed, so nothing is left over')
  if (!pool.isMigrated) {
    throw tooEarly(`The pool ${address} has not migrated: leftover tokens are paid after that`)
  }
  if (leftover.withdrawn) throw withdrawnAlready(`The leftover of ${address}`)
  const amount = await readLeftover(context.chain, pool)
  if (amount === 0n) throw nothingToClaim(address)
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: WITHDRAWAL_UNITS.leftover,
    build: (envelope) => buildLeftoverWithdrawal({ ...envelope, pool }),
    onFailedSimulation: throwClaimRefusal,
  })
  const party = { beneficiary: 'partner', claimer: pool.leftoverReceiver } as const
  const plan = { ...curveMints(pool), ...party, kind: 'leftover' as const, estimated_base: String(amount) }
  return { built, plan: { ...plan, type: 'fee_claim.executed' } }
}

/** The fee is paid in lamports, whatever the pool's quote is. */
export async function planCreationFee(context: ClaimContext, pool: DbcPool, payer: string): Promise<PlannedFeeClaim> {
  const amount = claimableOnce(pool.creationFee, `The pool creation fee of ${pool.address}`, pool.address)
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: WITHDRAWAL_UNITS.pool_creation_fee,
    build: (envelope) => buildCreationFeeWithdrawal({ ...envelope, pool }),
    onFailedSimulation: throwClaimRefusal,
  })
  const party = { beneficiary: 'partner', claimer: pool.feeClaimer } as const
  const plan = { ...curveMints(pool), ...party, kind: 'pool_creation_fee' as const, estimated_lamports: String(amount) }
  return { built, plan: { ...plan, type: 'fee_claim.executed' } }
}
