/** `svc raises settle`: takes what was raised, opens the planned pool, and does what else is due for the creator. */
import { paths } from '../../src/api/paths.ts'
import type { RaisePool, RaiseSettlement, SettlementAct } from '../../src/api/raises.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { uncapitalized } from '../../src/platform/printable.ts'
import { addressBytes } from '../../src/solana/addresses.ts'
import { DAMM_V2 } from '../../src/solana/programs/damm-v2.ts'
import { PRESALE, PRESALE_SEEDS } from '../../src/solana/programs/presale.ts'
import { PRICE_ONE } from '../../src/solana/raise-amounts.ts'
import { settlementText } from '../../src/solana/raise-due.ts'
import { FULL_RANGE } from '../../src/solana/raise-pool.ts'
import { rawUnits, tokensText, unitsOfAll } from '../cli/amounts.ts'
import { type CommandOutcome, text, toggle, verb } from '../cli/command.ts'
import { isoOf } from '../cli/typed-times.ts'
import { type Call, demanding, opens, type Signing, unexpectedBuild, wraps } from '../signing/demand.ts'
import { previewLines } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { presaleCall, RAISE_ARG, readProvenRaise } from './proven-raise.ts'
import { poolPlan } from './terms.ts'

interface Settling {
  id: string
  mint: string
  quoteMint: string
  acts: readonly SettlementAct[]
  /** Raw units that go into the pool. */
  pool: { quote: bigint; tokens: bigint }
  /** The plan as it was typed, or as the API keeps it; null without one, and if the pool is skipped. */
  plan: RaisePool | null
  /** Unix seconds of the first trade in a pool that opens before the end; null once the raise has ended. */
  opensAt: number | null
}

/** The pool rounds its amounts, so that they differ by less than a thousandth. */
const isNear = (amount: bigint, wanted: bigint): boolean =>
  (amount > wanted ? amount - wanted : wanted - amount) * 1_000n <= wanted

/** The first price of the pool is that of its amounts, but for rounding. */
function isPriceOf({ quote, tokens }: Settling['pool']): (value: string) => boolean {
  return (value) => {
    const root = BigInt(value)
    return isNear(root * root * tokens, quote * PRICE_ONE * PRICE_ONE)
  }
}

/** The calls that an act implies. All that they pay goes to accounts of the creator, who signs. */
async function settlementCalls(of: Signing, asked: Settling): Promise<Call[]> {
  const { payer } = of
  const { id: presale, mint, quoteMint, acts, pool } = asked
  const [quotes, tokens] = await Promise.all([of.accounts(quoteMint, payer), of.accounts(mint, payer)])
  const poolCall = (name: string, fields: Call['fields']): Call => ({ program: DAMM_V2.id, call: name, fields })
  const { deriveAddress } = await import('../../src/solana/program-addresses.ts')
  const pair = [addressBytes(mint), addressBytes(quoteMint)].sort(Buffer.compare)
  const { address } = deriveAddress(DAMM_V2.id, Buffer.from('cpool'), pair[1] as Uint8Array, pair[0] as Uint8Array)
  const { address: price } = deriveAddress(PRESALE.id, ...PRESALE_SEEDS.fixedPriceArgs(presale))
  const own = { pool: address, token_a_mint: mint, token_b_mint: quoteMint }
  const whole = pool.quote * pool.tokens * PRICE_ONE * PRICE_ONE
  const share = BigInt(asked.plan?.locked_bps ?? 0)
  const { opensAt } = asked
  const callsOf: Record<SettlementAct, Call> = {
    withdraw: presaleCall('creator_withdraw', { presale, owner: payer, owner_token: quotes, token_mint: quoteMint }),
    withdraw_tokens: presaleCall('creator_withdraw', { presale, owner: payer, owner_token: tokens, token_mint: mint }),
    open_pool: poolCall('initialize_customizable_pool', {
      ...own,
      creator: payer,
      payer,
      payer_token_a: tokens,
      payer_token_b: quotes,
      has_alpha_vault: 'false',
      compounding_fee_bps: 0,
      dynamic_fee: 'none',
      sqrt_min_price: FULL_RANGE.lowest,
      sqrt_max_price: FULL_RANGE.highest,
      activation_type: 1,
      collect_fee_mode: 1,
      sqrt_price: isPriceOf(pool),
      liquidity: (value) => isNear(BigInt(value) ** 2n, whole),
      data: isFeeOf(asked.plan),
      activation_point: opensAt === null ? 'none' : (value) => Math.abs(Number(value) - opensAt) <= 1,
    }),
    add_liquidity: poolCall('add_liquidity', {
      ...own,
      signer: payer,
      token_a_account: tokens,
      token_b_account: quotes,
      token_a_amount_threshold: (value) => isNear(BigInt(value), pool.tokens),
      token_b_amount_threshold: (value) => isNear(BigInt(value), pool.quote),
    }),
    lock_liquidity: poolCall('permanent_lock_position', {
      pool: address,
      signer: payer,
      permanent_lock_liquidity: (value) => isNear(BigInt(value) ** 2n * BigInt(WHOLE_BPS) ** 2n, whole * share ** 2n),
    }),
    collect_fee: presaleCall('creator_collect_fee', { presale, owner: payer, fee_receiving_account: quotes }),
    unsold: presaleCall('perform_unsold_base_token_action', { presale, base_mint: mint, creator_base_token: tokens }),
    close_price: presaleCall('close_fixed_price_presale_args', { fixed_price_presale_args: price, owner: payer }),
  }
  return [
    opens(payer, payer, [mint, quoteMint], 2),
    ...(opensAt !== null && acts.includes('open_pool') ? await wraps(of, payer, pool.quote) : []),
    ...acts.map((act) => callsOf[act]),
  ]
}

