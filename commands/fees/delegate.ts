/** `svc fees delegate`: lets another wallet claim the fees of positions for their owner, shows who may, and takes it back. */
import type { FeeDelegationCreated } from '../../src/api/fee-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { POSITIONS_PER_CLAIM } from '../../src/solana/constants.ts'
import { CLAIM_TO_OWNER } from '../../src/solana/position-permissions.ts'
import { TOKEN_2022_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type CommandOutcome, poolAddress, required, text, type Verb, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { type Flat, flat } from '../signing/built-transactions.ts'
import { type Call, demanding } from '../signing/demand.ts'
import { signedFlag, WALLET_ADDRESS } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, type ActFlags, runAct } from '../signing/run-act.ts'

const POOL = { pool: required(poolAddress('Address or symbol of the pool, or of the curve that became it')) }

const demandsDelegation = demanding(
  'this wallet may claim fees for the owner, or nobody',
  ({ payer: owner }, { delegate, positions }: Pick<FeeDelegationCreated, 'delegate' | 'positions'>): Call[] => {
    const most = POSITIONS_PER_CLAIM.own
    const permission = delegate === null ? 0 : CLAIM_TO_OWNER
    return [
      delegate === null
        ? { program: TOKEN_2022_PROGRAM, call: 'revoke', fields: { authority: owner }, most }
        : { program: TOKEN_2022_PROGRAM, call: 'approve', fields: { authority: owner, delegate, amount: 0 }, most },
      {
        program: PROGRAMS.dammV2.id,
        call: 'update_delegate_permission',
        fields: { owner, position: positions, permission },
        most,
      },
    ]
  },
)

const flags = {
  ...ACT_SIGNING,
  signed: signedFlag('The positions are the platform wallet’s, which pays and signs, instead of your keypair'),
}

const calls = [paths.feeClaims.delegate, ...ACT_CALLS]

export const delegateVerbs: Record<string, Verb> = {
  'delegate grant': verb({
    about: 'Let another wallet claim the fees of your positions, into your own accounts',
    details:
      'For a wallet that is kept offline. The other one, for example the platform wallet, then claims with `svc fees claim --kind damm_v2 --owner`, and can move neither fees nor liquidity elsewhere. A grant replaces an earlier delegate and its permissions.',
    calls,
    args: POOL,
    flags: { to: required(text('Wallet that may claim', WALLET_ADDRESS)), ...flags },
    examples: [
      'svc fees delegate grant CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 -k vault.json',
      'svc fees delegate grant CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --payer 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --build-only',
    ],
    run: ({ pool, to, ...rest }, session) => runDelegation(session, rest, { address: pool, delegate: to }),
  }),
  'delegate revoke': verb({
    about: 'Take every permission back from the delegates of your positions',
    calls,
    args: POOL,
    flags,
    examples: [
      'svc fees delegate revoke CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 -k vault.json',
      'svc fees delegate revoke CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --signed --yes',
    ],
    run: ({ pool, ...rest }, session) => runDelegation(session, rest, { address: pool, delegate: null }),
  }),
  'delegate list': verb({
    about: 'List who may claim the fees of a wallet’s positions',
    calls: [paths.feeClaims.delegations],
    args: POOL,
    flags: {
      owner: text('Wallet that holds the positions (default the fee claimer, or the platform wallet)', WALLET_ADDRESS),
      cursor: text('Continue after the page whose next_cursor this is', { placeholder: 'CURSOR' }),
    },
    examples: [
      'svc fees delegate list CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
      'svc fees delegate list CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --json',
    ],
    async run({ pool, owner, cursor }, { client }) {
      const { data } = await client.feeClaims.delegations({
        address: pool,
        ...(owner === undefined ? {} : { owner }),
        ...(cursor === undefined ? {} : { cursor }),
      })
      const { next_cursor: next } = data
      return { data, notes: next === null ? [] : [`More: repeat with --cursor ${next}`] }
    },
  }),
}

function runDelegation(
  session: Session,
  flags: ActFlags,
  { address, delegate }: { address: string; delegate: string | null },
): Promise<CommandOutcome> {
  const request = { address, delegate }
  return runAct<Flat<FeeDelegationCreated>>(session, flags, {
    what: delegate === null ? `Revoke the delegates of ${address}` : `Let ${delegate} claim the fees of ${address}`,
    call: async (body, options) => flat(await session.client.feeClaims.delegate({ ...request, ...body }, options)),
    demand: (of, { positions }) => demandsDelegation(of, { delegate: request.delegate, positions }),
    preview: previewLines,
    show: shown,
  })
}

type Answered = Omit<FeeDelegationCreated, 'tx'>

const previewLines = ({ delegate, positions, replaced, remaining_positions }: Answered): string[] => [
  previewLine('delegate', delegate ?? 'nobody'),
  previewLine('may', delegate === null ? 'nothing' : 'claim fees into the owner’s accounts, nothing else'),
  ...positions.map((position) => previewLine('position', position)),
  ...replaced.map((wallet) => previewLine('replaces', wallet)),
  ...(remaining_positions === 0 ? [] : [previewLine('left', `${remaining_positions} smaller positions: run it again`)]),
]

const shown = ({ pool_address, owner, delegate, positions, replaced, remaining_positions }: Answered) => ({
  pool_address,
  owner,
  delegate,
  positions,
  replaced,
  remaining_positions,
})
