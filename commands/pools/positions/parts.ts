/** What the verbs of `svc pools positions` share: a pool's position, the chosen part of it, and amounts in both tokens. */

import type { HeldPositions, PositionLock } from '../../../src/api/pool-positions.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { DAMM_V2 } from '../../../src/solana/programs/damm-v2.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, rawUnits } from '../../cli/amounts.ts'
import { poolAddress, required, text, toggle } from '../../cli/command.ts'
import type { Call, Signing } from '../../signing/demand.ts'
import { previewLine } from '../../signing/preview.ts'
import { usage } from '../../ui/problem.ts'

export const POOL = { address: required(poolAddress('Address or symbol of the pool, or of the curve that became it')) }
export const POSITION = { ...POOL, position: required(text('Position, as `svc pools positions list` shows it')) }
export const DEFAULT_SLIPPAGE_BPS = 100

/** A pool and a position for examples. */
export const EXAMPLE_POOL = 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4'
export const EXAMPLE_POSITION = 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222'

export const CHOICE = {
  all: toggle('All that can be withdrawn now', { conflicts: ['percent', 'liquidity'] }),
  percent: text('This part of it, like 25 or 12.5', {
    placeholder: 'PERCENT',
    conflicts: ['liquidity'],
    field: 'share_bps',
  }),
  liquidity: text("This much of it, in the program's units", { placeholder: 'UNITS' }),
}
interface Choice {
  percent?: string | undefined
  liquidity?: string | undefined
}
/** The flags of which one says which part. */
export const ONE_PART = Object.keys(CHOICE)
/** The chosen part; a preview says what the API made of a percentage. */
export type Chosen = { kind: 'all' } | { kind: 'share'; bps: number } | { kind: 'liquidity'; liquidity: string }

export function chosenOf({ percent, liquidity }: Choice): Chosen {
  if (liquidity !== undefined) {
    const units = rawUnits(liquidity, 0, '--liquidity')
    if (units === 0n) throw usage('--liquidity must be more than 0', { param: '--liquidity' })
    return { kind: 'liquidity', liquidity: String(units) }
  }
  if (percent === undefined) return { kind: 'all' }
  const bps = rawUnits(percent, 2, '--percent')
  if (bps === 0n || bps > 10_000n) throw usage('--percent must be from 0.01 to 100', { param: '--percent' })
  return bps === 10_000n ? { kind: 'all' } : { kind: 'share', bps: Number(bps) }
}

/** How much a percentage selects, and how much can be withdrawn, is known only to the API. */
export function noteShare(of: Signing, chosen: Chosen, liquidity: string): void {
  const are = `are ${liquidity} units of liquidity`
  if (chosen.kind === 'all') of.note(`all that can be withdrawn ${are}, as the API reads it`)
  if (chosen.kind === 'share') of.apiSays(`${chosen.bps / 100} % of what can be withdrawn ${are}`, '--liquidity')
}

export const partOf = (chosen: Chosen): string =>
  chosen.kind === 'all'
    ? 'all liquidity'
    : chosen.kind === 'share'
      ? `${chosen.bps / 100} % of the liquidity`
      : `${chosen.liquidity} units of liquidity`

export type Sides = Pick<HeldPositions, 'mint_a' | 'mint_b' | 'decimals_a' | 'decimals_b'>

/** SOL has known decimals, so the API's word is not needed. */
const decimalsOf = (mint: string, said: number): number => (mint === WRAPPED_SOL ? LAMPORT_DECIMALS : said)

export const unitOf = (mint: string): string => (mint === WRAPPED_SOL ? 'SOL' : mint)

/** `1,000.5 MINT` and `2 SOL`. */
export const amountTexts = (
  { mint_a, mint_b, decimals_a, decimals_b }: Sides,
  a: string,
  b: string,
): [string, string] => [
  `${groupedDecimalOf(BigInt(a), decimalsOf(mint_a, decimals_a))} ${unitOf(mint_a)}`,
  `${groupedDecimalOf(BigInt(b), decimalsOf(mint_b, decimals_b))} ${unitOf(mint_b)}`,
]

/** `60 %` of a position; all digits stay exact until the last, which is rounded down. */
export const percentOfParts = (part: string, all: string): string => {
  const whole = BigInt(all)
  if (whole === 0n) return '0 %'
  const bps = (BigInt(part) * 10_000n) / whole
  return `${groupedDecimalOf(bps, 2)} %`
}

/** A part of a schedule; units that do not divide evenly must not show as a hundredth less. */
export const roundedPercent = (part: string, all: string): string =>
  percentOfParts(String(BigInt(part) * 20_000n + BigInt(all)), String(BigInt(all) * 20_000n))

type Parts = Pick<PositionLock, 'liquidity' | 'unlocked_liquidity' | 'vesting_liquidity' | 'locked_liquidity'>

export const partLines = ({ liquidity, unlocked_liquidity, vesting_liquidity, locked_liquidity }: Parts): string[] =>
  liquidity === '0'
    ? [previewLine('after', 'the position is empty; its fees stay claimable')]
    : [
        previewLine(
          'after',
          [
            `${percentOfParts(unlocked_liquidity, liquidity)} unlocked`,
            ...(vesting_liquidity === '0' ? [] : [`${percentOfParts(vesting_liquidity, liquidity)} vesting`]),
            `${percentOfParts(locked_liquidity, liquidity)} locked for good`,
          ].join(', '),
        ),
      ]

export const partFields = ({ liquidity, unlocked_liquidity, vesting_liquidity, locked_liquidity }: Parts) => ({
  liquidity,
  unlocked_liquidity,
  vesting_liquidity,
  locked_liquidity,
})

/** The fields of a request that choose liquidity; without one it is all that can be withdrawn. */
export const choiceFields = (chosen: Chosen): { share_bps?: number; liquidity?: string } =>
  chosen.kind === 'all' ? {} : chosen.kind === 'share' ? { share_bps: chosen.bps } : { liquidity: chosen.liquidity }

/** Decimals of fields in raw units of either token. */
export const decimalsOfBoth = (
  names: readonly string[],
  { mint_a, mint_b, decimals_a, decimals_b }: Sides,
): Record<string, number> =>
  Object.fromEntries(
    names.map((name) => [name, name.endsWith('_a') ? decimalsOf(mint_a, decimals_a) : decimalsOf(mint_b, decimals_b)]),
  )

/** Releases what a schedule owes the position; it moves nothing, and anyone may call it. */
export const refreshes = (pool: string, position: string, owner: string): Call => ({
  program: DAMM_V2.id,
  call: 'refresh_vesting',
  fields: { pool, position, owner },
  least: 0,
})
