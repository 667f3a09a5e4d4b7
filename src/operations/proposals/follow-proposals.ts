/** Follows proposals of multisigs on the chain, also those that another client approves or executes. */
import type { SquadsApprover, TrackedResource } from '../../api/index.ts'
import { readExecution, readLookups } from '../../chain/programs/squads/index.ts'
import { chainTimeOf } from '../../chain/reads/chain-clock.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Services } from '../../context.ts'
import { type Budget, createBudget } from '../../following/budget.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { SECOND_MS } from '../../platform/timing.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import {
  decodeMultisig,
  decodeProposal,
  decodeVaultTransaction,
  SquadsFault,
  squadsProposalAddress,
  squadsTransactionAddress,
} from '../../solana/squads/index.ts'
import {
  addDecision,
  dropDecision,
  dueProposals,
  isAnyProposalDue,
  lockProposalsAt,
  type ProposalAtIndex,
  readDecisions,
  updateProposal,
} from '../../store/proposals/proposals.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { runAndRollBack } from '../../store/writing/roll-back.ts'
import { fromJson, fromJsonOrNull } from '../api-records.ts'
import { insertSubmitted } from '../transactions/store-submitted.ts'
import { placeOf } from './squads/pinned.ts'
import {
  isEnded,
  isUnsent,
  numberTaken,
  planState,
  type ReadAccounts,
  refreshedApprover,
} from './squads/proposal-state.ts'

/** With `dryRun`, what is seen is returned and not stored. */
type FollowProposalServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log'> & { dryRun?: boolean }
type PlanRow = Row<'proposals'>

/** Proposals in one call, which reads three accounts of each, and the clock. */
const PER_CALL = 33
/** Proposals of one round, in three calls; further ones are due again in the next round. */
const PER_ROUND = 3 * PER_CALL
/** Executions that a round searches for. Each takes a few calls. */
const EXECUTIONS_PER_ROUND = 10

/** Runs a round over the proposals that are due. Throws as `follow` does. */
export function followProposals(services: FollowProposalServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock } = services
  const searches = createBudget(EXECUTIONS_PER_ROUND)
  const rounds: Follower<PlanRow, ReadAccounts, ProposalStep> = {
    named: ({ id }) => ({ proposal: id }),
    // Without one, the chain of an embedded cluster is not opened.
    due: async () =>
      (await isAnyProposalDue(store.db, clock.now()))
        ? dueProposals(store.db, await chain.genesisHash(), clock.now(), PER_ROUND)
        : [],
    perRead: PER_CALL,
    read: (rows) => readAccounts(services, rows),
    decide: (row, read) => proposalStep(services, row, read, searches),
    isWrittenAlone: true,
    async write(tx, row, step) {
      await writeProposal(tx, services, row, step)
      return []
    },
    postpone: (tx, { id }, next_look_at) => updateProposal(tx, id, { next_look_at }),
  }
  return follow(services, rounds, signal)
}

/** Looks at one proposal now, and returns its row after that. */
export const lookAtProposal = async (services: FollowProposalServices, row: PlanRow): Promise<PlanRow> =>
  (await readAndFollow(services, row)).row

/** The same, with the accounts that the look has read. */
export async function readAndFollow(
  services: FollowProposalServices,
  row: PlanRow,
): Promise<{ row: PlanRow; read: ReadAccounts }> {
  const { store, dryRun } = services
  const [read] = await readAccounts(services, [row])
  if (read === undefined) throw new Error('one row has one reading')
  if (read instanceof Error) throw read
  const step = await proposalStep(services, row, read, createBudget(1))
  if (step === null) return { row, read }
  const write = (tx: Tx) => writeProposal(tx, services, row, step)
  return { row: (await (dryRun ? runAndRollBack(store, write) : store.write(write))) ?? row, read }
}