const WHOLE_BPS = 10_000
/** The pool counts its fee in parts of 10^9, in the first eight bytes; all others of a fee that stays are 0. */
const isFeeOf = (plan: RaisePool | null) => (value: string) => {
  const fee = Buffer.alloc(27)
  fee.writeBigUInt64LE(BigInt(plan?.fee_bps ?? 0) * 100_000n)
  return value === fee.toString('hex')
}

/** No settlement needs more. */
const MOST_TRANSACTIONS = 8
const POOL_ACTS: readonly SettlementAct[] = ['open_pool', 'add_liquidity', 'lock_liquidity']
const isOfPool = (act: SettlementAct) => POOL_ACTS.includes(act)

/** Throws if the API adds the pool to a settlement without one, or locks liquidity that it does not add. */
function requireActs({ acts, plan, opensAt }: Settling): void {
  const ofPool = acts.filter(isOfPool)
  if (plan === null && ofPool.length > 0)
    throw unexpectedBuild(`it would ${uncapitalized(settlementText(ofPool[0] as SettlementAct, 'return'))}`)
  const adds = ofPool.some((act) => act !== 'lock_liquidity')
  if (ofPool.length > 0 && !adds) throw unexpectedBuild('it would lock liquidity that it does not add')
  // What opens before the end is locked with the rest.
  if (adds && opensAt === null && (plan?.locked_bps ?? 0) > 0 && !acts.includes('lock_liquidity'))
    throw unexpectedBuild('it would lock nothing, although the plan says so')
}

const demandsSettlement = demanding('only acts of this raise and its pool, paid to your accounts', settlementCalls)

