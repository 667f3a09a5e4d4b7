/** `svc multisig`: multisigs of Squads v4, which `--squads` proposes to. */

import type { MultisigCreated } from '../src/api/multisigs.ts'
import { paths } from '../src/api/paths.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { integer, listOf, type Noun, required, text, verb } from './cli/command.ts'
import { recordVerb } from './cli/reads.ts'
import { demanding } from './signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, OWN_SIGNING, programsField, WALLET_ADDRESS } from './signing/flags.ts'
import { previewLine } from './signing/preview.ts'
import { runSigned } from './signing/run.ts'
import { usage } from './ui/problem.ts'
import { counted } from './ui/words.ts'

const RIGHTS = ['propose', 'vote', 'execute'] as const
type Right = (typeof RIGHTS)[number]
type Member = { address: string } & Record<Right, boolean>

interface NewMultisig {
  multisig: string
  members: readonly Member[]
  threshold: number
  time_lock: number
  rent_collector?: string
}

/** The whole data: no config authority, threshold, members, time lock, rent collector, and no memo. */
const demandsMultisig = demanding(
  'this multisig, with these members and rules, which nobody can change without them',
  async ({ payer }, { multisig, members, ...body }: NewMultisig) => {
    const [{ hexOf }, { SQUADS }, { memberFields, vaultAddress }] = await Promise.all([
      import('../src/solana/bytes.ts'),
      import('../src/solana/programs/squads.ts'),
      import('../src/solana/squads/index.ts'),
    ])
    const data = SQUADS.data('multisig_create_v2', {
      threshold: body.threshold,
      members: members.map((member) => memberFields({ ...member, initiate: member.propose })),
      time_lock: body.time_lock,
      rent_collector: body.rent_collector ?? vaultAddress(multisig, 0),
    })
    const fields = { multisig, creator: payer }
    return [{ program: PROGRAMS.squads.id, call: 'multisig_create_v2', fields, data: hexOf(data) }]
  },
)

const { submit, get, simulate } = paths.transactions

export const multisigNoun: Noun = {
  aliases: { get: 'show' },
  verbs: {
    create: verb({
      about: 'Create a multisig of Squads, whose vault does what its members approve',
      details:
        'Members can do everything unless their rights follow their address, as in ADDRESS:propose or ADDRESS:propose+vote. A server whose wallet may only propose can do nothing alone.',
      calls: [paths.multisigs.create, simulate, submit, get],
      flags: {
        member: required(listOf('Members, with their rights if not all', { placeholder: 'ADDRESS[:RIGHT+RIGHT],…' })),
        threshold: required(integer('Approvals that a proposal needs', { min: 1, max: 20 })),
        time_lock: integer('Seconds between the last approval and the execution (default 0)', {
          min: 0,
          max: 7_776_000,
          placeholder: 'SECONDS',
        }),
        rent_collector: text('Who receives the rent of closed proposals (default: its own vault)', WALLET_ADDRESS),
        allow_programs: ALLOW_PROGRAMS,
        ...OWN_SIGNING,
      },
      examples: [
        'svc multisig create --member 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78,9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --threshold 2',
        'svc multisig create --member 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78,9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g:propose --threshold 1 --time-lock 3600',
      ],
      async run({ member, threshold, time_lock = 0, rent_collector, ...flags }, session) {
        const members = member.map(memberIn)
        const { vaultAddress } = await import('../src/solana/squads/index.ts')
        const body = {
          members,
          threshold,
          time_lock,
          ...(rent_collector === undefined ? {} : { rent_collector }),
          ...programsField(flags),
        }
        return runSigned<MultisigCreated>(session, flags, {
          what: `Create a multisig of ${counted(members.length, 'member')}, ${threshold} of whom must approve`,
          build: (payer) => session.client.multisigs.create({ payer, ...body, ...buildFields(flags) }),
          demand: (of, { multisig }) => demandsMultisig(of, { ...body, multisig }),
          preview: ({ multisig }) => [
            ...members.map((each) => previewLine('member', `${each.address}: ${rightsOf(each)}`)),
            previewLine('vault', vaultAddress(multisig, 0)),
          ],
          show: ({ multisig }) => ({ multisig, vault: vaultAddress(multisig, 0), threshold, members: members.length }),
        })
      },
    }),
    show: recordVerb({
      about: 'Show a multisig: its vault, members, rights and rules',
      at: paths.multisigs.get,
      args: { address: required(text('Address of the multisig')) },
      examples: [
        'svc multisig show 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA',
        'svc multisig show 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA --json',
      ],
      call: (client, input) => client.multisigs.get(input),
    }),
  },
}

function memberIn(typed: string): Member {
  const [address = '', rights] = typed.split(':')
  const given = rights === undefined ? RIGHTS : rights.split('+')
  const unknown = given.find((right) => !(RIGHTS as readonly string[]).includes(right))
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address) || unknown !== undefined) {
    throw usage(`--member must be ADDRESS or ADDRESS:RIGHTS with ${RIGHTS.join(', ')} joined by +, not "${typed}"`, {
      param: '--member',
    })
  }
  const has = (right: Right) => given.includes(right)
  return { address, propose: has('propose'), vote: has('vote'), execute: has('execute') }
}

const rightsOf = (member: Member) => RIGHTS.filter((right) => member[right]).join(', ')
