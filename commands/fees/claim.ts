/** `svc fees claim`: claims what a pool holds for its partner or creator, whole or split, signed by the user's keypair or the platform wallet. */
import { BENEFICIARIES, BENEFICIARIES_OF, FEE_CLAIM_KINDS } from '../../src/api/fee-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { choiceOf, type InputValues, poolAddress, text, toggle, verb } from '../cli/command.ts'
import { ALLOW_PROGRAMS, IDEMPOTENCY_KEY, SIGNING, signedFlag } from '../signing/flags.ts'
import { usage } from '../ui/problem.ts'
import { claimAll } from './claim-all.ts'
import { claimFees } from './one-claim.ts'
import { readSplits, SPLIT_FLAGS } from './splits.ts'

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
export type ClaimFlags = InputValues<typeof claimFlags>

const { submit, get, simulate, forecast } = paths.transactions

export const claimPoolFees = verb({
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
