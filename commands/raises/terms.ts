/** The terms of a new raise as people type them: as the program takes them, and as they are requested. */
import type { RaisePool } from '../../src/api/raises.ts'
import { costOf, priceOfText, type RaiseDecimals, tokensAt } from '../../src/solana/raise-amounts.ts'
import type { RaiseMode, RaiseRound, RaiseTerms } from '../../src/solana/raises.ts'
import type { TransferFee } from '../../src/solana/token-extensions.ts'
import { sentFor } from '../../src/solana/transfer-fees.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { rawUnits } from '../cli/amounts.ts'
import { choiceOf, type InputValues, listOf, required, text, toggle } from '../cli/command.ts'
import { isoOf, requireMomentFrom, requireSpan, spanOf } from '../cli/typed-times.ts'
import { basisPointsOf } from '../tokens/extension-flags.ts'
import { readText } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'

const filling = <I extends object>(field: string, input: I): I & { field: string } => ({ ...input, field })
const AMOUNT = { placeholder: 'AMOUNT' }
const PERCENT = { placeholder: 'PERCENT' }
const SPAN = { placeholder: 'SPAN' }
const TIME = { placeholder: 'TIME|SPAN' }
const OF_ROUND = { conflicts: ['round'] }
const ROUND_KEYS = ['supply', 'buyer-min', 'buyer-max', 'deposit-fee'] as const
/** Plans of a pool that have a name. The reserve follows from the supply. */
const POOL_PLANS: Readonly<Record<string, Omit<RaisePool, 'reserve'>>> = {
  standard: {
    ...{ quote_bps: 5_000, price: 'raise', price_bps: 10_000, fee_bps: 100, locked_bps: 10_000, when: 'after' },
    opens_after_seconds: 600,
  },
}
/** With a plan of a pool, nobody gets tokens for this time after the end. */
const POOL_LOCK_SECONDS = 3_600n

export const TERM_FLAGS = {
  sale_mode: required(choiceOf(['fixed_price', 'pro_rata', 'first_come'], 'How tokens are sold')),
  min: required(text('Least that must be deposited, or all is refunded: SOL, or whole tokens of --quote', AMOUNT)),
  max: required(text('Most that is taken', AMOUNT)),
  price: text('Fixed price: SOL for one whole token', { ...AMOUNT, conflicts: ['supply'] }),
  supply: text('Whole tokens for sale; at a fixed price --max divided by it is the price', {
    ...AMOUNT,
    ...OF_ROUND,
  }),
  starts: filling('starts_at', text('When it starts, or after which span (default now)', TIME)),
  ends: filling('ends_at', required(text('When it ends, or how long it lasts, such as 7d', TIME))),
  buyer_min: text('Least that one buyer pays', { ...AMOUNT, ...OF_ROUND }),
  buyer_max: text('Most that one buyer pays', { ...AMOUNT, ...OF_ROUND }),
  deposit_fee: filling(
    'deposit_fee_bps',
    text('Your fee on top of each deposit, such as 1%', { ...PERCENT, ...OF_ROUND }),
  ),
  release: filling('release_bps', text('Part of the tokens that buyers get at once, such as 25%', PERCENT)),
  release_at: text('When they get this part, or how long after the end (default at the end)', TIME),
  lock: filling('lock_seconds', text('How long after the end the rest is locked (with --then-pool: 1h)', SPAN)),
  vesting: filling('vesting_seconds', text('For how long the rest vests after that', SPAN)),
  unsold: choiceOf(['return', 'burn'], 'What happens to unsold tokens (default return)'),
  to_the_end: filling('early_end', toggle('It goes on to its end, also with the maximum reached')),
  withdrawable: toggle('At a fixed price: buyers can withdraw before the end'),
  allowlist: toggle('Only wallets of an allowlist can deposit: `svc raises open`'),
  round: filling(
    'rounds',
    listOf('One of 2 to 5 rounds, such as supply=1000,deposit-fee=1%; repeat it', { placeholder: 'TERMS' }),
  ),
  then_pool: filling(
    'pool',
    text('Plan of the pool that opens afterwards: standard, or a JSON file', { placeholder: 'PLAN|FILE' }),
  ),
  raw: toggle('Amounts are raw units, not whole tokens; --price is not'),
}
type TermInput = InputValues<typeof TERM_FLAGS>

/** What a raise sells and takes, and the chain's clock. */
export interface RaiseUnits {
  decimals: RaiseDecimals
  fee: TransferFee | null
  now: bigint
}

