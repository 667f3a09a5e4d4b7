/** `svc pools`: tokens launched on a curve, traded and followed until they migrate. */
import { paths } from '../../src/api/paths.ts'
import { choiceOf, type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { SVG } from '../ui/drawing-flags.ts'
import { create } from './create.ts'
import { earnings } from './earnings.ts'
import { presets } from './presets.ts'
import { preview } from './preview.ts'
import { progress } from './progress.ts'
import { metricsOutcome, poolOutcome } from './record.ts'
import { share } from './share.ts'
import { percentOf } from './state.ts'
import { swap } from './swap.ts'
import { transferCreatorVerb } from './transfer-creator.ts'
import { poolVerifyVerb } from './verify.ts'
import { watch } from './watch.ts'

const POOL_ADDRESS = { address: required(text('Address of the pool')) }

export const poolsNoun: Noun = {
  verbs: {
    create,
    list: listVerb({
      about: 'List pools, newest first',
      at: paths.pools.list,
      filters: {
        status: choiceOf(['pending', 'live', 'migration_triggered', 'migrated', 'failed'], 'Only those in this state', {
          pending: 'built, not seen on chain yet',
          migration_triggered: 'the curve is full',
        }),
        type: choiceOf(['dbc', 'damm_v2'], 'Only those of this type', {
          dbc: 'launch curves',
          damm_v2: 'pools that trade without a curve',
        }),
        creator: text('Only those of this wallet', { placeholder: 'WALLET' }),
      },
      examples: ['svc pools list', 'svc pools list --status live --type dbc --all'],
      columns: ['address', 'type', 'symbol', 'status', 'curve_progress', 'base_mint', 'created_at'],
      table: (pools) => ({
        columns: ['address', 'type', 'symbol', 'status', 'curve', 'base_mint', 'created_at'],
        rows: pools.map(({ address, type, symbol, status, curve_progress, base_mint, created_at }) => [
          address,
          type,
          symbol,
          status,
          curve_progress === null ? null : percentOf(curve_progress),
          base_mint,
          created_at,
        ]),
      }),
      call: (client, query) => client.pools.list(query),
    }),
    get: verb({
      about: 'Read one pool',
      details: 'Also reads a pool on chain that was not launched here.',
      calls: [paths.pools.get],
      args: POOL_ADDRESS,
      flags: { svg: SVG },
      examples: [
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --svg curve.svg',
      ],
      run: async ({ address, svg }, { client }) => poolOutcome((await client.pools.get({ address })).data, svg),
    }),
    progress,
    fees: verb({
      about: 'Read the fees a pool holds for the partner',
      calls: [paths.pools.feeMetrics],
      args: POOL_ADDRESS,
      examples: [
        'svc pools fees CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
        'svc pools fees CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
      ],
      run: async (input, { client }) => metricsOutcome((await client.pools.feeMetrics(input)).data),
    }),
    earnings,
    verify: poolVerifyVerb,
    presets,
    preview,
    share,
    swap,
    'transfer-creator': transferCreatorVerb,
    watch,
  },
}
