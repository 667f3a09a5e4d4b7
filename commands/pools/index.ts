/** `svc pools`: tokens launched on a curve, traded and followed until they migrate. */
import { paths } from '../../src/api/paths.ts'
import type { SharedConfig } from '../../src/api/pools.ts'
import type { Client } from '../../src/client.ts'
import { choiceOf, type Noun, poolAddress, required, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { demanding } from '../signing/demand.ts'
import { buildFields, SIGNING } from '../signing/flags.ts'
import { rememberHere } from '../signing/remembered.ts'
import { runSigned } from '../signing/run.ts'
import { SVG } from '../ui/drawing-flags.ts'
import { create } from './create.ts'
import { earnings } from './earnings.ts'
import { makesConfig, mostCreationFee } from './launch-demand.ts'
import { createFlags } from './launch-flags.ts'
import { migrate } from './migrate.ts'
import { nextStep } from './next-step.ts'
import { positionVerbs } from './positions/index.ts'
import { presets } from './presets.ts'
import { preview } from './preview.ts'
import { progress } from './progress.ts'
import { metricsOutcome, poolOutcome } from './record.ts'
import { percentOf } from './state.ts'
import { swap } from './swap.ts'
import { transferCreatorVerb } from './transfer-creator.ts'
import { poolVerifyVerb } from './verify.ts'
import { watch } from './watch.ts'

// `svc pools share`: puts the config account on chain that the launches of a preset share, once.

const demandsConfig = demanding(
  'one config account, at your cost',
  (of, { config, mostFee }: { config: string; mostFee: bigint }) => [makesConfig(of, config, { mostFee })],
)

const { submit, get, simulate, forecast } = paths.transactions
type ShareAnswer = Awaited<ReturnType<Client['pools']['share']>>['data']

const share = verb({
  about: 'Put the config account on chain that the launches of a preset share',
  details:
    'For presets with "shared_config": true. Your keypair pays its rent, once; from then on a launch of the preset is a single transaction. A changed preset needs it again.',
  calls: [paths.pools.sharedConfig, paths.pools.share, simulate, forecast, submit, get],
  args: { name: required(text('Name of the preset')) },
  flags: { max_creation_fee: createFlags.max_creation_fee, ...SIGNING },
  examples: ['svc pools share my-curve', 'svc pools share my-curve --dry-run -k id.json'],
  async run({ name, ...flags }, session) {
    const mostFee = mostCreationFee(flags)
    const { data: found } = await session.client.pools.sharedConfig({ name })
    if (found.status === 'live') return { data: found, notes: [`It is on chain already: launches of ${name} use it.`] }
    return runSigned<ShareAnswer>(session, flags, {
      showsTotal: true,
      what: `Create the config account that the launches of ${name} share`,
      build: (payer) => session.client.pools.share({ name, payer, ...buildFields(flags) }),
      demand: (of, { config }) => demandsConfig(of, { config, mostFee }),
      async show({ config }, confirmed): Promise<SharedConfig> {
        if (confirmed === null) return { preset: name, config, status: 'pending' }
        rememberHere(session, 'shared-config', config, String(mostFee))
        return (await session.client.pools.sharedConfig({ name })).data
      },
    })
  },
})

const POOL_ADDRESS = { address: required(poolAddress()) }

const PENDING =
  'pending: built, and not seen on chain yet. A launch that nobody sends fails by itself, and holds no ticker.'

export const poolsNoun: Noun = {
  groups: { positions: 'Liquidity of migrated pools that wallets hold' },
  aliases: { 'transfer-position': 'positions transfer' },
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
      notes: (pools) => (pools.some(({ status }) => status === 'pending') ? [PENDING] : []),
      call: (client, query) => client.pools.list(query),
    }),
    get: verb({
      about: 'Read one pool',
      details: 'Also reads a pool on chain that was not launched here.',
      calls: [paths.pools.get, paths.service.workers],
      args: POOL_ADDRESS,
      flags: { svg: SVG },
      examples: [
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
        'svc pools get CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --svg curve.svg',
      ],
      async run({ address, svg }, session) {
        const { data } = await session.client.pools.get({ address })
        const outcome = poolOutcome(data, svg)
        return { ...outcome, notes: [...(outcome.notes ?? []), ...(await nextStep(session, data))] }
      },
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
    migrate,
    'transfer-creator': transferCreatorVerb,
    ...positionVerbs,
    watch,
  },
}