/** Reads the accounts of each; an error is of that proposal alone. */
async function readAccounts(
  { chain }: FollowProposalServices,
  rows: readonly PlanRow[],
): Promise<(ReadAccounts | Error)[]> {
  const addresses = rows.flatMap((row) => {
    const { multisig, index } = placeOf(row)
    return [multisig, squadsProposalAddress(multisig, index), squadsTransactionAddress(multisig, index)]
  })
  const [clock = null, ...accounts] = await accountsAt(chain, [CLOCK_SYSVAR, ...addresses])
  const chainNow = (await chainTimeOf(clock)).unixSeconds * SECOND_MS
  return Promise.all(
    rows.map(async (row, i) => {
      const [group = null, proposal = null, transaction = null] = accounts.slice(3 * i, 3 * i + 3)
      const { multisig, index } = placeOf(row)
      try {
        if (group === null) throw new Error(`there is no multisig at ${multisig}`)
        const { stored, foreign } = storedIn(transaction, multisig, index)
        return {
          chainNow,
          multisig: decodeMultisig(multisig, group),
          proposal: present(proposal) ? decodeProposal(proposal, multisig, index) : null,
          transaction: stored === null ? null : { ...stored, message: await readLookups(chain, stored.message) },
          foreign,
        }
      } catch (error) {
        return error as Error
      }
    }),
  )
}

/** A number of a multisig can also be a change of its members or rules, or a batch. */
function storedIn(account: ChainAccount | null, multisig: string, index: bigint) {
  if (!present(account)) return { stored: null, foreign: null }
  try {
    return { stored: decodeVaultTransaction(account, multisig, index), foreign: null }
  } catch (error) {
    if (!(error instanceof SquadsFault)) throw error
    return { stored: null, foreign: error.message }
  }
}

/** Lamports can be sent to any address, so that an account without data is none. */
const present = <T extends { data: Uint8Array }>(account: T | null): account is T =>
  account !== null && account.data.length > 0

interface ProposalStep {
  read: ReadAccounts
  state: ReturnType<typeof planState>
  approver: SquadsApprover
  /** The execution, once its transaction is found. */
  executed: { transaction: DecodedTransaction; slot: number } | null
}

/** Returns null for one whose execution is searched for in a later round. */
async function proposalStep(
  { chain, clock }: FollowProposalServices,
  row: PlanRow,
  read: ReadAccounts,
  searches: Budget,
): Promise<ProposalStep | null> {
  const now = clock.now()
  const state = planState(row, read, now)
  const approver = refreshedApprover(fromJson<SquadsApprover>(row.approver_json), read)
  const isClosed = read.proposal === null && read.transaction === null && read.foreign === null
  const mayBeExecuted = state.status === 'executed' || (isClosed && !isUnsent(row.status) && !isEnded(row.status))
  if (!mayBeExecuted || row.signature !== null) return { read, state, approver, executed: null }
  if (!searches.take()) return null
  const executed = await readExecution(chain, { ...placeOf(row), near: executionTime(read, approver) })
  if (executed !== null) state.status = 'executed'
  // Nodes may know the account before the history.
  else if (state.status === 'executed' && !isClosed) {
    state.status = row.status
    state.next_look_at = now + 2 * SECOND_MS
  }
  return { read, state, approver, executed }
}

async function writeProposal(
  tx: Tx,
  services: FollowProposalServices,
  row: PlanRow,
  { read, state, approver, executed }: ProposalStep,
): Promise<PlanRow | null> {
  const now = services.clock.now()
  if (isUnsent(row.status) && !isUnsent(state.status)) {
    const given = await settleNumber(tx, row, now)
    if (given !== null) return updateProposal(tx, row.id, given)
  }
  await writeDecisions(tx, row, read, now)
  if (executed !== null) await storeExecution(services, tx, row, executed.transaction)
  return updateProposal(tx, row.id, {
    ...state,
    approver_json: JSON.stringify(approver),
    ...(executed === null ? {} : { signature: executed.transaction.signature, executed_slot: executed.slot }),
    ...(state.status === row.status && state.fault === row.fault ? {} : { updated_at: now }),
  })
}

