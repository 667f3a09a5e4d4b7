/** `svc raises settle`: takes what was raised, opens the planned pool, and does what else is due for the creator. */
import { paths } from '../../src/api/paths.ts'
import type { RaiseSettlement, SettlementAct } from '../../src/api/raises.ts'
import { DAMM_V2 } from '../../src/solana/programs/damm-v2.ts'
import { PRESALE } from '../../src/solana/programs/presale.ts'
import { rawUnits, tokensText, unitsOfAll } from '../cli/amounts.ts'
import { type CommandOutcome, required, text, toggle, verb } from '../cli/command.ts'
import { readKey } from '../merkle/built-record.ts'
import { type Call, demanding, opens, type Signing, wraps } from '../signing/demand.ts'
import { previewLines } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'

interface Settling {
  id: string
  mint: string
  quoteMint: string
  acts: readonly SettlementAct[]
  /** Raw units that go into the pool. */
  pool: { quote: bigint; tokens: bigint }
}

/** What each act is for whoever signs it. */
export const ACT_WORDS: Record<SettlementAct, string> = {
  withdraw: 'take what was raised',
  withdraw_tokens: 'take the tokens back, because the raise failed',
  open_pool: 'open the pool of the plan',
  add_liquidity: 'add what was raised to the pool',
  lock_liquidity: 'lock liquidity of the pool for good',
  collect_fee: 'collect the deposit fees',
  unsold: 'return or burn the unsold tokens',
  close_price: 'close the account of the price',
}

/** The pool rounds its amounts, so that they differ by less than a thousandth. */
const isNear = (amount: bigint, wanted: bigint): boolean =>
  (amount > wanted ? amount - wanted : wanted - amount) * 1_000n <= wanted

const SCALE = 1n << 64n
/** The first price of the pool is that of its amounts, but for rounding. */
function isPriceOf({ quote, tokens }: Settling['pool']): (value: string) => boolean {
  return (value) => {
    const root = BigInt(value)
    return isNear(root * root * tokens, quote * SCALE * SCALE)
  }
}

/** The calls that an act implies. All that they pay goes to accounts of the creator, who signs. */
async function settlementCalls(of: Signing, asked: Settling): Promise<Call[]> {
  const { payer } = of
  const { id: presale, mint, quoteMint, acts, pool } = asked
  const [quotes, tokens] = await Promise.all([of.accounts(quoteMint, payer), of.accounts(mint, payer)])
  const call = (name: string, fields: Call['fields']): Call => ({ program: PRESALE.id, call: name, fields })
  const poolCall = (name: string, fields: Call['fields']): Call => ({ program: DAMM_V2.id, call: name, fields })
  const own = { token_a_mint: mint, token_b_mint: quoteMint }
  const callsOf: Record<SettlementAct, Call> = {
    withdraw: call('creator_withdraw', { presale, owner: payer, owner_token: quotes, token_mint: quoteMint }),
    withdraw_tokens: call('creator_withdraw', { presale, owner: payer, owner_token: tokens, token_mint: mint }),
    open_pool: poolCall('initialize_customizable_pool', {
      ...own,
      creator: payer,
      payer,
      payer_token_a: tokens,
      payer_token_b: quotes,
      has_alpha_vault: 'false',
      sqrt_price: isPriceOf(pool),
    }),
    add_liquidity: poolCall('add_liquidity', {
      ...own,
      signer: payer,
      token_a_account: tokens,
      token_b_account: quotes,
    }),
    lock_liquidity: poolCall('permanent_lock_position', { signer: payer }),
    collect_fee: call('creator_collect_fee', { presale, owner: payer, fee_receiving_account: quotes }),
    unsold: call('perform_unsold_base_token_action', { presale, base_mint: mint, creator_base_token: tokens }),
    close_price: call('close_fixed_price_presale_args', { owner: payer }),
  }
  const opensEarly = acts.includes('open_pool') && !acts.includes('withdraw')
  return [
    opens(payer, payer, [mint, quoteMint], 2),
    ...(opensEarly ? await wraps(of, payer, pool.quote) : []),
    ...acts.map((act) => callsOf[act]),
  ]
}

export const demandsSettlement = demanding(
  'only acts of this raise and its pool, paid to your accounts',
  settlementCalls,
)

