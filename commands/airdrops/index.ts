/** `svc airdrops`: from a list of recipients to funded distributors, claims and the withdrawal of the rest. */
import { paths } from '../../src/api/paths.ts'
import { inWhole } from '../cli/amounts.ts'
import { mintAddress, type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { mintDecimals } from '../signing/token-state.ts'
import { airdropAdoptVerb } from './adopt.ts'
import { airdropClaimVerb } from './claim.ts'
import { airdropClaimsVerb } from './claims.ts'
import { airdropEligibilityVerb } from './eligibility.ts'
import { airdropEntitlementVerb } from './entitlement.ts'
import { airdropExportVerb } from './export.ts'
import { airdropInitVerb } from './init.ts'
import { airdropLaunchVerb } from './launch.ts'
import { airdropPageVerb } from './page.ts'
import { airdropPushVerb } from './push.ts'
import { airdropSendVerb } from './send.ts'
import { airdropSnapshotVerb } from './snapshot.ts'
import { snapshotVerbs } from './snapshots.ts'
import { airdropSponsorVerb } from './sponsor.ts'
import { airdropStatusVerb } from './status.ts'
import { vaultNotes } from './vault-words.ts'
import { airdropWatchVerb } from './watch.ts'
import { airdropWithdrawVerb } from './withdraw.ts'

const airdropListVerb = listVerb({
  about: 'List airdrops, newest first',
  at: paths.airdrops.list,
  filters: { mint: mintAddress('Only those of this token') },
  examples: ['svc airdrops list', 'svc airdrops list --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --all'],
  columns: ['id', 'mint', 'airdrop_count', 'leaf_count', 'status', 'root'],
  call: (client, query) => client.airdrops.list(query),
})

const airdropGetVerb = verb({
  about: 'Read one airdrop',
  calls: [paths.airdrops.get, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  examples: [
    'svc airdrops get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --json',
  ],
  async run(input, session) {
    const { data } = await session.client.airdrops.get(input)
    const amounts = ['total', 'vault_balance', 'vault_lacks', 'claimed_amount'] as const
    const decimals = await mintDecimals(session, data.mint)
    return {
      data,
      ...(decimals === null
        ? {}
        : { record: inWhole(data, Object.fromEntries(amounts.map((name) => [name, decimals]))) }),
      notes: vaultNotes(data, decimals, session.clock.now()),
    }
  },
})

export const airdropsNoun: Noun = {
  groups: { snapshots: 'Who held a token or a collection' },
  verbs: {
    launch: airdropLaunchVerb,
    init: airdropInitVerb,
    adopt: airdropAdoptVerb,
    claim: airdropClaimVerb,
    sponsor: airdropSponsorVerb,
    withdraw: airdropWithdrawVerb,
    send: airdropSendVerb,
    push: airdropPushVerb,
    status: airdropStatusVerb,
    watch: airdropWatchVerb,
    claims: airdropClaimsVerb,
    eligibility: airdropEligibilityVerb,
    page: airdropPageVerb,
    entitlement: airdropEntitlementVerb,
    export: airdropExportVerb,
    snapshot: airdropSnapshotVerb,
    ...snapshotVerbs,
    list: airdropListVerb,
    get: airdropGetVerb,
  },
}
