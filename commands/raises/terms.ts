/** The terms of a new raise as people type them: as the program takes them, and as they are requested. */
import type { RaisePool } from '../../src/api/raises.ts'
import type { RaiseDecimals } from '../../src/solana/raise-amounts.ts'
import { type AskedRaise, raiseTerms } from '../../src/solana/raise-terms.ts'
import type { RaiseTerms } from '../../src/solana/raises.ts'
import type { TransferFee } from '../../src/solana/token-extensions.ts'
import { sentFor } from '../../src/solana/transfer-fees.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { rawUnits } from '../cli/amounts.ts'
import { choiceOf, type InputValues, listOf, required, text, toggle } from '../cli/command.ts'
import { isoOf, requireMomentFrom, requireSpan, spanOf } from '../cli/typed-times.ts'
import { basisPointsOf } from '../tokens/extension-flags.ts'
import { readJson } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'

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

export const TERM_FLAGS = {
  sale_mode: required(choiceOf(['fixed_price', 'pro_rata', 'first_come'], 'How tokens are sold')),
  min: required(text('Least that must be deposited, or all is refunded: SOL, or whole tokens of --quote', AMOUNT)),
  max: required(text('Most that is taken', AMOUNT)),
  price: text('Fixed price: SOL for one whole token', { ...AMOUNT, conflicts: ['supply'] }),
  supply: text('Whole tokens for sale; at a fixed price --max divided by it is the price', {
    ...AMOUNT,
    ...OF_ROUND,
  }),
  starts: text('When it starts, or after which span (default now)', { ...TIME, field: 'starts_at' }),
  ends: required(text('When it ends, or how long it lasts, such as 7d', { ...TIME, field: 'ends_at' })),
  buyer_min: text('Least that one buyer pays', { ...AMOUNT, ...OF_ROUND }),
  buyer_max: text('Most that one buyer pays', { ...AMOUNT, ...OF_ROUND }),
  deposit_fee: text('Your fee on top of each deposit, such as 1%', {
    ...PERCENT,
    ...OF_ROUND,
    field: 'deposit_fee_bps',
  }),
  release: text('Part of the tokens that buyers get at once, such as 25%', { ...PERCENT, field: 'release_bps' }),
  release_at: text('When they get this part, or how long after the end (default at the end)', TIME),
  lock: text('How long after the end the rest is locked (with --then-pool: 1h)', {
    ...SPAN,
    field: 'lock_seconds',
  }),
  vesting: text('For how long the rest vests after that', { ...SPAN, field: 'vesting_seconds' }),
  unsold: choiceOf(['return', 'burn'], 'What happens to unsold tokens (default return)'),
  to_the_end: toggle('It goes on to its end, also with the maximum reached', { field: 'early_end' }),
  withdrawable: toggle('At a fixed price: buyers can withdraw before the end'),
  allowlist: toggle('Only wallets of an allowlist can deposit: `svc raises open`'),
  round: listOf('One of 2 to 5 rounds, such as supply=1000,deposit-fee=1%; repeat it', {
    placeholder: 'TERMS',
    field: 'rounds',
  }),
  then_pool: text('Plan of the pool that opens afterwards: standard, or a JSON file', {
    placeholder: 'PLAN|FILE',
    field: 'pool',
  }),
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
  /** The fields that say the terms, with what follows from defaults, so that nothing is left to the API. */
  request: Omit<AskedRaise, 'rounds'> & { rounds?: (ReturnType<typeof limitsOf> & { supply: string })[] }
  pool: RaisePool | null
  /** Whether the chain's clock says the start or the end. */
  isByClock: boolean
  /** Whether it starts with its creation. */
  startsNow: boolean
}

