/** Approves, rejects, cancels, executes or closes a proposal of a multisig: the step is checked here before it is signed. */
import type { ClosedBuffer, Proposal, SquadsApprover } from '../../src/api/proposals.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { solText } from '../../src/solana/amounts.ts'
import { hexOf } from '../../src/solana/bytes.ts'
import { SQUADS } from '../../src/solana/programs/squads.ts'
import { transactionBufferAddress } from '../../src/solana/squads/index.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import type { BuiltTransactions } from '../signing/built-transactions.ts'
import { anyValue, type Call, demanding, unexpectedBuild } from '../signing/demand.ts'
import { termsField } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { begunSince } from '../signing/proposal-journal.ts'
import { runSigned } from '../signing/run.ts'
import type { RunFlags } from '../signing/signed-run.ts'
import { failure } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { forecastOrNull } from './forecast.ts'
import {
  executableFrom,
  executedAccounts,
  memberLines,
  openSquads,
  planLines,
  requireStored,
  type SquadsProposal,
  stepPlace,
} from './squads-plan.ts'

export type StepInput = Omit<RunFlags, 'force'> & { id: string }

type Built = BuiltTransactions & {
  step: {
    proposal: Proposal
    returns?: { lamports: string; to: string } | undefined
    buffers?: readonly ClosedBuffer[] | undefined
  }
}

export type ProposalStep = 'approve' | 'reject' | 'cancel' | 'execute' | 'reclaim'

/** The place of a proposal, derived here, and what only some steps have. */
interface CheckedStep extends ReturnType<typeof stepPlace> {
  /** Of an execution: the accounts of the plan, in its order. */
  accounts: readonly (string | readonly string[])[]
  /** Of a reclaim: whether the accounts of the proposal are closed, and the numbers of the own buffers that are. */
  reclaims?: { isClosed: boolean; buffers: readonly number[] }
}

/** The whole data of each instruction, in hex: nothing beside its name, and no memo. */
const DATA: Record<ProposalStep | 'closeBuffer', string> = {
  approve: hexOf(SQUADS.data('proposal_approve', {})),
  reject: hexOf(SQUADS.data('proposal_reject', {})),
  cancel: hexOf(SQUADS.data('proposal_cancel_v2', {})),
  execute: hexOf(SQUADS.data('vault_transaction_execute', {})),
  reclaim: hexOf(SQUADS.data('vault_transaction_accounts_close', {})),
  closeBuffer: hexOf(SQUADS.data('transaction_buffer_close', {})),
}

const vote =
  (step: 'approve' | 'reject' | 'cancel', call: string) =>
  ({ payer }: { payer: string }, { multisig, proposal }: CheckedStep): Call[] => [
    { program: SQUADS.id, call, fields: { multisig, proposal, member: payer }, data: DATA[step] },
  ]

const demandsStep = {
  approve: demanding('one approval of exactly this proposal', vote('approve', 'proposal_approve')),
  reject: demanding('one rejection of exactly this proposal', vote('reject', 'proposal_reject')),
  cancel: demanding('one vote to cancel exactly this proposal', vote('cancel', 'proposal_cancel_v2')),
  execute: demanding(
    'the execution of exactly this proposal, with the accounts of the plan',
    ({ payer }, { multisig, proposal, transaction, accounts }: CheckedStep) => [
      {
        program: SQUADS.id,
        call: 'vault_transaction_execute',
        fields: { multisig, proposal, transaction, member: payer },
        data: DATA.execute,
        others: accounts,
      },
    ],
  ),
  reclaim: demanding(
    'the closing of exactly this proposal, whose rent Squads pays to the rent collector of the multisig alone, and of your own buffers',
    ({ payer }, { multisig, proposal, transaction, reclaims }: CheckedStep): Call[] => [
      ...(reclaims?.isClosed === false
        ? []
        : [
            {
              program: SQUADS.id,
              call: 'vault_transaction_accounts_close',
              fields: { multisig, proposal, transaction, rent_collector: anyValue },
              data: DATA.reclaim,
            },
          ]),
      ...(reclaims?.buffers ?? []).map((index) => ({
        program: SQUADS.id,
        call: 'transaction_buffer_close',
        fields: {
          multisig,
          transaction_buffer: transactionBufferAddress(multisig, payer, index),
          creator: payer,
        },
        data: DATA.closeBuffer,
      })),
    ],
  ),
}

const WORDS: Record<ProposalStep, string> = {
  approve: 'Approve',
  reject: 'Reject',
  cancel: 'Cancel',
  execute: 'Execute',
  reclaim: 'Return the rent of',
}

