/** `svc pools positions remove`: withdraws liquidity of a position. */
import { paths } from '../../../src/api/paths.ts'
import type { LiquidityRemoval } from '../../../src/api/pool-positions.ts'
import { integer, verb } from '../../cli/command.ts'
import { demandsRemoval } from '../../signing/demanded-positions.ts'
import { previewLine } from '../../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
import {
  amountTexts,
  CHOICE,
  choiceFields,
  chosenOf,
  DEFAULT_SLIPPAGE_BPS,
  decimalsOfBoth,
  EXAMPLE_POOL,
  EXAMPLE_POSITION,
  noteShare,
  ONE_PART,
  POSITION,
  partFields,
  partLines,
  partOf,
} from './parts.ts'

export const removeVerb = verb({
  about: 'Withdraw liquidity of a position to your wallet',
  details:
    'Pays both tokens to the wallet that holds the position, SOL unwrapped. The transaction fails if less than the shown minimum would arrive. Unclaimed fees stay in the position.',
  calls: [paths.positions.remove, ...ACT_CALLS],
  args: POSITION,
  flags: {
    ...CHOICE,
    slippage_bps: integer(
      `How much less than shown to accept, in hundredths of a percent (default ${DEFAULT_SLIPPAGE_BPS})`,
      { min: 0, max: 10_000 },
    ),
    ...ACT_SIGNING,
  },
  needs: [ONE_PART],
  examples: [
    `svc pools positions remove ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --percent 25`,
    `svc pools positions remove ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --all --dry-run`,
  ],
  run({ address, position, all: _, percent, liquidity, slippage_bps = DEFAULT_SLIPPAGE_BPS, ...flags }, session) {
    const chosen = chosenOf({ percent, liquidity })
    const isLeast = (stated: string, amount: string) => (units: string) =>
      units === stated && BigInt(units) >= (BigInt(amount) * BigInt(10_000 - slippage_bps)) / 10_000n
    return runAct<LiquidityRemoval>(session, flags, {
      what: `Withdraw ${partOf(chosen)} of the position ${position}`,
      call: (body, options) =>
        session.client.positions.remove({ address, position, slippage_bps, ...choiceFields(chosen), ...body }, options),
      demand(of, data) {
        // The program itself knows what all is.
        if (chosen.kind !== 'all') noteShare(of, chosen, data.removed_liquidity)
        return demandsRemoval(of, {
          pool: data.pool_address,
          position,
          mintA: data.mint_a,
          mintB: data.mint_b,
          liquidity: chosen.kind === 'all' ? null : chosen.kind === 'share' ? data.removed_liquidity : chosen.liquidity,
          leastA: isLeast(data.minimum_a, data.amount_a),
          leastB: isLeast(data.minimum_b, data.amount_b),
        })
      },
      decimals: (data) => decimalsOfBoth(['amount_a', 'amount_b', 'minimum_a', 'minimum_b'], data),
      preview(data) {
        const [a, b] = amountTexts(data, data.amount_a, data.amount_b)
        const [leastA, leastB] = amountTexts(data, data.minimum_a, data.minimum_b)
        return [
          previewLine('receives', a),
          previewLine('and', b),
          previewLine('at least', `${leastA} (${slippage_bps / 100} % less)`),
          previewLine('and', leastB),
          ...partLines(data),
        ]
      },
      show: ({ pool_address, removed_liquidity, amount_a, amount_b, minimum_a, minimum_b, ...data }) => ({
        pool_address,
        position,
        removed_liquidity,
        amount_a,
        amount_b,
        minimum_a,
        minimum_b,
        ...partFields(data),
      }),
    })
  },
})