/** Throws a usage problem that names the flag that is wrong; the API knows which terms fit together. */
export async function askedTerms(input: TermInput, units: RaiseUnits): Promise<AskedTerms> {
  const { sale_mode, price, unsold, allowlist, withdrawable, starts, ends, release, release_at, lock, vesting } = input
  const { decimals, now } = units
  const isFixed = sale_mode === 'fixed_price'
  const starting = starts === undefined ? now : requireMomentFrom(starts, '--starts', now)
  const startsAt = starting > now ? starting : now
  const endsAt = requireMomentFrom(ends, '--ends', startsAt)
  const [paid, sold] = [input.raw ? 0 : decimals.quote, input.raw ? 0 : decimals.token]
  const supplyOf = (typed: string) => amountOf(typed, sold, '--supply')
  const asked = {
    ...{ sale_mode, price, unsold, allowlist, early_end: !input.to_the_end },
    ...{ min: amountOf(input.min, paid, '--min'), max: amountOf(input.max, paid, '--max') },
    ...(input.round === undefined
      ? { ...limitsOf(input, paid), supply: read(input.supply, supplyOf) }
      : { rounds: roundsIn(input.round).map((of) => ({ ...limitsOf(of, paid), supply: supplyOf(of.supply ?? '') })) }),
    starts_at: starts === undefined ? undefined : isoOf(startsAt),
    ends_at: isoOf(endsAt),
    release_bps: read(release, (typed) => basisPointsOf(typed, '--release', { least: 0, most: 10_000 })),
    release_at: read(release_at, (typed) => isoOf(requireMomentFrom(typed, '--release-at', endsAt))),
    lock_seconds: read(lock, (typed) => Number(requireSpan(typed, '--lock'))),
    vesting_seconds: read(vesting, (typed) => Number(requireSpan(typed, '--vesting'))),
    withdrawable: isFixed || withdrawable ? withdrawable : undefined,
  }
  const sale = raiseTerms(asked, units)
  if (!isFixed && price !== undefined)
    throw usage('--price is only for --sale-mode fixed_price: here the deposits make the price', { param: '--price' })
  if (isFixed && sale.price === null)
    throw usage(`--price must be a number like 0.001, not "${price ?? ''}"`, { param: '--price' })
  if (sale.rounds.some(({ supply }) => supply === 0n))
    throw usage('--supply says how many tokens are for sale: without a fixed price none follows', { param: '--supply' })
  const pool = input.then_pool === undefined ? undefined : await poolPlan(input.then_pool, sale.supply, units.fee)
  const terms = raiseTerms({ ...asked, pool }, units)
  const { releaseBps: release_bps, lockSeconds, vestingSeconds } = terms
  return {
    ...terms,
    request: {
      ...{ ...asked, pool, release_bps },
      ...{ lock_seconds: Number(lockSeconds), vesting_seconds: Number(vestingSeconds) },
    },
    pool: pool ?? null,
    startsNow: starting <= now,
    isByClock: starting <= now || [starts ?? '', ends].some((time) => spanOf(time) !== null),
  }
}

function amountOf(typed: string, digits: number, shown: string): string {
  const amount = rawUnits(typed, digits, shown)
  if (amount > 0n && amount <= MAX_U64) return String(amount)
  throw usage(`${shown} must be more than 0, and at most ${MAX_U64} raw units`, { param: shown })
}

const read = <T>(typed: string | undefined, as: (typed: string) => T): T | undefined =>
  typed === undefined ? undefined : as(typed)

/** What a round, or a raise without rounds, says of its buyers. */
const limitsOf = ({ buyer_min, buyer_max, deposit_fee }: TypedRound, digits: number) => ({
  buyer_min: read(buyer_min, (typed) => amountOf(typed, digits, '--buyer-min')),
  buyer_max: read(buyer_max, (typed) => amountOf(typed, digits, '--buyer-max')),
  deposit_fee_bps: read(deposit_fee, (typed) => basisPointsOf(typed, '--deposit-fee', { least: 0, most: 5_000 })) ?? 0,
})

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

/** A plan by its name or in a file. Throws a usage problem that names the field that is wrong. */
export async function poolPlan(named: string, supply: bigint, fee: TransferFee | null): Promise<RaisePool> {
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
  const plan = await readJson(named, refuse)
  try {
    return validateInput(raisePool, plan as Record<string, unknown>)
  } catch (error) {
    throw refuse((error as Error).message)
  }
}
