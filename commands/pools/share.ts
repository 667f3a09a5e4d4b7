/** `svc pools share`: puts the config account on chain that the launches of a preset share, once. */
import { paths } from '../../src/api/paths.ts'
import type { SharedConfig } from '../../src/api/pools.ts'
import type { Client } from '../../src/client.ts'
import { required, text, verb } from '../cli/command.ts'
import { demanding } from '../signing/demand.ts'
import { makesConfig } from '../signing/demanded-pools.ts'
import { buildFields, SIGNING } from '../signing/flags.ts'
import { rememberHere } from '../signing/remembered.ts'
import { runSigned } from '../signing/run.ts'
import { mostCreationFee } from './launch-body.ts'
import { createFlags } from './launch-flags.ts'

const demandsConfig = demanding(
  'one config account, at your cost',
  (of, { config, mostFee }: { config: string; mostFee: bigint }) => [makesConfig(of, config, { mostFee })],
)

const { submit, get, simulate, forecast } = paths.transactions
type ShareAnswer = Awaited<ReturnType<Client['pools']['share']>>['data']

export const share = verb({
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