export interface AskedTerms extends RaiseTerms {
  price: bigint | null
  withdrawable: boolean
  supply: bigint
  rounds: RaiseRound[]
  pool: RaisePool | null
  /** Whether the chain's clock says the start or the end. */
  isByClock: boolean
  /** Whether it starts with its creation. */
  startsNow: boolean
}

/** Throws a usage problem that names the flag that is wrong; the API knows which terms fit together. */
export async function askedTerms(input: TermInput, units: RaiseUnits): Promise<AskedTerms> {
  const { decimals, now } = units
  const paid = (typed: string, shown: string) => amountOf(typed, input.raw ? 0 : decimals.quote, shown)
  const [minimum, maximum] = [paid(input.min, '--min'), paid(input.max, '--max')]
  const mode: RaiseMode = input.sale_mode
  const typed = input.round === undefined ? [input] : roundsIn(input.round)
  const sold = typed.map(({ supply }) =>
    supply === undefined ? null : amountOf(supply, input.raw ? 0 : decimals.token, '--supply'),
  )
  const price = priceIn(mode, input.price, {
    decimals,
    maximum,
    total: sold.reduce((sum: bigint, one) => sum + (one ?? 0n), 0n),
  })
  const least = price === null ? 1n : costOf(price, 1n)
  const rounds = typed.map(({ buyer_min: low, buyer_max: high, deposit_fee: share }, i) => ({
    supply: sold[i] ?? (price === null ? missingSupply() : tokensAt(price, maximum)),
    buyerMin: low === undefined ? least : paid(low, '--buyer-min'),
    buyerMax: high === undefined ? maximum : paid(high, '--buyer-max'),
    feeBps: share === undefined ? 0 : basisPointsOf(share, '--deposit-fee', { least: 0, most: 5_000 }),
  }))
  const supply = rounds.reduce((sum, round) => sum + round.supply, 0n)
  const pool = input.then_pool === undefined ? null : await poolPlan(input.then_pool, supply, units.fee)
  const starts = input.starts === undefined ? now : requireMomentFrom(input.starts, '--starts', now)
  const startsAt = starts > now ? starts : now
  return {
    ...{ mode, minimum, maximum, price, supply, rounds, pool, startsAt },
    ...{ unsold: input.unsold ?? 'return', allowlist: input.allowlist ? 'merkle' : 'none' },
    earlyEnd: mode !== 'pro_rata' && !input.to_the_end,
    withdrawable: mode === 'pro_rata' || input.withdrawable,
    ...releaseIn(input, {
      endsAt: requireMomentFrom(input.ends, '--ends', startsAt),
      isPlanned: pool?.when === 'after',
    }),
    startsNow: starts <= now,
    isByClock: starts <= now || [input.starts ?? '', input.ends].some((time) => spanOf(time) !== null),
  }
}

function amountOf(typed: string, digits: number, shown: string): bigint {
  const amount = rawUnits(typed, digits, shown)
  if (amount > 0n && amount <= MAX_U64) return amount
  throw usage(`${shown} must be more than 0, and at most ${MAX_U64} raw units`, { param: shown })
}

const missingSupply = (): never => {
  throw usage('--supply says how many tokens are for sale: without a fixed price none follows', { param: '--supply' })
}

function priceIn(
  mode: RaiseMode,
  typed: string | undefined,
  { decimals, maximum, total }: { decimals: RaiseDecimals; maximum: bigint; total: bigint },
): bigint | null {
  if (mode !== 'fixed_price') {
    if (typed === undefined) return null
    throw usage('--price is only for --sale-mode fixed_price: here the deposits make the price', { param: '--price' })
  }
  const price = typed === undefined ? total && ((maximum << 64n) + total - 1n) / total : priceOfText(typed, decimals)
  if (price) return price
  throw usage(`--price must be a number like 0.001, not "${typed ?? ''}"`, { param: '--price' })
}

type TypedRound = Partial<Record<'supply' | 'buyer_min' | 'buyer_max' | 'deposit_fee', string | undefined>>

