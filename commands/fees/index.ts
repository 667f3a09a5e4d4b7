/** `svc fees`: the fees that pools owe the partner: reading them, claiming them and the history of claims. */
import {
  BENEFICIARIES,
  BENEFICIARIES_OF,
  FEE_CLAIM_KINDS,
  type FeeClaim,
  type FeeClaimKind,
  type FeeDelegationCreated,
} from '../../src/api/fee-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { solText } from '../../src/solana/amounts.ts'
import { POSITIONS_PER_CLAIM } from '../../src/solana/constants.ts'
import { CLAIM_TO_OWNER } from '../../src/solana/position-permissions.ts'
import { TOKEN_2022_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { ratioOf, solCell, solOf } from '../cli/amounts.ts'
import {
  type CommandOutcome,
  choiceOf,
  type Noun,
  poolAddress,
  type Rows,
  required,
  text,
  toggle,
  type Verb,
  verb,
} from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { metricsOutcome } from '../pools/record.ts'
import { type Flat, flat } from '../signing/built-transactions.ts'
import { type Call, demanding } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, IDEMPOTENCY_KEY, SIGNING, signedFlag, WALLET_ADDRESS } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, type ActFlags, runAct } from '../signing/run-act.ts'
import type { Drawing } from '../ui/drawing.ts'
import { usage } from '../ui/problem.ts'
import { timeSpans } from '../ui/time-spans.ts'
import { claimAll } from './claim-all.ts'
import { claimFees } from './one-claim.ts'
import { scheduleVerbs } from './schedule.ts'
import { readSplits, SPLIT_FLAGS } from './splits.ts'

// `svc fees delegate`: lets another wallet claim the fees of positions for their owner, shows who may, and takes it
// back.

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

