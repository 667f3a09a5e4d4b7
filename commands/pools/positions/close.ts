/** `svc pools positions close`: closes an empty position, which returns its rent. */
import { paths } from '../../../src/api/paths.ts'
import type { PositionClosing } from '../../../src/api/pool-positions.ts'
import { verb } from '../../cli/command.ts'
import { demandsPositionClosing } from '../../signing/demanded-positions.ts'
import { previewLine } from '../../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
import { amountTexts, decimalsOfBoth, EXAMPLE_POOL, EXAMPLE_POSITION, POSITION } from './parts.ts'

export const closeVerb = verb({
  about: 'Close an empty position, which returns its rent',
  details:
    'All liquidity must be withdrawn before: `svc pools positions remove --all`. Fees that it still has are claimed in the same transaction. Its NFT is burned. A position with locked liquidity can never be closed.',
  calls: [paths.positions.close, ...ACT_CALLS],
  args: POSITION,
  flags: ACT_SIGNING,
  examples: [
    `svc pools positions close ${EXAMPLE_POOL} ${EXAMPLE_POSITION}`,
    `svc pools positions close ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --dry-run`,
  ],
  run: ({ address, position, ...flags }, session) =>
    runAct<PositionClosing>(session, flags, {
      what: `Close the position ${position}`,
      call: (body, options) => session.client.positions.close({ address, position, ...body }, options),
      demand: (of, data) =>
        demandsPositionClosing(of, { pool: data.pool_address, position, mintA: data.mint_a, mintB: data.mint_b }),
      decimals: (data) => decimalsOfBoth(['fee_a', 'fee_b'], data),
      preview(data) {
        const [a, b] = amountTexts(data, data.fee_a, data.fee_b)
        return data.fee_a === '0' && data.fee_b === '0' ? [] : [previewLine('claims', a), previewLine('and', b)]
      },
      show: ({ pool_address, nft_mint, fee_a, fee_b }) => ({ pool_address, position, nft_mint, fee_a, fee_b }),
    }),
})
