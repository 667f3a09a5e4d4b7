/** `svc pools positions claim`: the fees of one position, claimed as `svc fees claim` does it. */
import { paths } from '../../../src/api/paths.ts'
import { text, verb } from '../../cli/command.ts'
import { claimFees } from '../../fees/one-claim.ts'
import { WALLET_ADDRESS } from '../../signing/flags.ts'
import { platformAddress } from '../../signing/platform-wallet.ts'
import { ACT_CALLS, ACT_SIGNING } from '../../signing/run-act.ts'
import { signingWallet } from '../../signing/signing-wallet.ts'
import { EXAMPLE_POOL, EXAMPLE_POSITION, POSITION } from './parts.ts'

export const claimVerb = verb({
  about: 'Claim the fees of one position',
  details:
    'Locked and vesting liquidity earns them too. They are paid to the wallet that holds the position. `svc fees claim --kind damm_v2` claims those of several positions at once.',
  calls: [paths.feeClaims.create, ...ACT_CALLS],
  args: POSITION,
  flags: {
    owner: text('Wallet that holds it, if yours is only its delegate (`svc fees delegate`)', WALLET_ADDRESS),
    ...ACT_SIGNING,
  },
  examples: [
    `svc pools positions claim ${EXAMPLE_POOL} ${EXAMPLE_POSITION}`,
    `svc pools positions claim ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --signed --yes`,
  ],
  async run({ address, position, owner, ...flags }, session) {
    const holder = owner ?? (await (flags.signed ? platformAddress(session) : signingWallet(session, flags)))
    const request = { address, kind: 'damm_v2', owner: holder, position, splits: undefined } as const
    return claimFees(session, { ...flags, allow_programs: false }, request)
  },
})
