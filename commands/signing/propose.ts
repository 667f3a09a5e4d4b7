/**
 * Proposes what a command has built to a multisig: the vault does it once enough members have approved. The command
 * checks the act and the proposal here, shows both, and signs only the proposal.
 */

import type { ProposalCreation } from '../../src/api/payloads.ts'
import type { Proposal } from '../../src/api/proposals.ts'
import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { FieldUnits } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { resolveSource } from '../cli/state-file.ts'
import { failure, nullIfNotFound, usage } from '../ui/problem.ts'
import { type BuiltTransactions, transactionsOf } from './built-transactions.ts'
import { confirmOn, refuseUnconfirmable } from './confirm.ts'
import { type CheckedBuild, checkedCreations, requireDemanded, signingFor, unexpectedBuild } from './demand.ts'
import { withFreshBlockhash } from './fresh-blockhash.ts'
import { addFunds, canPay, type Funds, forecastFunds, requireFunds, totalLines } from './funds.ts'
import { checkedLines, executionLines, failureLines, previewLine } from './preview.ts'
import { type BegunProposal, type ProposalJournal, proposalJournal } from './proposal-journal.ts'
import { simulateBuild, wouldFail } from './run-failures.ts'
import { dryRunOutcome, sentOutcome } from './run-outcomes.ts'
import { sendAll } from './sending.ts'
import { type CompleteTransaction, signSeries } from './signatures.ts'
import type { RunFlags, SignedRun } from './signed-run.ts'
import type { ActingVault, ProposedActs } from './wallet.ts'

/** How often it is built again if another proposal takes its number. */
export const MOST_TRIES = 3
/** The error of the program for a number that another proposal has taken. */
const NUMBER_TAKEN = /"Custom":2006\b/
/** Requests and milliseconds between them until the proposal is seen on chain. */
const LOOKS = 40
const LOOK_PAUSE_MS = 500

/** States in which the act of a proposal is still to be done, by another proposal. */
const NEVER_EXECUTED: ReadonlySet<Proposal['status']> = new Set(['expired', 'rejected', 'cancelled', 'stale'])

/** The parts of a run that a proposal has. */
export interface ProposedRun<D extends BuiltTransactions>
  extends Pick<SignedRun<D>, 'what' | 'build' | 'preview' | 'show' | 'decimals'> {
  /** Null if the act is the caller's own transaction, which a person must agree to. */
  demand: SignedRun<D>['demand'] | null
  /** Called with the ids of the proposals once they are signed, before they are sent. */
  onSigned?(ids: string[]): void
  /** Whether what an executed proposal of this act did is undone, so that the act is proposed again. */
  isUndone?: boolean
}

const OWN_ACT = [previewLine('checked', 'here: the act is the transaction that you gave')]

interface Plan<D> {
  data: D
  what: string
  asked: ProposedActs
  creation: ProposalCreation
  creations: readonly CheckedBuild[]
  /** What was checked here about the act. */
  checked: readonly string[]
  /** Whether a person is asked on every cluster. */
  trusts: boolean
}

/** Runs a command with --squads; its answer ends with the proposal. */
export async function proposeRun<D extends BuiltTransactions>(
  session: Session,
  flags: RunFlags,
  run: ProposedRun<D>,
  acting: ActingVault,
): Promise<CommandOutcome> {
  if (flags.dry_run) return dryRun(session, await planProposal(session, flags, run, acting), run)
  if (flags.build_only) return printedCreation(session, await planProposal(session, flags, run, acting), run)
  return proposedOutcome(session, await propose(session, flags, run, acting))
}

