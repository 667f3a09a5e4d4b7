/** Shows a proposal: its plan in words, what it would change now, who has decided and who is missing, and what is next. */
import type { Proposal, ProposalForecast, RuleApprover } from '../../src/api/proposals.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { fittingText, printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { forecastOrNull } from './forecast.ts'

const COLUMNS = 80

/** States in which it can still be executed. */
const OPEN: readonly Proposal['status'][] = ['planned', 'active', 'approved']

export async function showProposal(session: Session, id: string): Promise<CommandOutcome> {
  const { data: proposal } = await session.client.proposals.get({ id })
  const isOpen = proposal.kind === 'squads' && OPEN.includes(proposal.status)
  return proposalOutcome(session, proposal, isOpen ? await forecastOrNull(session, id) : null)
}

/** The plan of a proposal, and who has decided about it. */
export async function proposalOutcome(
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
