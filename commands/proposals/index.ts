/** `svc proposals`: acts that wait for an approver, a multisig or the people of a rule. */
import { paths } from '../../src/api/paths.ts'
import type { Proposal, ProposalForecast, RuleApprover } from '../../src/api/proposals.ts'
import { type CommandOutcome, type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb, rowsOfRecords } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { OWN_SIGNING, SIGNING_HERE } from '../signing/flags.ts'
import { usage } from '../ui/problem.ts'
import { fittingText, printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { forecastOrNull } from './forecast.ts'
import type { ProposalStep, StepInput } from './squads-steps.ts'

// Shows a proposal: its plan in words, what it would change now, who has decided and who is missing, and what is
// next.

const COLUMNS = 80

/** States in which it can still be executed. */
const OPEN: readonly Proposal['status'][] = ['planned', 'active', 'approved']

async function showProposal(session: Session, id: string): Promise<CommandOutcome> {
  const { data: proposal } = await session.client.proposals.get({ id })
  const isOpen = proposal.kind === 'squads' && OPEN.includes(proposal.status)
  return proposalOutcome(session, proposal, isOpen ? await forecastOrNull(session, id) : null)
}

/** The plan of a proposal, and who has decided about it. */
async function proposalOutcome(
  session: Session,
  proposal: Proposal,
  forecast: ProposalForecast | null,
): Promise<CommandOutcome> {
  const { id } = proposal
  if (proposal.approver.kind === 'rule') return ruleProposal(session, { ...proposal, approver: proposal.approver })
  const { memberLines, openSquads, planLines } = await import('./squads-plan.ts')
  const opened = openSquads(id, proposal)
  const isOpen = OPEN.includes(proposal.status)
  const own = await session.wallet.address().catch(() => null)
  const approved = proposal.decisions.filter(({ decision }) => decision === 'approved').length
  const { status, needed, fault, signature, expires_at } = proposal
  const lines = [
    `${id}  ${status}, ${approved} of ${needed} approvals`,
    ...(fault === null ? [] : [`  fault     ${fault}`]),
    ...(isOpen && expires_at !== null ? [`  until     ${timeText(expires_at)}, the start of its airdrop`] : []),
    ...(signature === null ? [] : [`  executed  ${signature}`]),
    ...(await planLines(session, opened, forecast)),
    ...(isOpen && forecast === null ? ['what it would change is not known: the API could not try it'] : []),
    ...memberLines(opened, own),
  ]
  return {
    data: { ...proposal, forecast },
    text: await fittingText(lines.map(printable).join('\n'), COLUMNS),
    notes: proposal.next === null ? [] : [printable(proposal.next)],
  }
}

async function ruleProposal(
  session: Session,
  proposal: Proposal & { approver: RuleApprover },
): Promise<CommandOutcome> {
  const { approverLines, rulePlanLines } = await import('./rule-decisions.ts')
  const { id, status, needed, decisions, fault, signature, next } = proposal
  const approved = decisions.filter(({ decision }) => decision === 'approved').length
  const lines = [
    `${id}  ${status}, ${approved} of ${needed} approvals`,
    ...(fault === null ? [] : [`  fault         ${fault}`]),
    ...(signature === null ? [] : [`  executed      ${signature}`]),
    ...(await rulePlanLines(session, id, proposal)),
    ...approverLines(proposal),
  ]
  return {
    data: proposal,
    text: await fittingText(lines.map(printable).join('\n'), COLUMNS),
    notes: next === null ? [] : [printable(next)],
  }
}

const proposalPaths = paths.proposals
const { submit, get, simulate, refresh } = paths.transactions
const id = required(text('Proposal', { placeholder: 'ID' }))
const EXAMPLE = 'prp_4fJq1Vb0aW2mX8sYtLcD3eRk'

/** The longest act in a table of 80 columns, beside id and status. */
const MOST_WHAT = 36
const cropped = (what: string) => (what.length <= MOST_WHAT ? what : `${what.slice(0, MOST_WHAT - 1)}…`)

/** Squads itself is never refused by svc, so there is nothing to force. */
const { force: _, ...STEP_FLAGS } = OWN_SIGNING
const { force: __, ...CREATE_FLAGS } = SIGNING_HERE

/** A step of a multisig by the wallet that signs, or what a rule does instead. */
async function takeStep(
  session: Session,
  step: ProposalStep,
  input: StepInput,
  ofRule: (proposal: Proposal) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { data } = await session.client.proposals.get({ id: input.id })
  if (data.kind === 'rule') return ofRule(data)
  const { runStep } = await import('./squads-steps.ts')
  return runStep(session, data, step, input)
}

/** Throws a usage problem for a flag that only a transaction has: a rule's decision sends none. */
function refuseFlags({ id: of, ...flags }: StepInput, allowed: readonly string[] = []): void {
  // Guards are off of themselves where a device signs.
  const isUnsaid = (value: unknown) => value === undefined || value === false || value === 'off'
  const given = Object.entries(flags).find(([name, value]) => !isUnsaid(value) && !allowed.includes(name))
  if (given === undefined) return
  const param = `--${given[0].replaceAll('_', '-')}`
  throw usage(`${param} is for the proposals of a multisig: ${of} is one of a rule, and nothing is sent for it`, {
    param,
  })
}

const decide =
  (step: 'approve' | 'reject', decision: 'approved' | 'rejected') =>
  (input: StepInput, session: Session): Promise<CommandOutcome> =>
    takeStep(session, step, input, async (proposal) => {
      refuseFlags(input, ['keypair'])
      const { decideRule } = await import('./rule-decisions.ts')
      return decideRule(session, proposal, { id: input.id, decision, keypair: input.keypair })
    })

const ofRuleAlone =
  (step: 'cancel' | 'execute', verbText: string) =>
  (input: StepInput, session: Session): Promise<CommandOutcome> =>
    takeStep(session, step, input, async () => {
      refuseFlags(input)
      await session.ui.confirm(`${verbText} the proposal ${input.id}?`)
      const { ruleOutcome } = await import('./rule-decisions.ts')
      return ruleOutcome((await session.client.proposals[step]({ id: input.id })).data.proposal)
    })

export const proposalsNoun: Noun = {
  aliases: { get: 'show', vote: 'approve', close: 'reclaim', propose: 'create' },
  verbs: {
    list: listVerb({
      about: 'List proposals, newest first',
      at: proposalPaths.list,
      filters: {
        kind: text('Only those of a multisig (squads) or of a rule (rule)', { placeholder: 'KIND' }),
        status: text('Only those in this state', { placeholder: 'STATUS' }),
        multisig: text('Only those of this multisig', { placeholder: 'ADDRESS' }),
      },
      examples: ['svc proposals list', 'svc proposals list --status active'],
      columns: ['id', 'kind', 'status', 'what', 'created_at'],
      table: (proposals: readonly Proposal[]) =>
        rowsOfRecords(
          proposals.map((each) => ({ ...each, what: cropped(each.what) })),
          ['id', 'status', 'what'],
        ),
      call: (client, query) => client.proposals.list(query as never),
    }),
    show: verb({
      about: 'Show the plan of a proposal, who has decided, and what is next',
      details: 'Of a multisig also what its execution would change now, and how that differs from what was proposed.',
      calls: [proposalPaths.get, proposalPaths.forecast, paths.accounts.get],
      args: { id },
      examples: [`svc proposals show ${EXAMPLE}`, `svc proposals show ${EXAMPLE} --json`],
      run: (input, session) => showProposal(session, input.id),
    }),
    create: verb({
      about: 'Propose a transaction of your own to a multisig',
      details:
        'For what no other command builds: any transaction that the vault pays for, from any tool. It is shown here as its bytes say, and stored exactly as it is. One that is too large for a proposal in one transaction is collected in several. Of a printed build, its tracked resource is recorded when it is executed.',
      calls: [proposalPaths.create, paths.accounts.get, refresh, simulate, submit, get, proposalPaths.get],
      args: {
        transaction: required(text('Unsigned, in base64, @FILE that holds it, or - for standard input')),
      },
      flags: CREATE_FLAGS,
      examples: [
        'svc proposals create @payout.txt --squads 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA',
        'svc proposals create - --squads 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA:1 -k ada.json < built.json',
      ],
      run: async (input, session) => (await import('./create.ts')).createProposal(session, input),
    }),
    approve: verb({
      about: 'Approve a proposal with your wallet',
      details:
        'The transaction is decoded here and its hash compared. Of a multisig, your wallet votes as its member. Of a rule, you sign a text that names the act, and nothing else.',
      calls: [
        proposalPaths.get,
        paths.accounts.get,
        proposalPaths.forecast,
        proposalPaths.approve,
        simulate,
        submit,
        get,
      ],
      args: { id },
      flags: STEP_FLAGS,
      examples: [`svc proposals approve ${EXAMPLE}`, `svc proposals approve ${EXAMPLE} -k ada.json`],
      run: decide('approve', 'approved'),
    }),
    reject: verb({
      about: 'Reject a proposal with your wallet',
      calls: [proposalPaths.get, paths.accounts.get, proposalPaths.reject, simulate, submit, get],
      args: { id },
      flags: STEP_FLAGS,
      examples: [`svc proposals reject ${EXAMPLE}`, `svc proposals reject ${EXAMPLE} -k ada.json`],
      run: decide('reject', 'rejected'),
    }),
    cancel: verb({
      about: 'Cancel a proposal: of a multisig, an approved one',
      details: 'Of a multisig, as many members must cancel it as must approve it.',
      calls: [proposalPaths.get, paths.accounts.get, proposalPaths.cancel, simulate, submit, get],
      args: { id },
      flags: STEP_FLAGS,
      examples: [`svc proposals cancel ${EXAMPLE}`, `svc proposals cancel ${EXAMPLE} --yes`],
      run: ofRuleAlone('cancel', 'Cancel'),
    }),
    execute: verb({
      about: 'Execute an approved proposal',
      details: 'Of a multisig, a member executes it and pays the fee. It is refused if an amount has changed.',
      calls: [proposalPaths.get, paths.accounts.get, proposalPaths.execute, simulate, submit, get],
      args: { id },
      flags: STEP_FLAGS,
      examples: [`svc proposals execute ${EXAMPLE}`, `svc proposals execute ${EXAMPLE} --yes`],
      run: ofRuleAlone('execute', 'Execute'),
    }),
    reclaim: verb({
      about: 'Close the accounts of a finished proposal of a multisig, and leftover buffers',
      details:
        'Their rent returns to the rent collector of the multisig, and anybody may send this. Buffers that interrupted proposals of your wallet left in this multisig are closed too, at most 10 at a time, and their rent returns to you. Take any proposal of that multisig: if it is not finished, only the buffers are closed.',
      calls: [proposalPaths.get, paths.accounts.get, proposalPaths.reclaim, simulate, submit, get],
      args: { id },
      flags: STEP_FLAGS,
      examples: [`svc proposals reclaim ${EXAMPLE}`, `svc proposals reclaim ${EXAMPLE} --dry-run`],
      run: (input, session) =>
        takeStep(session, 'reclaim', input, async () => {
          throw usage(`${input.id} is a proposal of a rule: it has no accounts on the chain, and no rent`)
        }),
    }),
    renew: verb({
      about: 'Propose the request of a proposal anew, with the amounts of now',
      details:
        'For one that went stale, was rejected, cancelled, or never reached the chain. The new plan is shown, and only a member who may propose can sign it.',
      calls: [
        proposalPaths.get,
        paths.accounts.get,
        proposalPaths.renew,
        proposalPaths.forecast,
        simulate,
        submit,
        get,
      ],
      args: { id },
      flags: { keypair: STEP_FLAGS.keypair, wait: STEP_FLAGS.wait },
      examples: [`svc proposals renew ${EXAMPLE}`, `svc proposals renew ${EXAMPLE} -k ada.json --wait finalized`],
      run: async (input, session) => (await import('./renew.ts')).renewProposal(session, input),
    }),
    import: verb({
      about: 'Follow a proposal of a multisig that was made elsewhere',
      details: 'It is read from the chain and decoded. Then it is shown, approved and executed like one made here.',
      calls: [proposalPaths.import, proposalPaths.forecast, paths.accounts.get],
      args: {
        multisig: required(text('Address of the multisig', { placeholder: 'MULTISIG' })),
        transaction_index: required(text('Number of the transaction in it', { placeholder: 'NUMBER' })),
      },
      examples: [
        'svc proposals import 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA 7',
        'svc proposals import 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA 7 --json',
      ],
      async run({ multisig, transaction_index }, session) {
        const { data } = await session.client.proposals.import({
          multisig,
          transaction_index,
        })
        return proposalOutcome(session, data, await forecastOrNull(session, data.id))
      },
    }),
  },
}
