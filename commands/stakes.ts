/** `svc stakes`: NFT assets frozen in their owner's wallet. */
import { paths } from '../src/api/paths.ts'
import type { Client } from '../src/client.ts'
import { bytesOfHex, hexOf } from '../src/solana/bytes.ts'
import { stakeMemo } from '../src/solana/memos.ts'
import type { Variant } from '../src/solana/programs/field-types.ts'
import { METAPLEX_CORE } from '../src/solana/programs/metaplex-core.ts'
import { choiceOf, type Noun, required, text, verb } from './cli/command.ts'
import { listOutcome, listVerb, recordVerb } from './cli/reads.ts'
import type { Session } from './cli/session.ts'
import { coreCall } from './signing/core-calls.ts'
import { type Call, demanding, platformFee, type Sent, writesMemo } from './signing/demand.ts'
import { buildFields, SIGNING } from './signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM } from './signing/platform-flags.ts'
import { runSigned } from './signing/run.ts'

type StakeBody = Sent<Client['stakes']['create'], 'user'>

/** The plugin that freezes an asset. The owner or a wallet of the platform can thaw it. */
const FREEZE = 'FreezeDelegate'
const REMOVES = METAPLEX_CORE.data('remove_plugin_v1', { plugin_type: { name: FREEZE, value: null } })
const sets = (frozen: boolean) =>
  METAPLEX_CORE.data('update_plugin_v1', { plugin: { name: FREEZE, value: { frozen } } })
const adds = (init_authority: Variant) =>
  hexOf(METAPLEX_CORE.data('add_plugin_v1', { plugin: { name: FREEZE, value: { frozen: true } }, init_authority }))

const demandsStake = demanding(
  'it freezes this asset in your wallet',
  (of, { thawed_by, ...body }: StakeBody & { thawed_by: string | undefined }): Call[] => {
    const own = { asset: body.asset, collection: body.collection, payer: of.payer, authority: of.payer }
    const addsFreeze = (hex: string) => {
      const given = METAPLEX_CORE.argsOf('add_plugin_v1', bytesOfHex(hex))?.init_authority
      if (!given || hex !== adds(given)) return false
      if (given.name === 'Owner') return thawed_by === undefined
      if (given.name !== 'Address') return false
      const { address } = given.value as { address: string }
      if (thawed_by === undefined) of.apiSays(`only ${address} can release it`, '--thawed-by')
      return thawed_by === undefined || address === thawed_by
    }
    return [
      { ...coreCall('remove_plugin_v1', own, REMOVES), least: 0 },
      { ...coreCall('add_plugin_v1', own, addsFreeze), group: 'freeze' },
      { ...coreCall('update_plugin_v1', own, sets(true)), group: 'freeze' },
      ...stakeEnd(of.payer, 'stake', body),
    ]
  },
)

/** The one who can thaw it must sign. */
const demandsRelease = demanding('it thaws this asset', ({ payer }, body: StakeBody): Call[] => {
  const own = { asset: body.asset, collection: body.collection, payer }
  return [
    coreCall('update_plugin_v1', own, sets(false)),
    coreCall('remove_plugin_v1', { ...own, authority: payer }, REMOVES),
    ...stakeEnd(payer, 'release', body),
  ]
})

const stakeEnd = (
  payer: string,
  step: 'stake' | 'release',
  { asset, platform_id, platform_fee }: StakeBody,
): Call[] => [writesMemo(stakeMemo(step, asset, platform_id)), ...platformFee(payer, platform_fee)]

const { submit, get, simulate } = paths.transactions
const ASSET = required(text('Address of the asset'))
const FLAGS = { ...PLATFORM, ...SIGNING }
const THAWED_BY = text('Platform wallet that can release it instead of you; nobody else can', {
  placeholder: 'WALLET',
})

export const stakesNoun: Noun = {
  verbs: {
    create: verb({
      about: 'Stake an NFT of yours: it is frozen in your wallet until it is released',
      calls: [paths.stakes.create, paths.stakes.get, simulate, submit, get],
      args: { asset: ASSET },
      flags: { thawed_by: THAWED_BY, ...FLAGS },
      examples: [
        'svc stakes create GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc stakes create GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --platform-id acme --dry-run',
      ],
      async run({ asset, thawed_by, platform_id = DEFAULT_PLATFORM, platform_fee = 0, ...flags }, session) {
        const collection = await pathHead(session, asset)
        const body = { asset, collection, platform_id, platform_fee }
        return runSigned(session, flags, {
          what: `Stake ${asset}`,
          build: (user) => session.client.stakes.create({ user, ...body, ...buildFields(flags) }),
          demand: (of) => demandsStake(of, { ...body, thawed_by }),
          show: (_, confirmed) => stakeFields(session, asset, confirmed !== null),
        })
      },
    }),
    release: verb({
      about: 'Release a staked NFT of yours',
      calls: [paths.stakes.release, paths.stakes.get, simulate, submit, get],
      args: { asset: ASSET },
      flags: FLAGS,
      examples: [
        'svc stakes release GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc stakes release GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --dry-run -k id.json',
      ],
      async run({ asset, platform_id = DEFAULT_PLATFORM, platform_fee = 0, ...flags }, session) {
        const collection = await pathHead(session, asset)
        const body = { asset, collection, platform_id, platform_fee }
        return runSigned(session, flags, {
          what: `Release ${asset}`,
          build: (user) => session.client.stakes.release({ user, ...body, ...buildFields(flags) }),
          demand: (of) => demandsRelease(of, body),
          show: (_, confirmed) => stakeFields(session, asset, confirmed !== null),
        })
      },
    }),
    list: listVerb({
      about: 'List stakes, newest first',
      at: paths.stakes.list,
      filters: {
        owner: text('Only those of this wallet', { placeholder: 'WALLET' }),
        collection: text('Only those of this collection', { placeholder: 'ADDRESS' }),
        status: choiceOf(['unstaked', 'staked', 'burned'], 'Only those in this state'),
      },
      examples: [
        'svc stakes list',
        'svc stakes list --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --status staked',
      ],
      columns: ['asset', 'status', 'owner', 'collection', 'platform_id'],
      call: (client, query) => client.stakes.list(query),
    }),
    get: recordVerb({
      about: 'Read one stake from the chain',
      at: paths.stakes.get,
      args: { asset: required(text('Address of the asset')) },
      examples: [
        'svc stakes get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc stakes get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --json',
      ],
      call: (client, input) => client.stakes.get(input),
    }),
    lookup: verb({
      about: 'Look up the staked assets of a wallet',
      calls: [paths.stakes.lookup],
      args: { wallet: required(text('Address of the wallet')) },
      examples: [
        'svc stakes lookup 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
        'svc stakes lookup 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --json',
      ],
      async run(input, { client }) {
        const { data } = await client.stakes.lookup(input)
        const columns = ['asset', 'status', 'collection', 'platform_id'] as const
        return { ...listOutcome(data.staked_assets, columns, [data.note]), data }
      },
    }),
  },
}

const pathHead = async ({ client }: Session, asset: string): Promise<string> =>
  (await client.stakes.get({ asset })).data.collection

async function stakeFields({ client }: Session, asset: string, isLanded: boolean) {
  return isLanded ? { asset, status: (await client.stakes.get({ asset })).data.status } : { asset }
}