/** Runs the step for the wallet that signs, who must be a member with the right to it. */
export async function runStep(
  session: Session,
  answered: Proposal,
  step: ProposalStep,
  { id, ...flags }: StepInput,
): Promise<CommandOutcome> {
  const proposal = openSquads(id, answered)
  const { approver } = proposal
  // What nobody can execute may still be rejected, cancelled or closed.
  const carriesOn = step === 'approve' || step === 'execute'
  const stored = carriesOn ? await requireStored(session, proposal) : null
  const asked = { ...stepPlace(approver), accounts: stored === null ? [] : executedAccounts(stored) }
  // The simulation of an execution shows the same.
  const forecast = step === 'approve' ? await forecastOrNull(session, id) : null
  const plan = await planLines(session, proposal, forecast)
  const outcome = await runSigned<Built>(
    session,
    { ...flags, force: false },
    {
      what: `${WORDS[step]} the proposal ${id}`,
      build: async (member) => {
        const { data } = await session.client.proposals[step]({ id, member, ...termsField(flags) })
        if (data.mode !== 'unsigned') throw unexpectedBuild('it answered without a transaction')
        const { proposal: now, returns, buffers, mode: _, ...built } = data
        return { data: { ...built, step: { proposal: now, returns, buffers } } }
      },
      async demand(of, { step: answer }) {
        requireSamePlan(proposal, openSquads(id, answer.proposal))
        if (carriesOn) of.note('the account on the chain stores exactly this plan')
        const reclaims = step === 'reclaim' ? await checkedReclaim(session, of.payer, answer, approver) : undefined
        return demandsStep[step](of, { ...asked, ...(reclaims === undefined ? {} : { reclaims }) })
      },
      preview: ({ step: { returns, buffers = [] } }) => [
        ...plan,
        ...memberLines(proposal, null),
        ...(returns === undefined ? [] : [previewLine('returns', `${solText(returns.lamports)} to ${returns.to}`)]),
        ...(buffers.length === 0 ? [] : [previewLine('buffers', bufferWords(buffers))]),
      ],
      show: async ({ step: { buffers } }, confirmed) => ({
        proposal: id,
        ...(confirmed === null ? {} : await statusNow(session, id)),
        ...(buffers === undefined ? {} : { buffers_closed: buffers.length, buffer_lamports: String(rentOf(buffers)) }),
        multisig: approver.multisig,
        transaction_index: approver.transaction_index,
      }),
    },
  )
  const isSent = !flags.dry_run && !flags.build_only
  return isSent ? { ...outcome, notes: [...(outcome.notes ?? []), ...nextNotes(step, proposal)] } : outcome
}

const rentOf = (buffers: readonly ClosedBuffer[]) => buffers.reduce((sum, { lamports }) => sum + BigInt(lamports), 0n)

const bufferWords = (buffers: readonly ClosedBuffer[]) =>
  `${solText(rentOf(buffers))} to you, from ${counted(buffers.length, 'buffer')} that interrupted proposals left`

/** A signed transaction can land for some minutes, and needs its buffer until then. */
const LANDING_MS = 10 * MINUTE_MS

/**
 * What a reclaim closes. Throws a failure for a buffer that is not the wallet's own, or that a command of this
 * machine still fills.
 */
async function checkedReclaim(
  { wallet, clock }: Pick<Session, 'wallet' | 'clock'>,
  payer: string,
  { returns, buffers = [] }: Built['step'],
  { multisig }: SquadsApprover,
) {
  for (const { address, buffer_index: index } of buffers) {
    const isNumber = Number.isInteger(index) && index >= 0 && index <= 255
    if (!isNumber || address !== transactionBufferAddress(multisig, payer, index)) {
      throw unexpectedBuild(`it closes ${address}, which is not a buffer of ${payer} in this multisig`)
    }
  }
  for (const { id, signed } of begunSince(clock.now() - LANDING_MS)) {
    const contents = await Promise.all(signed.map(({ transaction }) => wallet.decode(transaction)))
    const named = new Set(
      contents.flatMap(({ instructions }) =>
        instructions.flatMap(({ accounts }) => accounts.map((each) => each.address)),
      ),
    )
    const used = buffers.find(({ address }) => named.has(address))
    if (used === undefined) continue
    throw failure(`the buffer ${used.address} is filled by a command that was interrupted, for the proposal ${id}`, {
      next: 'run that command again, which finishes it; otherwise reclaim the rent ten minutes after it was signed',
    })
  }
  return { isClosed: returns !== undefined, buffers: buffers.map(({ buffer_index }) => buffer_index) }
}

/** The state after the step, which this read also stores; without an answer, the step is confirmed all the same. */
async function statusNow(session: Session, id: string): Promise<{ proposal_status?: string }> {
  try {
    return { proposal_status: (await session.client.proposals.get({ id })).data.status }
  } catch {
    return {}
  }
}

/** Throws a failure if the step was built for another plan than the one that is shown. */
function requireSamePlan(seen: SquadsProposal, now: SquadsProposal): void {
  const isSame =
    seen.message_sha256 === now.message_sha256 &&
    seen.approver.multisig === now.approver.multisig &&
    seen.approver.transaction_index === now.approver.transaction_index
  if (!isSame) throw unexpectedBuild(`its plan has the hash ${now.message_sha256}, not ${seen.message_sha256}`)
}

/** What follows from the step, once it is confirmed. */
function nextNotes(step: ProposalStep, { id, needed, decisions, approver }: SquadsProposal): string[] {
  const decided = (decision: string) => decisions.filter((each) => each.decision === decision).length + 1
  switch (step) {
    case 'approve': {
      const left = needed - decided('approved')
      if (left > 0) return [`${counted(left, 'more member')} must approve: svc proposals approve ${id}`]
      return [`It is approved. Execute it${lockNote(approver)}: svc proposals execute ${id}`]
    }
    case 'reject':
      return [`It is rejected once it can no longer get its approvals: svc proposals show ${id}`]
    case 'cancel': {
      const left = needed - decided('cancelled')
      return left > 0 ? [`${counted(left, 'more member')} must cancel it: svc proposals cancel ${id}`] : []
    }
    case 'execute':
      return [`Return its rent: svc proposals reclaim ${id}`]
    case 'reclaim':
      return []
  }
}

function lockNote(approver: SquadsProposal['approver']): string {
  const from = executableFrom(approver)
  if (from !== null) return ` from ${timeText(from)} on`
  return approver.time_lock === 0 ? '' : ` in ${counted(approver.time_lock, 'second')}`
}
