/** Reads what is due for the creator of a raise, and says what it should know. */
import type { SettlementAct } from '../../api/raises.ts'
import { readPairPool } from '../../chain/programs/damm-v2/index.ts'
import { fixedPriceArgsAddress, type Raise } from '../../chain/programs/presale/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Services } from '../../context.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PRESALE } from '../../solana/programs/presale.ts'
import { dueActs, type SettlementState } from '../../solana/raise-due.ts'
import type { PoolPlan } from '../../solana/raise-pool.ts'
import { feeInEpoch } from '../../solana/transfer-fees.ts'
import type { RaiseRow } from '../../store/resources/raises.ts'
import type { Said } from '../sentences.ts'
import { readPurse } from './purse.ts'

export const planOf = (row: Pick<RaiseRow, 'pool_json'> | null): PoolPlan | null =>
  row === null || row.pool_json === null ? null : JSON.parse(row.pool_json)

export type Settlement = Awaited<ReturnType<typeof readSettlement>>

/** Takes one call for a raise without a plan, and up to three more for its pool. Throws internal_error when the node fails. */
export async function readSettlement(
  chain: Services['chain'],
  { raise, at }: { raise: Raise; at: ChainTime },
  plan: PoolPlan | null,
) {
  const { address, mint, quoteMint: quote, creator } = raise
  const [purse, pool] = await Promise.all([
    readPurse(chain, raise, creator, [fixedPriceArgsAddress(address)]),
    plan === null ? null : readPairPool(chain, { mint, quote, creator }),
  ])
  const { tokens, quotes, others } = purse
  const state: SettlementState = {
    raise,
    plan,
    transferFee: feeInEpoch(tokens.token?.extensions ?? null, at.epoch),
    pool,
    tokens: tokens.state?.amount ?? 0n,
    closesPrice: PRESALE.decode('fixed_price_presale_extra_args', others[0] ?? null)?.owner === creator,
    at: BigInt(at.unixSeconds),
  }
  return { state, due: dueActs(state), tokens, quotes }
}

/** Says what the settler should know beside the amounts. */
export function settlementWarnings({ state, due, quotes }: Settlement, acts: readonly SettlementAct[]): Said[] {
  const { raise, plan } = state
  const planned = plan === null ? 0n : (raise.deposited * BigInt(plan.quote_bps)) / 10_000n
  const opens = acts.includes('open_pool') && due.opensAt === null
  return [
    due.blocked ?? false,
    // Rounding leaves some units, a small reserve much more.
    opens &&
      due.pool !== null &&
      due.pool.quote * 1_000n < planned * 999n &&
      `The reserve is too small for all of the quote: ${due.pool.quote} of ${planned} raw units go into the pool`,
    acts.includes('withdraw') &&
      raise.quoteMint === WRAPPED_SOL &&
      `What does not go into the pool arrives as wrapped SOL in ${quotes.account}`,
  ]
}
