/** `svc pools positions vest`: locks liquidity of a position until a schedule releases it. */
import { paths } from '../../../src/api/paths.ts'
import type { HeldPositions, PositionVesting } from '../../../src/api/pool-positions.ts'
import { hexOf } from '../../../src/solana/bytes.ts'
import { splitLock } from '../../../src/solana/lock-schedule.ts'
import { DAMM_V2 } from '../../../src/solana/programs/damm-v2.ts'
import { groupedDecimalOf, rawUnits } from '../../cli/amounts.ts'
import { integer, text, verb } from '../../cli/command.ts'
import { isoOf, requireMomentFrom, requireSpan, spanOf } from '../../cli/typed-times.ts'
import { demanding, type Signing } from '../../signing/demand.ts'
import { previewLine } from '../../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
import { usage } from '../../ui/problem.ts'
import { timeText } from '../../ui/times.ts'
import {
  amountTexts,
  CHOICE,
  choiceFields,
  chosenOf,
  decimalsOfBoth,
  EXAMPLE_POOL,
  EXAMPLE_POSITION,
  noteShare,
  ONE_PART,
  POSITION,
  partFields,
  partLines,
  partOf,
  refreshes,
  roundedPercent,
} from './parts.ts'

interface Typed {
  cliff?: string | undefined
  cliff_percent?: string | undefined
  periods: number
  frequency?: string | undefined
}

/** A schedule in the units of the pool; the liquidity is known only once the part of the position is. */
interface Terms {
  unit: HeldPositions['unit']
  /** Null is when the transaction runs. */
  cliffPoint: bigint | null
  /** The time of the chain's clock, as the API reads it, from which a span is counted; null if --cliff is not a span. */
  countsFrom: bigint | null
  cliffBps: bigint
  periods: number
  frequency: bigint
}

/** Throws a usage problem that names the flag that is wrong. */
function termsOf({ cliff, cliff_percent, periods, frequency }: Typed, unit: Terms['unit'], now: bigint): Terms {
  const bps = cliff_percent === undefined ? null : rawUnits(cliff_percent, 2, '--cliff-percent')
  if (bps !== null && bps > 10_000n) throw usage('--cliff-percent must be from 0 to 100', { param: '--cliff-percent' })
  if (bps !== null && bps !== 10_000n && periods === 0) {
    throw usage('--cliff-percent is only a part, and without periods the cliff releases everything', {
      param: '--cliff-percent',
    })
  }
  const common = { unit, cliffBps: bps ?? 0n, periods }
  if (unit === 'slots') {
    const slots = (flag: string, value: string) => {
      if (/^\d{1,18}$/.test(value)) return BigInt(value)
      throw usage(`${flag} must be a number of slots, because this pool counts slots, not "${value}"`, { param: flag })
    }
    return {
      ...common,
      countsFrom: null,
      cliffPoint: cliff === undefined ? null : slots('--cliff', cliff),
      frequency: frequency === undefined ? 0n : slots('--frequency', frequency),
    }
  }
  return {
    ...common,
    cliffPoint: cliff === undefined ? null : requireMomentFrom(cliff, '--cliff', now),
    countsFrom: cliff === undefined || spanOf(cliff) === null ? null : now,
    frequency: frequency === undefined ? 0n : requireSpan(frequency, '--frequency'),
  }
}

/** The fields of the schedule in a request. */
const termFields = ({ unit, cliffPoint, cliffBps, periods, frequency }: Terms) => ({
  ...(cliffPoint === null
    ? {}
    : unit === 'slots'
      ? { cliff_slot: String(cliffPoint) }
      : { cliff_at: isoOf(cliffPoint) }),
  ...(periods === 0 ? {} : { cliff_share_bps: Number(cliffBps), periods, frequency: Number(frequency) }),
})

function splitOf({ cliffBps, periods }: Terms, vested: string) {
  const amount = BigInt(vested)
  return splitLock({ amount, cliffAmount: (amount * cliffBps) / 10_000n, periods: BigInt(periods) })
}

const demandsVesting = demanding(
  'liquidity of this position locked by this schedule, and nothing else',
  ({ payer }, { pool, position, terms, vested }: { pool: string; position: string; terms: Terms; vested: string }) => {
    const { cliffAmount, amountPerPeriod } = splitOf(terms, vested)
    const data = DAMM_V2.data('lock_inner_position', {
      cliff_point: terms.cliffPoint,
      period_frequency: terms.frequency,
      cliff_unlock_liquidity: cliffAmount,
      liquidity_per_period: amountPerPeriod,
      number_of_period: terms.periods,
    })
    return [
      refreshes(pool, position, payer),
      {
        program: DAMM_V2.id,
        call: 'lock_inner_position',
        fields: { pool, position, signer: payer },
        data: hexOf(data),
      },
    ]
  },
)