export const settleVerb = verb({
  about: 'Do what is due for the creator of a raise: take what was raised, and open its pool',
  details:
    'One transaction does as much as it has room for, and the command goes on until nothing is due. It can be repeated: what is done shows on chain. The pool follows from the plan that the API keeps, so without a terminal --pool-quote and --pool-tokens must say its amounts in raw units (--raw), and --then-pool the plan.',
  calls: [paths.raises.settle, paths.raises.get, ...ACT_CALLS],
  args: { raise: RAISE_ARG },
  flags: {
    skip_pool: toggle('Take what was raised without the planned pool', { conflicts: ['then_pool'] }),
    then_pool: text('The plan of the pool, as `svc raises create` was given it: its fee and its lock', {
      placeholder: 'PLAN|FILE',
    }),
    pool_quote: text('What goes into the pool, in whole SOL or tokens, to a thousandth', { placeholder: 'AMOUNT' }),
    pool_tokens: text('Whole tokens that go into the pool, to a thousandth', { placeholder: 'AMOUNT' }),
    raw: toggle('--pool-quote and --pool-tokens are raw units'),
    ...ACT_SIGNING,
  },
  examples: [
    'svc raises settle GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
    'svc raises settle GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --skip-pool --dry-run',
  ],
  async run({ raise: id, skip_pool, then_pool, pool_quote, pool_tokens, raw, ...flags }, session) {
    const raise = await readProvenRaise(session, id)
    const { decimals, quote_decimals } = raise
    const typed = {
      quote: pool_quote === undefined ? null : rawUnits(pool_quote, raw ? 0 : quote_decimals, '--pool-quote'),
      tokens: pool_tokens === undefined ? null : rawUnits(pool_tokens, raw ? 0 : decimals, '--pool-tokens'),
    }
    const kept = skip_pool ? null : raise.pool
    const plan = then_pool === undefined ? kept : await poolPlan(then_pool, 0n, null)
    const isEarly = plan?.when === 'before_end' && (raise.state === 'not_started' || raise.state === 'ongoing')
    const opensAt = isEarly ? Date.parse(raise.ends_at) / 1_000 + plan.opens_after_seconds : null
    const says = (acts: readonly SettlementAct[]) => acts.map((act) => uncapitalized(settlementText(act, raise.unsold)))
    const quoteText = (units: string) => `${tokensText(units, quote_decimals)} of ${raise.quote_mint}`
    const tokenText = (units: string) => `${tokensText(units, decimals)} of ${raise.mint}`
    const inPool = ({ pool_quote, pool_tokens }: RaiseSettlement) => [quoteText(pool_quote), tokenText(pool_tokens)]
    const answers: RaiseSettlement[] = []
    const signatures: string[] = []
    for (;;) {
      const outcome = await runAct<RaiseSettlement>(session, flags, {
        what: `Settle the raise ${id}`,
        call: (body, options) =>
          session.client.raises.settle({ id, ...(skip_pool ? { skip_pool } : {}), ...body }, options),
        demand(of, data) {
          const { acts } = data
          const pool = { quote: BigInt(data.pool_quote), tokens: BigInt(data.pool_tokens) }
          const asked = { id, mint: raise.mint, quoteMint: raise.quote_mint, acts, pool, plan, opensAt }
          requireActs(asked)
          if (acts.includes('open_pool') || acts.includes('add_liquidity')) {
            requireTyped(of, pool, typed, `the pool gets ${inPool(data).join(' and ')}`)
            // Other decimals would be another price.
            if (!raw) of.apiSays(`${raise.mint} has ${decimals} decimals`, '--raw')
          }
          if (then_pool === undefined && plan !== null && acts.some(isOfPool))
            of.apiSays(`the plan of the pool: ${termsText(plan)}`, '--then-pool')
          return demandsSettlement(of, asked)
        },
        preview: (data) =>
          previewLines({
            does: says(data.acts),
            arrives: data.quote !== '0' && quoteText(data.quote),
            tokens: data.tokens !== '0' && tokenText(data.tokens),
            pool: data.pool_tokens !== '0' && inPool(data).join(', '),
            trades:
              opensAt !== null &&
              data.acts.includes('open_pool') &&
              `in the pool from ${timeText(isoOf(BigInt(opensAt)))}; settle again before`,
            terms: plan !== null && data.acts.some(isOfPool) && termsText(plan),
            later: data.left.length > 0 && says(data.left).join('; '),
            note: (data.warnings ?? []).map(printable),
          }),
        show(data) {
          answers.push(data)
          return { id, ...together(answers) }
        },
        decimals: {
          ...unitsOfAll(['quote', 'pool_quote'], quote_decimals),
          ...unitsOfAll(['tokens', 'pool_tokens'], decimals),
        },
      }).catch((error: unknown): CommandOutcome => {
        if (!(error instanceof ApiError) || error.details?.reason !== 'settled') throw error
        session.ui.note(error.message)
        return { data: { id, acts: answers.flatMap(({ acts }) => acts), left: [] } }
      })
      const sent = outcome.data as { signature?: string; left?: SettlementAct[] }
      const { signature, left = [] } = sent
      if (signature !== undefined) signatures.push(signature)
      const goesOn =
        left.length > 0 && !flags.dry_run && !flags.build_only && !flags.signed && flags.squads === undefined
      if (!goesOn || signatures.length === MOST_TRANSACTIONS) {
        if (signatures.length === 0 || signatures[0] === signature) return outcome
        return { ...outcome, data: { ...sent, signatures }, record: { ...outcome.record, signatures } }
      }
      session.ui.note(`Also due: ${says(left).join('; ')}`)
    }
  },
})

/** What the transactions of a run do together. */
function together(answers: readonly RaiseSettlement[]) {
  const sum = (field: 'quote' | 'tokens') => String(answers.reduce((all, each) => all + BigInt(each[field]), 0n))
  const { left = [], pool_address } = answers.at(-1) ?? {}
  const { pool_quote = '0', pool_tokens = '0' } = answers.findLast((each) => each.pool_tokens !== '0') ?? {}
  const sums = { quote: sum('quote'), tokens: sum('tokens'), pool_quote, pool_tokens }
  return { acts: answers.flatMap(({ acts }) => acts), left, pool_address, ...sums }
}

const termsText = ({ fee_bps, locked_bps }: RaisePool): string =>
  `a trading fee of ${fee_bps / 100} %, ${locked_bps / 100} % of the liquidity locked for good`

function requireTyped(
  of: Signing,
  pool: Settling['pool'],
  typed: Record<keyof Settling['pool'], bigint | null>,
  says: string,
): void {
  if (typed.quote === null) of.apiSays(says, '--pool-quote')
  if (typed.tokens === null) of.apiSays(says, '--pool-tokens')
  if (isNear(pool.quote, typed.quote ?? pool.quote) && isNear(pool.tokens, typed.tokens ?? pool.tokens)) return
  throw usage(`--pool-quote and --pool-tokens differ: ${says}`, { param: '--pool-quote' })
}
