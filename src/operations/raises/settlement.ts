/** Reads what is due for the creator of a raise, and says it. */
import type { Raise as RaiseRecord, SettlementAct } from '../../api/raises.ts'
import { readPairPool } from '../../chain/programs/damm-v2/index.ts'
import { associatedAccounts } from '../../chain/programs/derived-addresses.ts'
import { fixedPriceArgsAddress, type Raise } from '../../chain/programs/presale/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Services } from '../../context.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PRESALE } from '../../solana/programs/presale.ts'
import { dueActs, type SettlementState, settlementText } from '../../solana/raise-due.ts'
import type { PoolPlan } from '../../solana/raise-pool.ts'
import { readTokenAccount } from '../../solana/token-accounts.ts'
import { readMintExtensions } from '../../solana/token-extensions.ts'
import { feeInEpoch } from '../../solana/transfer-fees.ts'
import type { RaiseRow } from '../../store/resources/raises.ts'
import type { Said } from '../sentences.ts'

export const planOf = (row: Pick<RaiseRow, 'pool_json'> | null): PoolPlan | null =>
  row === null || row.pool_json === null ? null : JSON.parse(row.pool_json)

export type Settlement = Awaited<ReturnType<typeof readSettlement>>

/** Takes one call for a raise without a plan, and up to three more for its pool. Throws internal_error when the node fails. */
export async function readSettlement(
  chain: Services['chain'],
  { raise, at }: { raise: Raise; at: ChainTime },
  plan: PoolPlan | null,
) {
  const { mint, quoteMint, creator, tokenProgram, quoteTokenProgram } = raise
  const price = fixedPriceArgsAddress(raise.address)
  const [ofTokens, ofQuote] = await Promise.all([
    associatedAccounts({ mint, tokenProgram }),
    associatedAccounts({ mint: quoteMint, tokenProgram: quoteTokenProgram }),
  ])
  const [tokens, quote] = [ofTokens.accountOf(creator), ofQuote.accountOf(creator)]
  const [[held = null, paid = null, mintAccount = null, args = null], pool] = await Promise.all([
    accountsAt(chain, [tokens, quote, mint, price]),
    plan === null ? null : readPairPool(chain, { mint, quote: quoteMint, creator }),
  ])
  const extensions = tokenProgram === 'spl' || mintAccount === null ? null : readMintExtensions(mintAccount.data)
  const state: SettlementState = {
    raise,
    plan,
    transferFee: feeInEpoch(extensions, at.epoch),
    pool,
    tokens: held === null ? 0n : (readTokenAccount(held)?.amount ?? 0n),
    closesPrice: PRESALE.decode('fixed_price_presale_extra_args', args)?.owner === creator,
    at: BigInt(at.unixSeconds),
  }
  return {
    state,
    due: dueActs(state),
    tokens: { address: tokens, isThere: held !== null },
    quote: { address: quote, isThere: paid !== null },
  }
}

/** What the creator can do now, as the record of a raise says it. */
export const creatorsDue = ({ state: { raise }, due }: Pick<Settlement, 'state' | 'due'>): RaiseRecord['due'] =>
  due.acts.map((act) => ({
    act,
    by: 'creator',
    text: settlementText(act, raise.unsold),
  }))

/** Says what the settler should know beside the amounts. */
export function settlementWarnings({ state, due, quote }: Settlement, acts: readonly SettlementAct[]): Said[] {
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
      `What does not go into the pool arrives as wrapped SOL in ${quote.address}`,
  ]
}
