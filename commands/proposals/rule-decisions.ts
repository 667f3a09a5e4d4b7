/** Decides about a proposal of a rule: reads its transaction here, shows it, and signs the text of the decision. */
import { proposalNames } from '../../src/api/proposal-names.ts'
import type { Proposal, RuleApprover } from '../../src/api/proposals.ts'
import { tokenText } from '../../src/solana/amounts.ts'
import { decisionText } from '../../src/solana/decision-texts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { addressNames } from '../signing/address-names.ts'
import { contentOutcome } from '../signing/content.ts'
import { previewLine } from '../signing/preview.ts'
import type { DescribedContent } from '../signing/wallet.ts'
import { failure, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { requireAnswered } from './answered.ts'
import { forecastLines, forecastOrNull } from './forecast.ts'

type RuleProposal = Proposal & { approver: RuleApprover }

/** The proposal that the API answered, with what the text of a decision needs. Throws for one that cannot be decided. */
function openRule(id: string, proposal: Proposal) {
  const { approver, expires_at, status, fault } = proposal
  if (approver.kind !== 'rule' || expires_at === null) throw usage(`${id} is not a proposal of a rule`)
  if (status !== 'active' && status !== 'approved') {
    throw usage(`the proposal ${id} is ${status}${fault === null ? '' : ` (${printable(fault)})`}`)
  }
  return { ...proposal, approver, expires_at }
}

/**
 * Shows the stored transaction as it is decoded here, and signs a text with the hash of exactly this transaction. Throws
 * a failure if the API names another hash.
 */
export async function decideRule(
  session: Session,
  answered: Proposal,
  { id, decision, keypair }: { id: string; decision: 'approved' | 'rejected'; keypair?: string | undefined },
): Promise<CommandOutcome> {
  const { client, ui, wallet } = session
  const proposal = openRule(id, answered)
  const { approver, what, message_sha256: sha256, expires_at } = proposal
  const verb = decision === 'approved' ? 'Approve' : 'Reject'
  const signer = await wallet.address(keypair)
  const plan = await rulePlanLines(session, id, proposal)
  await ui.preview([`${verb} ${id}`, ...plan, `  signer        ${signer}`])
  await ui.confirm(`${verb} it with ${signer}?`)
  const text = decisionText(decision, {
    id,
    what,
    message_sha256: sha256,
    genesis: approver.genesis,
    expires_at: Date.parse(expires_at),
  })
  const { address, signature } = await wallet.signText(text, keypair)
  const call = decision === 'approved' ? client.proposals.approve : client.proposals.reject
  const { data } = await call({ id, approver: address, signature })
  return ruleOutcome(data.proposal)
}

/** The plan as lines: what the proposal says, and its transaction as it is decoded here. Throws for another hash. */
export async function rulePlanLines(
  session: Pick<Session, 'client' | 'wallet'>,
  id: string,
  proposal: RuleProposal,
): Promise<string[]> {
  const { approver, what, message_sha256, transaction, expires_at, status } = proposal
  const isOpen = status === 'active' || status === 'approved'
  requireAnswered(id, proposal)
  const content = await session.wallet.describe(transaction)
  const names = await addressNames(session, content, proposalNames(approver, content.fee_payer))
  const untried = 'when it is executed; more than the amounts above is never signed'
  const shown = await contentOutcome(content, { trial: null, state: null, lastValid: undefined, untried, names })
  return [
    `  what          ${printable(what)}`,
    `  why it waits  ${printable(approver.reason)}`,
    ...movementLines(approver.movement, decimalsIn(content)),
    '  checked here  the hash below is that of this transaction:',
    ...(shown.text ?? '').split('\n').map((line) => `    ${line}`),
    ...forecastLines(isOpen ? await forecastOrNull(session, id) : null, 'paid by the platform wallet').map(printable),
    `  sha256        ${message_sha256}`,
    `  until         ${expires_at === null ? '-' : timeText(expires_at)}`,
  ]
}

/** Decimals of the mints that the transaction names: with wrong ones, it would fail on the chain. */
const decimalsIn = ({ instructions }: DescribedContent): ReadonlyMap<string, number> =>
  new Map(
    instructions.flatMap(({ args }) =>
      args.flatMap(({ mint, decimals }) =>
        mint === undefined || mint === null || decimals === null ? [] : [[mint, decimals] as const],
      ),
    ),
  )

/** What may leave, who may receive it, and which control goes to somebody else, as the proposal says. */
function movementLines(
  { lamports, receivers, tokens, authorities, delegates, powers = [], closes }: RuleApprover['movement'],
  decimals: ReadonlyMap<string, number>,
): string[] {
  const units = (mint: string | null, amount: string) => {
    return tokenText(mint, amount, decimals.get(mint ?? ''))
  }
  return [
    `  leaves        at most ${[units(null, lamports), ...tokens.map(({ mint, amount }) => units(mint, amount))].join(', ')}`,
    ...receivers.map(
      ({ address, owner, mint, amount }) => `  receives      ${owner ?? address}: ${units(mint, amount)}`,
    ),
    ...authorities.map(({ address, what, to }) => `  gives away    ${what} of ${address} to ${to ?? 'nobody'}`),
    ...delegates.map(({ address, kind, delegate }) => `  delegates     ${kind} ${address} to ${delegate ?? 'nobody'}`),
    ...powers.map(({ mint, what }) => `  to holders    ${what} (${mint})`),
    ...closes.map(({ address, what }) => `  closes        ${what} ${address}`),
  ].map(printable)
}

/** Who has decided, and who may still. */
export function approverLines({ approver, decisions, needed }: RuleProposal): string[] {
  const decided = new Map(decisions.map(({ approver: address, decision }) => [address, decision]))
  return [
    `approvers: ${counted(needed, 'approval')} needed`,
    ...approver.approvers.map(({ address, name, revoked }) =>
      previewLine(decided.get(address) ?? (revoked ? 'removed' : 'missing'), `${address}  ${name}`),
    ),
  ].map(printable)
}

export function ruleOutcome(proposal: Proposal | undefined): CommandOutcome {
  if (proposal === undefined) throw failure('the API answered without the proposal')
  const { id, status, needed, decisions, signature, fault, next } = proposal
  const approved = decisions.filter(({ decision }) => decision === 'approved').length
  const text =
    status === 'executed'
      ? `Executed ${id}: ${signature}`
      : status === 'rejected' || status === 'cancelled'
        ? `The proposal ${id} is ${status}.`
        : `The proposal ${id} has ${approved} of ${needed} approvals.`
  return {
    data: proposal,
    text: fault === null ? text : `${text}\nIt was not executed: ${printable(fault)}`,
    notes: next === null ? [] : [next],
  }
}
