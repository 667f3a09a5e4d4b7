/** `svc stakes`: NFT assets frozen in their owner's wallet. */
import { paths } from '../src/api/paths.ts'
import { choiceOf, type Noun, required, text, verb } from './cli/command.ts'
import { listOutcome, listVerb, recordVerb } from './cli/reads.ts'
import type { Session } from './cli/session.ts'
import { demanding } from './signing/demand.ts'
import { releasesNft, stakesNft } from './signing/demanded-assets.ts'
import { buildFields, SIGNING } from './signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM } from './signing/platform-flags.ts'
import { runSigned } from './signing/run.ts'

const demandsStake = demanding('it freezes this asset in your wallet', stakesNft)
const demandsRelease = demanding('it thaws this asset', releasesNft)

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
        const rest = { platform_id, platform_fee }
        return runSigned(session, flags, {
          what: `Stake ${asset}`,
          build: (user) => session.client.stakes.create({ user, asset, collection, ...rest, ...buildFields(flags) }),
          demand: (of) => demandsStake(of, { asset, collection, thawedBy: thawed_by, ...rest }),
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
        const rest = { platform_id, platform_fee }
        return runSigned(session, flags, {
          what: `Release ${asset}`,
          build: (user) => session.client.stakes.release({ user, asset, collection, ...rest, ...buildFields(flags) }),
          demand: (of) => demandsRelease(of, { asset, collection, ...rest }),
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
