/** A request with `--signed` that waits for approvals: the answer of the command is its proposal. */
import type { Proposal } from '../../src/api/proposals.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { EXIT } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'

/** Thrown in place of the answer, because nothing was signed that a command could follow. */
export class WaitsForApproval extends Error {
  readonly proposal: Proposal

  constructor(proposal: Proposal) {
    super(`it waits for approvals as ${proposal.id}`)
    this.name = 'WaitsForApproval'
    this.proposal = proposal
  }
}

/** Who must approve, until when, and what to do next. */
export function proposedOutcome({ proposal }: WaitsForApproval): CommandOutcome {
  const { id, what, needed, approver, expires_at, message_sha256 } = proposal
  const people = approver.kind === 'rule' ? approver.approvers.map(({ name }) => printable(name)).join(', ') : '-'
  const rows: [string, string][] = [
    ['proposal', id],
    ['what', printable(what)],
    ['why', approver.kind === 'rule' ? printable(approver.reason) : '-'],
    ['needs', `${needed} of: ${people}`],
    ['message sha256', message_sha256],
    ['until', expires_at === null ? '-' : timeText(expires_at)],
  ]
  return {
    data: { mode: 'proposed', proposal },
    text: `Nothing was signed: it waits for approvals.\n${fieldLines(rows).join('\n')}`,
    exitCode: EXIT.waiting,
    notes: [`Follow it: svc proposals show ${id}`, `An approver approves it: svc proposals approve ${id}`],
  }
}
