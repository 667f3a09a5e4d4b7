/** `svc airdrops`: from a list of recipients to funded distributors, claims and the withdrawal of the rest. */
import { paths } from '../../src/api/paths.ts'
import { inWhole } from '../amounts.ts'
import { type Noun, required, text, verb } from '../command.ts'
import { listVerb } from '../reads.ts'
import { airdropClaimVerb } from './claim.ts'
import { eligibility } from './eligibility.ts'
import { exportProofs } from './export.ts'
import { init } from './init.ts'
import { launchAirdrops } from './launch.ts'
import { airdropStatus, mintDecimals } from './status.ts'
import { withdraw } from './withdraw.ts'

const airdropListVerb = listVerb({
  about: 'List airdrops, newest first',
  at: paths.airdrops.list,
  filters: { mint: text('Only those of this token', { placeholder: 'MINT' }) },
  columns: ['id', 'mint', 'airdrop_count', 'leaf_count', 'status', 'root'],
  call: (client, query) => client.airdrops.list(query),
})

const airdropGetVerb = verb({
  about: 'Read one airdrop',
  calls: [paths.airdrops.get, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  async run(input, session) {
    const { data } = await session.client.airdrops.get(input)
    const decimals = await mintDecimals(session, data.mint)
    if (decimals === null) return { data }
    return { data, record: inWhole(data, Object.fromEntries(AMOUNTS.map((name) => [name, decimals]))) }
  },
})
/** The fields of the answer that are amounts in raw units. */
const AMOUNTS = ['total', 'vault_balance', 'vault_lacks', 'claimed_amount'] as const

export const airdropsNoun: Noun = {
  verbs: {
    launch: launchAirdrops,
    init,
    claim: airdropClaimVerb,
    withdraw,
    status: airdropStatus,
    eligibility,
    export: exportProofs,
    list: airdropListVerb,
    get: airdropGetVerb,
  },
}