export const settleVerb = verb({
  about: 'Do what is due for the creator of a raise: take what was raised, and open its pool',
  details:
    'One transaction does as much as it has room for, and the command goes on until nothing is due. It can be repeated: what is done shows on chain. The amounts of the pool follow from the plan that the API keeps, so without a terminal --pool-quote and --pool-tokens must say them.',
  calls: [paths.raises.settle, paths.raises.get, ...ACT_CALLS],
  args: { raise: { ...required(text('Address of the raise', { placeholder: 'RAISE' })), field: 'id' } },
  flags: {
    skip_pool: toggle('Take what was raised without the planned pool'),
    pool_quote: text('What goes into the pool, in whole SOL or tokens, to a thousandth', { placeholder: 'AMOUNT' }),
    pool_tokens: text('Whole tokens that go into the pool, to a thousandth', { placeholder: 'AMOUNT' }),
    ...ACT_SIGNING,
  },
  examples: [
    'svc raises settle GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
    'svc raises settle GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --skip-pool --dry-run',
  ],
  async run({ raise: id, skip_pool, pool_quote, pool_tokens, ...flags }, session) {
    readKey(id, 'RAISE')
    const { data: raise } = await session.client.raises.get({ id })
    const { decimals, quote_decimals } = raise
    const typed = {
      quote: pool_quote === undefined ? null : rawUnits(pool_quote, quote_decimals, '--pool-quote'),
      tokens: pool_tokens === undefined ? null : rawUnits(pool_tokens, decimals, '--pool-tokens'),
    }
    const quoteText = (units: string) => `${tokensText(units, quote_decimals)} of ${raise.quote_mint}`
    const tokenText = (units: string) => `${tokensText(units, decimals)} of ${raise.mint}`
    const outcomes: CommandOutcome[] = []
    for (let isDone = false; !isDone; ) {
      let left: readonly SettlementAct[] = []
      const outcome = await runAct<RaiseSettlement>(session, flags, {
        what: `Settle the raise ${id}`,
        call: (body, options) =>
          session.client.raises.settle({ id, ...(skip_pool ? { skip_pool } : {}), ...body }, options),
        demand(of, { acts, pool_quote: quote, pool_tokens: tokens }) {
          const pool = { quote: BigInt(quote), tokens: BigInt(tokens) }
          if (acts.includes('open_pool') || acts.includes('add_liquidity'))
            requireTyped(of, pool, typed, quoteText, tokenText)
          return demandsSettlement(of, { id, mint: raise.mint, quoteMint: raise.quote_mint, acts, pool })
        },
        preview: (data) => [
          ...data.acts.map((act) => ACT_WORDS[act]),
          ...previewLines({
            arrives: data.quote !== '0' && quoteText(data.quote),
            tokens: data.tokens !== '0' && tokenText(data.tokens),
            pool: data.pool_tokens !== '0' && `${quoteText(data.pool_quote)}, ${tokenText(data.pool_tokens)}`,
            locked: data.locked_bps > 0 && `${data.locked_bps / 100} % of the liquidity, for good`,
            later: data.left.length > 0 && data.left.map((act) => ACT_WORDS[act]).join('; '),
            warnings: data.warnings?.map(printable).join('; ') ?? false,
          }),
        ],
        show(data) {
          left = data.left
          const { acts, quote, tokens, pool_address, pool_quote: paid, pool_tokens: put } = data
          return { id, acts, left, quote, tokens, pool_address, pool_quote: paid, pool_tokens: put }
        },
        decimals: {
          ...unitsOfAll(['quote', 'pool_quote'], quote_decimals),
          ...unitsOfAll(['tokens', 'pool_tokens'], decimals),
        },
      })
      outcomes.push(outcome)
      const goesOn =
        left.length > 0 && !flags.dry_run && !flags.build_only && !flags.signed && flags.squads === undefined
      isDone = !goesOn
      if (goesOn) session.ui.note(`Also due: ${left.map((act) => ACT_WORDS[act]).join('; ')}`)
    }
    return outcomes.at(-1) as CommandOutcome
  },
})

function requireTyped(
  of: Signing,
  pool: Settling['pool'],
  typed: { quote: bigint | null; tokens: bigint | null },
  quoteText: (units: string) => string,
  tokenText: (units: string) => string,
): void {
  const says = `the pool gets ${quoteText(String(pool.quote))} and ${tokenText(String(pool.tokens))}`
  if (typed.quote === null) of.apiSays(says, '--pool-quote')
  if (typed.tokens === null) of.apiSays(says, '--pool-tokens')
  if (isNear(pool.quote, typed.quote ?? pool.quote) && isNear(pool.tokens, typed.tokens ?? pool.tokens)) return
  throw usage(`--pool-quote and --pool-tokens differ: ${says}`, { param: '--pool-quote' })
}