/** Proposes it once, however often it is interrupted: shows the plan, asks, signs and sends the proposal. */
export async function propose<D extends BuiltTransactions>(
  session: Session,
  flags: RunFlags,
  run: ProposedRun<D>,
  acting: ActingVault,
): Promise<Proposed> {
  await refuseUnconfirmable(session, await session.cluster())
  const journal = await openJournal(session, flags, run, acting)
  const begun = journal.begun()
  const earlier = begun === null ? null : await finishBegun(session, flags, { ...begun, isUndone: run.isUndone })
  if (earlier !== null) {
    journal.remove()
    return { proposal: earlier, signatures: [], fields: {}, last: undefined }
  }
  // What was signed and did not become a proposal may have left a buffer on the chain.
  let leavesBuffer = begun !== null && begun.signed.length > 1
  let isAgreed = false
  for (let attempt = 1; ; attempt++) {
    const plan = await planProposal(session, flags, run, acting)
    const { data } = plan
    const shown = { fields: (await run.show?.(data, null)) ?? {}, decimals: run.decimals?.(data) }
    let signed: CompleteTransaction[] = []
    try {
      // Another member may take the number before the simulation, which then fails as the sending would.
      const checked = await agreeOn(session, plan, run, { isFirst: !isAgreed })
      isAgreed = true
      signed = await signSeries(session, checked, { keypair: flags.keypair })
      journal.keep({ id: plan.creation.id, signed })
      run.onSigned?.([plan.creation.id, ...(plan.creation.following ?? [])])
      const confirmed = await sendCreation(session, flags, signed)
      const proposal = await untilOnChain(session, plan.creation.id, confirmed !== null)
      journal.remove()
      return {
        proposal,
        signatures: signed.map(({ signature }) => signature),
        last: confirmed?.at(-1),
        leavesBuffer,
        ...shown,
      }
    } catch (error) {
      // Before anything is signed, the same code may be the act's own failure.
      if (!(error instanceof NumberTaken) && !(signed.length > 0 && isNumberTaken(error))) throw error
      // The same act may have taken it: of this member, whose answer was lost, or of another one.
      const same = await proposalNow(session, plan.creation.id)
      journal.remove()
      leavesBuffer ||= signed.length > 1
      if (isOnChain(same)) {
        return { proposal: same, signatures: [], last: undefined, ...shown }
      }
      if (attempt === MOST_TRIES) throw numberTaken(error, acting)
      noteTaken(session, plan.creation)
    }
  }
}

async function openJournal<D extends BuiltTransactions>(
  session: Session,
  { squads: _, yes: __, ...flags }: RunFlags & { yes?: unknown },
  { what }: ProposedRun<D>,
  acting: ActingVault,
): Promise<ProposalJournal> {
  return proposalJournal([await resolveSource(session), acting, typeof what === 'string' ? what : null, flags])
}

/** Builds the act and its proposal, and refuses both unless they are what was requested. */
async function planProposal<D extends BuiltTransactions>(
  session: Session,
  { dry_run, guard }: RunFlags,
  run: ProposedRun<D>,
  acting: ActingVault,
): Promise<Plan<D>> {
  if (guard === 'required') {
    throw usage('a proposal has no guards: those of the vault are added when it is executed', {
      param: '--guard',
      next: 'leave it out here, and give it to `svc proposals execute`',
    })
  }
  const { data } = await run.build(acting.vault)
  const { proposal: creation } = data
  if (creation === undefined) throw unexpectedBuild('it has no proposal: the API may be older than --squads')
  const of = signingFor(session, acting.vault, {
    guard: undefined,
    isRead: dry_run || session.ui.attended,
    cluster: await session.cluster(),
  })
  const acts = transactionsOf(data)
  const demand = await run.demand?.(of, data)
  if (demand !== undefined) await requireDemanded(session, acts, demand)
  const asked = { ...acting, index: creation.transaction_index, acts, creations: creation.transactions }
  const creations = await checkedCreations(session, asked)
  const what = typeof run.what === 'string' ? run.what : run.what(data)
  const trusts = demand === undefined ? session.ui.interactive : of.trusts
  const checked = demand === undefined ? OWN_ACT : checkedLines(demand, of.notes)
  return { data, what, asked, creation, creations, checked, trusts }
}

/** Shows the act, what the vault would gain and lose now, and what the member pays; `fault` is why it would fail. */
async function showProposal<D extends BuiltTransactions>(
  session: Session,
  { data, what, asked, creations, checked }: Plan<D>,
  run: ProposedRun<D>,
) {
  const { multisig, vault, vaultIndex, member, index, acts } = asked
  const [first = '', ...later] = acts
  const simulated = await session.wallet.actPaidBy(asked, first, member)
  const forecast = await simulateBuild(session, simulated, vault)
  const funds = await forecastFunds(session, creations)
  const { cluster, simulation, fault } = forecast
  const lines = [
    `Propose to the multisig ${multisig}: ${what}`,
    ...(run.preview?.(data) ?? []),
    ...checked,
    previewLine('', 'the proposal stores exactly this act'),
    previewLine('guard', 'not guarded yet: guards are added when it is executed'),
    previewLine('vault', `${vault} (number ${vaultIndex})`),
    previewLine('proposal', `number ${index}`),
    previewLine('cluster', cluster ?? 'only the API knows'),
    previewLine('executed', 'now, it would cost and change:'),
    ...executionLines(simulation, vault, { payer: simulated === first ? vault : member }),
    ...later.map((_, i) => previewLine('then', `act ${i + 2} of ${acts.length}, known once the one before it is done`)),
    previewLine('member', `${member} proposes, and pays the fee and the rent of the proposal`),
    ...totalLines(funds, member),
    ...(fault === null ? [] : failureLines(simulation, fault)),
  ]
  return { lines, forecast, funds }
}