function noteClock(of: Signing, { countsFrom, unit }: Terms): void {
  of.note(`the pool counts ${unit}, as the API reads it`)
  if (countsFrom === null || of.isNow(String(countsFrom))) return
  of.apiSays(`the cliff is counted from ${timeText(isoOf(countsFrom))} by the chain's clock`, '--cliff')
}

function scheduleLines({ unit, cliffPoint, periods, frequency }: Terms, data: PositionVesting): string[] {
  const { schedule, vested_liquidity } = data
  const at = (point: bigint) => (unit === 'slots' ? `slot ${groupedDecimalOf(point, 0)}` : timeText(isoOf(point)))
  const share = (part: string) => roundedPercent(part, vested_liquidity)
  const start = cliffPoint ?? BigInt(schedule.cliff_point)
  return [
    previewLine('cliff', `${share(schedule.cliff_liquidity)} at ${cliffPoint === null ? 'once' : at(start)}`),
    ...(periods === 0
      ? []
      : [
          previewLine('then', `${share(schedule.liquidity_per_period)} each, ${periods} times`),
          previewLine('until', at(start + frequency * BigInt(periods))),
        ]),
  ]
}

export const vestVerb = verb({
  about: 'Lock liquidity of a position until a schedule releases it',
  details:
    'Nobody can withdraw it earlier, you included, and nothing stops the schedule. The position keeps earning fees, which you can claim. A position has room for one schedule at a time. What is released can be withdrawn with `svc pools positions remove`.',
  calls: [paths.positions.vest, paths.positions.list, ...ACT_CALLS],
  args: POSITION,
  flags: {
    ...CHOICE,
    cliff: text('When the first part is released: a time, or a span from now such as 365d (default now)', {
      placeholder: 'TIME|SPAN',
      field: 'cliff_at',
    }),
    cliff_percent: text('Part that the cliff releases, like 25 (default: only what the periods do not divide)', {
      placeholder: 'PERCENT',
      field: 'cliff_share_bps',
    }),
    periods: integer('Equal parts after the cliff (default none: the cliff releases everything)', {
      min: 1,
      max: 65_535,
      needs: ['frequency'],
    }),
    frequency: text('Length of a period, such as 30d: s, min, h, d, w, or y of 365 days', {
      placeholder: 'SPAN',
      needs: ['periods'],
    }),
    ...ACT_SIGNING,
  },
  // Otherwise everything would be released at once.
  needs: [ONE_PART, ['cliff', 'periods']],
  examples: [
    `svc pools positions vest ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --all --cliff 365d`,
    `svc pools positions vest ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --percent 50 --cliff 2028-01-01 --cliff-percent 25 --periods 12 --frequency 30d --dry-run`,
  ],
  run(
    { address, position, all: _, percent, liquidity, cliff, cliff_percent, periods = 0, frequency, ...flags },
    session,
  ) {
    const chosen = chosenOf({ percent, liquidity })
    let terms: Terms
    return runAct<PositionVesting>(session, flags, {
      what: `Vest ${partOf(chosen)} of the position ${position}`,
      async call(body, options) {
        const { unit, point } = (await session.client.positions.list({ address, owner: body.payer })).data
        terms = termsOf({ cliff, cliff_percent, periods, frequency }, unit, BigInt(point))
        return session.client.positions.vest(
          { address, position, ...choiceFields(chosen), ...termFields(terms), ...body },
          options,
        )
      },
      demand(of, data) {
        noteShare(of, chosen, data.vested_liquidity)
        noteClock(of, terms)
        const vested = chosen.kind === 'liquidity' ? chosen.liquidity : data.vested_liquidity
        return demandsVesting(of, { pool: data.pool_address, position, terms, vested })
      },
      decimals: (data) => decimalsOfBoth(['amount_a', 'amount_b'], data),
      preview(data) {
        const [a, b] = amountTexts(data, data.amount_a, data.amount_b)
        return [previewLine('vests', a), previewLine('and', b), ...scheduleLines(terms, data), ...partLines(data)]
      },
      show: ({ pool_address, vested_liquidity, amount_a, amount_b, schedule, ...data }) => ({
        pool_address,
        position,
        vested_liquidity,
        amount_a,
        amount_b,
        cliff_point: schedule.cliff_point,
        cliff_at: schedule.cliff_at,
        ends_at: schedule.ends_at,
        ...partFields(data),
      }),
    })
  },
})