/** The texts of all --round, which a comma has divided; each begins with its supply. */
function roundsIn(parts: readonly string[]): TypedRound[] {
  const rounds: Record<string, string>[] = []
  for (const part of parts) {
    const [key = '', value = ''] = part.split('=').map((each) => each.trim())
    if (!(ROUND_KEYS as readonly string[]).includes(key) || value === '') {
      throw usage(`--round has ${ROUND_KEYS.join(', ')}, such as supply=1000,buyer-max=5, not "${part}"`, {
        param: '--round',
      })
    }
    if (key === 'supply') rounds.push({})
    const round = rounds.at(-1)
    const name = key.replace('-', '_')
    if (round === undefined) throw usage('--round begins with its supply', { param: '--round' })
    if (name in round) throw usage(`--round has ${key} twice`, { param: '--round' })
    round[name] = value
  }
  return rounds
}

type Release = Pick<AskedTerms, 'endsAt' | 'releaseBps' | 'releaseAt' | 'lockSeconds' | 'vestingSeconds'>

function releaseIn(
  { release, release_at, lock, vesting }: TermInput,
  { endsAt, isPlanned }: { endsAt: bigint; isPlanned: boolean },
): Release {
  const lockSeconds = lock === undefined ? (isPlanned ? POOL_LOCK_SECONDS : 0n) : requireSpan(lock, '--lock')
  const vestingSeconds = vesting === undefined ? 0n : requireSpan(vesting, '--vesting')
  const usual = lockSeconds + vestingSeconds > 0n ? 0 : 10_000
  const releaseBps = release === undefined ? usual : basisPointsOf(release, '--release', { least: 0, most: 10_000 })
  const at = release_at === undefined ? endsAt : requireMomentFrom(release_at, '--release-at', endsAt)
  return { endsAt, lockSeconds, vestingSeconds, releaseBps, releaseAt: releaseBps === 0 ? 0n : at }
}

/** A plan by its name or in a file. Throws a usage problem that names the field that is wrong. */
async function poolPlan(named: string, supply: bigint, fee: TransferFee | null): Promise<RaisePool> {
  if (Object.hasOwn(POOL_PLANS, named)) {
    const plan = POOL_PLANS[named] as Omit<RaisePool, 'reserve'>
    const needed = (supply * BigInt(plan.quote_bps) + 9_999n) / 10_000n
    return { ...plan, reserve: String(sentFor(fee, needed)) }
  }
  const refuse = (why: string) =>
    usage(`--then-pool ${named}: ${why}`, {
      param: '--then-pool',
      next: `give ${Object.keys(POOL_PLANS).join(', ')}, or a JSON file with the fields of docs/raises.md`,
    })
  const [{ raisePool }, { validateInput }] = await Promise.all([
    import('../../src/api/raises.ts'),
    import('../../src/api/input-validation.ts'),
  ])
  const content = await readText(named)
  try {
    return validateInput(raisePool, JSON.parse(content))
  } catch (error) {
    throw refuse(error instanceof SyntaxError ? 'is not JSON' : (error as Error).message)
  }
}

/** The request, with what follows from defaults said, so that nothing is left to the API. */
export function requestedTerms(terms: AskedTerms, input: TermInput) {
  const { mode, price, rounds, pool, allowlist } = terms
  const fields = rounds.map((round, i) => {
    const typed = input.round === undefined ? input : (roundsIn(input.round)[i] ?? {})
    return {
      ...(typed.buyer_min === undefined ? {} : { buyer_min: String(round.buyerMin) }),
      ...(typed.buyer_max === undefined ? {} : { buyer_max: String(round.buyerMax) }),
      deposit_fee_bps: round.feeBps,
      supply: String(round.supply),
    }
  })
  const { supply, ...single } = fields[0] ?? { supply: '', deposit_fee_bps: 0 }
  return {
    ...{ sale_mode: mode, min: String(terms.minimum), max: String(terms.maximum), ends_at: isoOf(terms.endsAt) },
    ...(input.round === undefined ? single : { rounds: fields }),
    ...(input.round === undefined && input.price === undefined ? { supply } : {}),
    ...(price === null || input.price === undefined ? {} : { price: input.price }),
    ...(input.starts === undefined ? {} : { starts_at: isoOf(terms.startsAt) }),
    ...{ release_bps: terms.releaseBps, lock_seconds: Number(terms.lockSeconds) },
    ...{ vesting_seconds: Number(terms.vestingSeconds), unsold: terms.unsold, early_end: !input.to_the_end },
    ...(input.release_at === undefined ? {} : { release_at: isoOf(terms.releaseAt) }),
    ...(mode === 'fixed_price' || input.withdrawable ? { withdrawable: input.withdrawable } : {}),
    ...{ allowlist: allowlist !== 'none' },
    ...(pool === null ? {} : { pool }),
  }
}
