/** `svc fees claim`: claims what a pool holds for its partner or creator, whole or split, signed by the user's keypair or the platform wallet. */
import { BENEFICIARIES, BENEFICIARIES_OF, FEE_CLAIM_KINDS, type Split } from '../../src/api/fee-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { choiceOf, type InputValues, listOf, poolAddress, text, toggle, verb } from '../cli/command.ts'
import { ALLOW_PROGRAMS, IDEMPOTENCY_KEY, SIGNING } from '../signing/flags.ts'
import { refuseNamedWallet } from '../signing/signing-wallet.ts'
import { usage } from '../ui/problem.ts'
import { claimAll } from './claim-all.ts'
import { claimFees } from './one-claim.ts'
import { readSplits } from './splits.ts'

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
  owner: text('With --kind damm_v2: wallet whose positions are claimed', { placeholder: 'WALLET' }),
  split: listOf('Shares in hundredths of a percent, two to ten that sum to 10000', { placeholder: 'ADDR:BPS,…' }),
  split_file: text('CSV of address,bps instead of --split; - for standard input', { placeholder: 'FILE' }),
  max_quote: text('Most raw units that a split divides, if the quote is not SOL', {
    placeholder: 'UNITS',
  }),
  allow_programs: ALLOW_PROGRAMS,
  signed: toggle('The platform wallet pays and signs, instead of your keypair'),
  all: toggle('Claim from every pool that holds fees'),
  min: text('With --all: least SOL that is worth a claim; what pays no SOL is left out', { placeholder: 'SOL' }),
  idempotency_key: IDEMPOTENCY_KEY,
  ...SIGNING,
}
export type ClaimFlags = InputValues<typeof claimFlags>

const { submit, get, simulate, forecast } = paths.transactions

export const claimPoolFees = verb({
  about: 'Claim the fees of a pool, or of all',
  details:
    'The party that is paid must sign: with its keypair, or with --signed if it is the platform wallet. Any wallet can send a leftover. --all continues after a failure, ends with a table, and exits with 1 if any claim failed; a second run claims only what is still there. --all --as creator claims from the pools that the signing wallet created. --all --squads proposes each claim by itself; what waits in an open proposal is left alone.',
  calls: [paths.feeClaims.create, paths.pools.list, simulate, forecast, submit, get, paths.signer.get],
  args: { pool: poolAddress('Address of the pool, or its symbol; not with --all') },
  flags: claimFlags,
  examples: [
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --signed',
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --split 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g:7500,6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78:2500 -k partner.json',
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --as creator --kind vesting -k creator.json',
    'svc fees claim CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --kind damm_v2 --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g -k owner.json',
    'svc fees claim --all --min 0.05 --signed --yes',
  ],
  async run({ pool, ...input }, session) {
    const splits = await readSplits(input.split, input.split_file)
    checkClaimFlags(pool, input, splits)
    if (pool === undefined) return claimAll(session, input, splits)
    const { kind = 'dbc', as: beneficiary, owner } = input
    return claimFees(session, input, { address: pool, kind, beneficiary, owner, splits })
  },
})

function checkClaimFlags(pool: string | undefined, input: ClaimFlags, splits: readonly Split[] | undefined): void {
  if (input.all === (pool !== undefined)) {
    throw usage('give either the address of a pool or --all', { param: '<pool>' })
  }
  if (input.min !== undefined && !input.all) throw usage('--min is for --all', { param: '--min' })
  if (input.all && input.build_only)
    throw usage('--build-only is for one pool, not for --all', { param: '--build-only' })
  if (input.idempotency_key !== undefined && (input.all || !input.signed)) {
    throw usage('--idempotency-key is for one pool with --signed', { param: '--idempotency-key' })
  }
  if (input.signed && (input.keypair !== undefined || input.build_only)) {
    const shown = input.build_only ? '--build-only' : '--keypair'
    throw usage(`${shown} is for claims that your own keypair signs, not for --signed`, { param: shown })
  }
  if (input.signed) refuseNamedWallet(input, '--signed')
  const { kind = 'dbc', as: beneficiary } = input
  if (input.owner !== undefined && kind !== 'damm_v2') {
    throw usage('--owner is for --kind damm_v2', { param: '--owner' })
  }
  if (beneficiary !== undefined && !BENEFICIARIES_OF[kind].includes(beneficiary)) {
    throw usage(`--kind ${kind} pays only the ${BENEFICIARIES_OF[kind][0]}`, { param: '--as' })
  }
  if (splits !== undefined && (input.kind ?? 'dbc') !== 'dbc') {
    throw usage(`splits are for --kind dbc, not for ${input.kind}`, { param: '--kind' })
  }
}