/** Shows the plan and asks; returns the transactions to sign, with a fresh blockhash if a person was asked. */
async function agreeOn<D extends BuiltTransactions>(
  session: Session,
  plan: Plan<D>,
  run: ProposedRun<D>,
  { isFirst }: { isFirst: boolean },
): Promise<CheckedBuild[]> {
  const { lines, forecast, funds } = await showProposal(session, plan, run)
  requireFreeNumber(funds)
  await session.ui.preview(lines)
  requireFunds(funds, forecast.cluster)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  const { creation, creations, asked, what, trusts } = plan
  const wasAsked = isFirst && (await confirmOn(session, `Propose: ${what}`, forecast.cluster, { always: trusts }))
  return wasAsked ? freshCreations(session, asked, creation) : [...creations]
}

/** The transactions of a proposal with a fresh blockhash, checked again. */
export async function freshCreations(
  session: Session,
  asked: ProposedActs,
  { last_valid_block_height }: Pick<ProposalCreation, 'last_valid_block_height'>,
): Promise<CheckedBuild[]> {
  const built = { transactions: asked.creations, last_valid_block_height }
  const { transactions } = await withFreshBlockhash(session, built)
  return checkedCreations(session, { ...asked, creations: transactions })
}

export function sendCreation(
  session: Session,
  { wait }: Pick<RunFlags, 'wait'>,
  signed: readonly CompleteTransaction[],
): Promise<Transaction[] | null> {
  return sendAll(session, signed, {
    built: {},
    wait,
    bundle: false,
    recovery: 'run the same command again: nothing is proposed twice',
  })
}

/** The proposal of an interrupted run if it is on chain or gets there now; null if it never will. */
async function finishBegun(
  session: Session,
  flags: RunFlags,
  { id, signed, isUndone = false }: BegunProposal & { isUndone?: boolean | undefined },
): Promise<Proposal | null> {
  const read = () => nullIfNotFound(proposalNow(session, id))
  const before = await read()
  if (before === null || NEVER_EXECUTED.has(before.status)) return null
  if (isUndone && before.status === 'executed') return null
  if (isOnChain(before)) return before
  session.ui.note('An earlier run was interrupted: what it signed is sent again')
  try {
    await sendCreation(session, { ...flags, wait: 'confirmed' }, signed)
    return await untilOnChain(session, id, true)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const after = await read()
    if (after !== null && isOnChain(after)) return after
    if (isOver(error)) return null
    throw error
  }
}

export const isOnChain = ({ status }: Proposal) => status !== 'planned' && status !== 'expired'

/** Whether its transactions can no longer land: the blockhash is too old, or the number is taken. */
const isOver = (error: ApiError) =>
  NUMBER_TAKEN.test(detailsOf(error)) ||
  /BlockhashNotFound|BlockhashExpired|expired/i.test(`${error.message} ${detailsOf(error)}`)

/** Another proposal has taken the number before what was built was simulated. */
class NumberTaken extends ApiError {
  constructor(message: string) {
    super('internal_error', message)
  }
}

/** Throws an error for which `isNumberTaken` is true if the simulation of a creation says so. */
export function requireFreeNumber(funds: Funds): void {
  if (isTaken(funds)) throw new NumberTaken(funds.fault?.text ?? '')
}

const isTaken = ({ fault }: Funds): boolean => fault !== null && NUMBER_TAKEN.test(JSON.stringify(fault.err))

/** What a proposal takes: its act without the fee, which its executor pays, and what puts it on the chain. */
export async function fundsOfProposal(session: Session, acting: ActingVault, built: BuiltTransactions): Promise<Funds> {
  const { transaction_index: index = '0', transactions: creations = [] } = built.proposal ?? {}
  const { multisig, vault, member } = acting
  const paidBy = (act: string) => session.wallet.actPaidBy({ multisig, vault, index }, act, member)
  const acts = await forecastFunds(session, await Promise.all(transactionsOf(built).map(paidBy)))
  const creating = await forecastFunds(session, creations)
  return addFunds([
    { ...acts, payments: acts.payments.filter(({ wallet }) => wallet !== member) },
    // Whoever proposes takes the next number when it is free.
    isTaken(creating) ? { ...creating, fault: null } : creating,
  ])
}

/** Whether another proposal has taken the number, seen by the simulation or by the program. */
export const isNumberTaken = (error: unknown): error is ApiError =>
  error instanceof NumberTaken || (error instanceof ApiError && NUMBER_TAKEN.test(detailsOf(error)))

export const noteTaken = ({ ui }: Session, { transaction_index }: ProposalCreation) =>
  ui.note(`Number ${transaction_index} was taken by another proposal: it is built again`)

const detailsOf = ({ details }: ApiError) => JSON.stringify(details ?? {})

export const numberTaken = (error: ApiError, { multisig }: Pick<ActingVault, 'multisig'>) =>
  failure(`other proposals took the next number of ${multisig} ${MOST_TRIES} times: nothing was proposed`, {
    next: 'run it again when fewer members propose at the same time',
    details: { ...error.details },
    cause: error,
  })