/** When it was executed, as far as the accounts say; 0 if they do not. */
function executionTime({ proposal }: ReadAccounts, { approved_at }: SquadsApprover): number {
  if (proposal?.status === 'executed' && proposal.timestamp !== null) return Number(proposal.timestamp) * SECOND_MS
  return approved_at === null ? 0 : Date.parse(approved_at)
}

/**
 * Other plans for the same number never reached the chain. Returns what this one becomes if it is not the one that has.
 * Of several for the same act, the last one is it: what was built before is hardly sent after that.
 */
async function settleNumber(tx: Tx, row: PlanRow, now: number): Promise<Partial<PlanRow> | null> {
  const { multisig, index } = placeOf(row)
  // Two looks at once would each make the other's plan give way.
  const all = await lockProposalsAt(tx, { genesis: row.genesis, multisig, index: Number(index) })
  const others = all.filter(({ id }) => id !== row.id)
  const planned = others.filter(({ status }) => status === 'planned')
  const taker =
    others.find(({ status }) => !isUnsent(status)) ??
    planned.filter((other) => other.seq > row.seq && isSameAct(row, other)).at(-1)
  if (taker !== undefined) return { ...expiredFor(row, taker), renewed_by: row.renewed_by ?? renewalId(row, taker) }
  for (const other of planned) {
    const renewed_by = renewalId(other, row)
    await updateProposal(tx, other.id, { ...expiredFor(row, row), renewed_by, updated_at: now })
  }
  return null
}

const expiredFor = (row: PlanRow, { id }: ProposalAtIndex) => ({
  status: 'expired' as const,
  fault: numberTaken(`the proposal ${id}`, placeOf(row).index),
  next_look_at: null,
})

/** The proposal that takes the place of a plan: null if it does something else. */
const renewalId = (plan: ProposalAtIndex, taker: ProposalAtIndex) => (isSameAct(plan, taker) ? taker.id : null)

const isSameAct = (one: ProposalAtIndex, other: ProposalAtIndex): boolean =>
  one.vault_index === other.vault_index &&
  one.stored_message !== null &&
  other.stored_message !== null &&
  Buffer.from(one.stored_message).equals(other.stored_message)

/** A member who votes otherwise takes the earlier vote back. */
async function writeDecisions(tx: Tx, row: PlanRow, { proposal }: ReadAccounts, now: number): Promise<void> {
  if (proposal === null) return
  const known = (await readDecisions(tx, [row.id])).get(row.id) ?? []
  for (const { approver, decision } of known) {
    if (!proposal[decision].includes(approver)) await dropDecision(tx, { proposal_id: row.id, approver, decision })
  }
  for (const decision of ['approved', 'rejected', 'cancelled'] as const) {
    for (const approver of proposal[decision]) {
      if (known.some((one) => one.approver === approver && one.decision === decision)) continue
      await addDecision(tx, { proposal_id: row.id, approver, decision, signature: null, at: now })
    }
  }
}

/** Follows the execution like a submitted transaction, so that its records and events are written, whoever sent it. */
async function storeExecution(
  { clock }: FollowProposalServices,
  tx: Tx,
  row: PlanRow,
  transaction: DecodedTransaction,
): Promise<void> {
  const context = {
    clock,
    externalUid: row.external_uid ?? undefined,
    metadata: fromJsonOrNull<Record<string, string>>(row.metadata_json) ?? undefined,
  }
  const tracked_resource = fromJsonOrNull<TrackedResource>(row.tracked_resource_json) ?? undefined
  // It is on the chain already, so it is not sent, and its submission is not an event.
  await insertSubmitted(context, tx, transaction, { max_retries: 0, tracked_resource }, { genesis: row.genesis })
}
