/** `svc pools positions lock`: locks liquidity of a position for good. */
import { paths } from '../../../src/api/paths.ts'
import type { PositionLock } from '../../../src/api/pool-positions.ts'
import { DAMM_V2 } from '../../../src/solana/programs/damm-v2.ts'
import { verb } from '../../cli/command.ts'
import { demanding } from '../../signing/demand.ts'
import { previewLine } from '../../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
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
} from './parts.ts'

const demandsPermanentLock = demanding(
  'liquidity of this position locked for good, and nothing else',
  ({ payer }, { pool, position, liquidity }: { pool: string; position: string; liquidity: string }) => [
    refreshes(pool, position, payer),
    {
      program: DAMM_V2.id,
      call: 'permanent_lock_position',
      fields: { pool, position, signer: payer, permanent_lock_liquidity: liquidity },
    },
  ],
)

export const lockVerb = verb({
  about: 'Lock liquidity of a position for good',
  details:
    'Nobody can ever withdraw it, you included, and nothing unlocks it. The position keeps earning fees, which you can claim, and it can be sent to another wallet. For a lock that ends see `svc pools positions vest`.',
  calls: [paths.positions.lock, ...ACT_CALLS],
  args: POSITION,
  flags: { ...CHOICE, ...ACT_SIGNING },
  needs: [ONE_PART],
  examples: [
    `svc pools positions lock ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --all`,
    `svc pools positions lock ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --percent 50 --dry-run`,
  ],
  run({ address, position, all: _, percent, liquidity, ...flags }, session) {
    const chosen = chosenOf({ percent, liquidity })
    return runAct<PositionLock>(session, flags, {
      what: `Lock ${partOf(chosen)} of the position ${position} for good`,
      call: (body, options) =>
        session.client.positions.lock({ address, position, ...choiceFields(chosen), ...body }, options),
      demand(of, data) {
        noteShare(of, chosen, data.newly_locked_liquidity)
        const locked = chosen.kind === 'liquidity' ? chosen.liquidity : data.newly_locked_liquidity
        return demandsPermanentLock(of, { pool: data.pool_address, position, liquidity: locked })
      },
      decimals: (data) => decimalsOfBoth(['amount_a', 'amount_b'], data),
      preview(data) {
        const [a, b] = amountTexts(data, data.amount_a, data.amount_b)
        return [previewLine('locks', a), previewLine('and', `${b}, which nobody can ever withdraw`), ...partLines(data)]
      },
      show: ({ pool_address, newly_locked_liquidity, amount_a, amount_b, ...data }) => ({
        pool_address,
        position,
        newly_locked_liquidity,
        amount_a,
        amount_b,
        ...partFields(data),
      }),
    })
  },
})
