/** Proposes the request of a proposal anew: shows the new plan, compares what puts it on chain, and signs only that. */
import type { ProposalCreation } from '../../src/api/payloads.ts'
import type { Proposal } from '../../src/api/proposals.ts'
import type { Transaction } from '../../src/api/transactions.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { confirmOn, refuseUnconfirmable } from '../signing/confirm.ts'
import { checkedCreations, unexpectedBuild } from '../signing/demand.ts'
import { forecastFunds, requireFunds, totalLines } from '../signing/funds.ts'
import { previewLine } from '../signing/preview.ts'
import {
  freshCreations,
  isNumberTaken,
  isOnChain,
  MOST_TRIES,
  noteTaken,
  numberTaken,
  proposedOutcome,
  requireFreeNumber,
  sendCreation,
  untilOnChain,
} from '../signing/propose.ts'
import { type CompleteTransaction, signSeries } from '../signing/signatures.ts'
import type { ProposedActs } from '../signing/wallet.ts'
import { usage } from '../ui/problem.ts'
import { forecastOrNull } from './forecast.ts'
import { openSquads, planLines, type SquadsProposal } from './squads-plan.ts'

interface RenewFlags {
  id: string
  keypair?: string | undefined
  wait?: 'none' | 'confirmed' | 'finalized' | undefined
}

/** Runs it for the wallet that signs, who must be a member that may propose. */
export async function renewProposal(session: Session, { id, keypair, wait }: RenewFlags): Promise<CommandOutcome> {
  const { client } = session
  const answered: Proposal = (await client.proposals.get({ id })).data
  if (answered.kind === 'rule') throw usage(`${id} is a proposal of a rule: send its request again to propose it anew`)
  const old = openSquads(id, answered)
  await refuseUnconfirmable(session, await session.cluster())
  const member = await session.wallet.address(keypair)
  let leavesBuffer = false
  for (let attempt = 1, renewed = id; ; attempt++) {
    const { data } = await client.proposals.renew({ id: renewed, member })
    if (data.mode !== 'unsigned') throw unexpectedBuild('it answered without transactions to sign')
    const { proposal: creation } = data
    try {
      const { proposal, signed, last } = await proposeAnew(session, { old, member, creation }, { id, keypair, wait })
      const signatures = signed.map(({ signature }) => signature)
      return await proposedOutcome(session, { proposal, signatures, fields: { renews: id }, last, leavesBuffer })
    } catch (error) {
      if (!isNumberTaken(error)) throw error
      // Its own submission may have taken it, if the answer was lost.
      const proposal = (await client.proposals.get({ id: creation.id })).data
      if (isOnChain(proposal))
        return proposedOutcome(session, { proposal, signatures: [], fields: { renews: id }, last: undefined })
      if (attempt === MOST_TRIES) throw numberTaken(error, old.approver)
      noteTaken(session, creation)
      // A large proposal fills a buffer before it takes its number.
      leavesBuffer ||= creation.transactions.length > 1
      renewed = creation.id
    }
  }
}

interface Renewal {
  old: SquadsProposal
  member: string
  creation: ProposalCreation
}

/** Shows the new plans, asks, signs and sends them. Throws an error for which `isNumberTaken` is true if their number is taken. */
async function proposeAnew(
  session: Session,
  { old, member, creation }: Renewal,
  { id, keypair, wait }: RenewFlags,
): Promise<{ proposal: Proposal; signed: CompleteTransaction[]; last: Transaction | undefined }> {
  const { ui } = session
  const cluster = await session.cluster()
  const plans = await readPlans(session, old, creation)
  const asked = askedOf(plans, member, creation)
  const creations = await checkedCreations(session, asked)
  const funds = await forecastFunds(session, creations)
  requireFreeNumber(funds)
  const shown = await Promise.all(
    plans.map(async (plan, i) => planLines(session, plan, i === 0 ? await forecastOrNull(session, plan.id) : null)),
  )
  await ui.preview([
    `Propose ${id} anew`,
    ...shown.flat(),
    previewLine('checked', 'here: what is signed stores exactly this plan'),
    previewLine('member', `${member} proposes, and pays the fee and the rent of the proposal`),
    ...totalLines(funds, member),
  ])
  requireFunds(funds, cluster)
  // Only a person can see whether the new plan is the act that was meant.
  await confirmOn(session, `Propose ${id} anew`, cluster, { always: true })
  const signed = await signSeries(session, await freshCreations(session, asked, creation), { keypair })
  const confirmed = await sendCreation(session, { wait }, signed)
  const proposal = await untilOnChain(session, creation.id, confirmed !== null)
  return { proposal, signed, last: confirmed?.at(-1) }
}

/** The new plans, in the order of their numbers. Throws a failure for those of another vault. */
async function readPlans(
  { client }: Session,
  old: SquadsProposal,
  { id, following = [] }: ProposalCreation,
): Promise<SquadsProposal[]> {
  const plans: SquadsProposal[] = []
  for (const each of [id, ...following]) {
    const plan = openSquads(each, (await client.proposals.get({ id: each })).data)
    const isSame = plan.approver.multisig === old.approver.multisig && plan.approver.vault === old.approver.vault
    if (!isSame) throw unexpectedBuild(`it proposes to ${plan.approver.multisig}, vault ${plan.approver.vault}`)
    plans.push(plan)
  }
  return plans
}

function askedOf(plans: readonly SquadsProposal[], member: string, creation: ProposalCreation): ProposedActs {
  const [first] = plans
  if (first === undefined) throw unexpectedBuild('it has no proposal')
  const { multisig, vault, vault_index, transaction_index } = first.approver
  return {
    multisig,
    vault,
    vaultIndex: vault_index,
    member,
    index: transaction_index,
    acts: plans.map(({ transaction }) => transaction),
    creations: creation.transactions,
  }
}