/** The proposal, or the one that stands for the same act at the same number, which may have been built twice. */
async function proposalNow({ client }: Pick<Session, 'client'>, id: string): Promise<Proposal> {
  const { data } = await client.proposals.get({ id })
  if (data.status !== 'expired' || data.renewed_by === null) return data
  const { data: other } = await client.proposals.get({ id: data.renewed_by })
  return placeOf(other) === placeOf(data) ? other : data
}

const placeOf = ({ approver }: Proposal) => (approver.kind === 'squads' ? approver.proposal_address : null)

/** The proposal once the API sees it on chain; as it is if the command does not wait, or after 20 seconds. */
export async function untilOnChain(session: Session, id: string, waits: boolean): Promise<Proposal> {
  const { clock, ui } = session
  try {
    for (let look = 1; ; look++) {
      const data = await proposalNow(session, id)
      if (!waits || data.status !== 'planned' || look === LOOKS) return data
      ui.waiting('the proposal appears on chain')
      await clock.sleep(LOOK_PAUSE_MS)
    }
  } finally {
    ui.waiting(null)
  }
}

export interface Proposed {
  proposal: Proposal
  signatures: readonly string[]
  fields: Record<string, unknown>
  last: Transaction | undefined
  /** Whether an earlier try may have left a transaction buffer. */
  leavesBuffer?: boolean
  decimals?: FieldUnits | undefined
}

/** The answer of a command that has proposed: the proposal, who must approve, and the next command. */
export async function proposedOutcome(
  session: Session,
  { proposal, signatures, fields, last, leavesBuffer = false, decimals }: Proposed,
): Promise<CommandOutcome> {
  const { id, status, needed, approver } = proposal
  if (approver.kind !== 'squads') throw failure(`the API answered with ${id}, which is not a proposal of a multisig`)
  const voters = approver.members.filter(({ vote }) => vote).map(({ address }) => address)
  const shown = {
    ...fields,
    proposal: id,
    proposal_status: status,
    multisig: approver.multisig,
    transaction_index: approver.transaction_index,
    proposal_address: approver.proposal_address,
    vault: approver.vault,
    approvals_needed: needed,
    may_approve: voters,
  }
  const outcome = sentOutcome(shown, last, { signatures: { signatures }, decimals })
  const cluster = await session.cluster()
  const on = cluster === null ? '' : ` on ${cluster}`
  return {
    ...outcome,
    notes: [
      signatures.length === 0 ? `It was proposed${on} already.` : `Proposed${on}: nothing is done yet.`,
      `${needed} of ${voters.length} members must approve: svc proposals approve ${id}`,
      ...(leavesBuffer
        ? [`An earlier try may have left a buffer; get its rent back: svc proposals reclaim ${id}`]
        : []),
    ],
  }
}

async function dryRun<D extends BuiltTransactions>(
  session: Session,
  plan: Plan<D>,
  run: ProposedRun<D>,
): Promise<CommandOutcome> {
  const { lines, forecast, funds } = await showProposal(session, plan, run)
  const { multisig, vault } = plan.asked
  const outcome = dryRunOutcome(plan.data, forecast, lines, {
    fields: { ...(await run.show?.(plan.data, null)), multisig, vault },
    note: 'Nothing was signed, sent or proposed.',
  })
  return { ...outcome, ...(canPay(funds) ? {} : { exitCode: 1 }) }
}

/** The unsigned proposal for a member whose key is elsewhere, and the vault's message for other tools. */
async function printedCreation<D extends BuiltTransactions>(
  session: Session,
  plan: Plan<D>,
  run: ProposedRun<D>,
): Promise<CommandOutcome> {
  const { data, asked, creation, creations } = plan
  const { multisig, vault, index, member } = asked
  const { id, last_valid_block_height } = creation
  const messages = await Promise.all(asked.acts.map((act) => session.wallet.vaultMessage(asked, act)))
  const [transaction] = creations
  return {
    data: {
      ...(await run.show?.(data, null)),
      proposal: id,
      multisig,
      vault,
      transaction_index: index,
      ...(creations.length === 1 ? { transaction } : {}),
      transactions: creations,
      missing_signers: [member],
      vault_messages: messages,
      last_valid_block_height,
    },
    rows: { columns: ['transaction'], rows: creations.map((one) => [one]) },
    text: creations.join('\n'),
    notes: [
      `Must still be signed by ${member}, who proposes: svc tx sign, then svc tx submit${creations.length === 1 ? '.' : ' in this order, each confirmed before the next.'}`,
      `For Squads' own app, the message of the vault (base58; \`svc proposals import\` follows it then): ${messages.join(' ')}`,
    ],
  }
}