const delegateVerbs: Record<string, Verb> = {
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

// `svc fees claim`: claims what a pool holds for its partner or creator, whole or split, signed by the user's
// keypair or the platform wallet.

/** Only trading fees of the launch curve are divided. */
const UNDIVIDED = FEE_CLAIM_KINDS.filter((kind) => kind !== 'dbc').map((kind) => `kind=${kind}`)

const claimFlags = {
  kind: choiceOf(FEE_CLAIM_KINDS, 'What is claimed; default dbc, with --all every kind', {
    dbc: 'trading fees of the launch curve',
    damm_v2: 'fees of positions after the migration',
    surplus: 'what a full curve leaves besides its liquidity',
    migration_fee: 'the fee of the migration',
    leftover: 'tokens that nobody bought',
    pool_creation_fee: 'what the creation paid',
    vesting: 'vested tokens',
  }),
  as: choiceOf(BENEFICIARIES, "Whose share is claimed: the partner's (default), or that of the pool's creator"),
  owner: text('With --kind damm_v2: wallet whose positions are claimed', {
    placeholder: 'WALLET',
    needs: ['kind=damm_v2'],
  }),
  split: { ...SPLIT_FLAGS.split, conflicts: [...SPLIT_FLAGS.split.conflicts, ...UNDIVIDED] },
  split_file: { ...SPLIT_FLAGS.split_file, conflicts: UNDIVIDED },
  max_quote: text('Most raw units that a split divides, if the quote is not SOL', {
    placeholder: 'UNITS',
  }),
  allow_programs: ALLOW_PROGRAMS,
  signed: signedFlag('The platform wallet pays and signs, instead of your keypair'),
  all: toggle('Claim from every pool that holds fees', { conflicts: ['pool', 'build_only', 'idempotency_key'] }),
  min: text('With --all: least SOL that is worth a claim; what pays no SOL is left out', {
    placeholder: 'SOL',
    needs: ['all'],
  }),
  idempotency_key: IDEMPOTENCY_KEY,
  ...SIGNING,
}

const { submit, get, simulate, forecast } = paths.transactions

const claimPoolFees = verb({
  about: 'Claim the fees of a pool, or of all',
  details:
    'The party that is paid must sign: with its keypair, or with --signed if it is the platform wallet. Any wallet can send a leftover. --all continues after a failure, ends with a table, and exits with 1 if any claim failed; a second run claims only what is still there. --all --as creator claims from the pools that the signing wallet created. --all --squads proposes each claim by itself; what waits in an open proposal is left alone.',
  calls: [paths.feeClaims.create, paths.pools.list, simulate, forecast, submit, get, paths.signer.get],
  args: { pool: poolAddress('Address of the pool, or its symbol; not with --all') },
  flags: claimFlags,
  needs: [['pool', 'all']],
  examples: [
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --signed',
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --split 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g:7500,6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78:2500 -k partner.json',
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --as creator --kind vesting -k creator.json',
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --kind damm_v2 --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g -k owner.json',
    'svc fees claim --all --min 0.05 --signed --yes',
  ],
  async run({ pool, ...input }, session) {
    const splits = await readSplits(input.split, input.split_file)
    const { kind = 'dbc', as: beneficiary, owner } = input
    if (beneficiary !== undefined && !BENEFICIARIES_OF[kind].includes(beneficiary)) {
      throw usage(`--kind ${kind} pays only the ${BENEFICIARIES_OF[kind][0]}`, { param: '--as' })
    }
    if (pool === undefined) return claimAll(session, input, splits)
    return claimFees(session, input, { address: pool, kind, beneficiary, owner, splits })
  },
})

/** The kinds of the API, whose own list would load its schemas with every start. */
const KINDS = [
  'dbc',
  'damm_v2',
  'surplus',
  'migration_fee',
  'leftover',
  'pool_creation_fee',
  'vesting',
] as const satisfies readonly FeeClaimKind[]

export const feesNoun: Noun = {
  groups: {
    schedule: 'Claims that the platform wallet makes by itself',
    delegate: 'Wallets that claim for the owner of positions',
  },
  aliases: { history: 'list' },
  verbs: {
    claim: claimPoolFees,
    list: listVerb({
      about: 'List fee claims, newest first',
      at: [paths.feeClaims.list, paths.feeClaims.listByPool],
      filters: {
        pool: poolAddress('Only those of this pool', { placeholder: 'ADDRESS' }),
        kind: choiceOf(KINDS, 'Only those of this kind'),
        beneficiary: choiceOf(['partner', 'creator'], 'Only those of this share'),
      },
      examples: [
        'svc fees list',
        'svc fees list --pool CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --kind dbc --all',
        'svc fees history --all --plot --svg fees.svg',
      ],
      columns: [
        'id',
        'type',
        'pool_address',
        'kind',
        'beneficiary',
        'claimer',
        'signature',
        'occurred_at',
        'quote',
        'base',
        'sol',
        'received',
      ],
      table: historyTable,
      draw: historyDrawing,
      call: (client, { pool, ...query }) =>
        pool === undefined ? client.feeClaims.list(query) : client.feeClaims.listByPool({ address: pool, ...query }),
    }),
    metrics: verb({
      about: 'Read the fees a pool holds for the partner',
      calls: [paths.pools.feeMetrics],
      args: { address: required(poolAddress()) },
      examples: [
        'svc fees metrics CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
        'svc fees metrics CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
      ],
      run: async (input, { client }) => metricsOutcome((await client.pools.feeMetrics(input)).data),
    }),
    ...delegateVerbs,
    ...scheduleVerbs,
  },
}

/** The parties as they are named, from the axis upwards. */
const PARTIES = ['partner', 'creator'] as const

/** Null without a claim whose time is known. */
export function historyDrawing(claims: readonly FeeClaim[]): Drawing | null {
  const timed = claims.flatMap((claim) => {
    const at = Date.parse(claim.occurred_at ?? '')
    return Number.isNaN(at) ? [] : [{ ...claim, at }]
  })
  const spans = timeSpans(timed.map(({ at }) => at))
  if (spans === null) return null
  const paysSol = timed.some(({ sol }) => BigInt(sol ?? '0') > 0n)
  const sums = Array.from({ length: spans.count }, () => PARTIES.map(() => 0n))
  for (const { at, sol, beneficiary } of timed) {
    const span = sums[spans.placeOf(at)]
    const party = beneficiary === 'creator' ? 1 : 0
    if (span !== undefined) span[party] = (span[party] ?? 0n) + (paysSol ? BigInt(sol ?? '0') : 1n)
  }
  const totalOf = (span: readonly bigint[]) => span.reduce((sum, part) => sum + part, 0n)
  const most = sums.map(totalOf).reduce((highest, sum) => (sum > highest ? sum : highest), 0n)
  return {
    kind: 'bars',
    names: PARTIES,
    bars: sums.map((span) => span.map((part) => ratioOf(part, most))),
    labels: {
      title: paysSol ? `SOL claimed each ${spans.name} (UTC)` : `Claims each ${spans.name} (UTC)`,
      highest: paysSol ? solOf(most) : String(most),
      lowest: '0',
      first: spans.first,
      last: spans.count > 1 ? spans.last : '',
    },
  }
}

// The table of `svc fees list`: what each claim has paid, in SOL, and who got what.

type PaidAmounts = Pick<FeeClaim, 'sol' | 'quote' | 'base'>

/**
 * A quote in SOL is shown only as SOL; other quotes and the pool's token are raw units. Until a claim is final its
 * amounts are unknown; an older daemon never knows them.
 */
export function historyTable(claims: readonly FeeClaim[]): Rows {
  return {
    columns: ['occurred_at', 'kind', 'party', 'sol', 'other_units', 'received', 'pool_address', 'signature'],
    rows: claims.map((claim) => [
      claim.occurred_at,
      claim.kind,
      claim.beneficiary,
      claim.sol ? solCell(claim.sol) : claim.sol === null ? 'not final yet' : null,
      unitsOf(claim),
      claim.received?.map(receiptText).join(', ') || null,
      claim.pool_address,
      claim.signature,
    ]),
  }
}

function unitsOf({ sol, quote, base }: PaidAmounts): string | null {
  const isOther = sol === '0' && (quote ?? '0') !== '0'
  const parts = [
    ...(isOther ? [`${quote} of the quote`] : []),
    ...((base ?? '0') === '0' ? [] : [`${base} of the token`]),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

const receiptText = ({ wallet, token, amount }: NonNullable<FeeClaim['received']>[number]): string =>
  token === 'SOL' ? `${wallet} ${solText(amount)}` : `${wallet} ${amount} of ${token}`
