/** Proposes every row of a list to a multisig once, in order, however often the command is interrupted and run again. */
import type { Proposal } from '../../src/api/proposals.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import type { BuiltTransactions } from '../signing/built-transactions.ts'
import { agreedSession, refuseUnconfirmable } from '../signing/confirm.ts'
import { type Demand, type Signing, signingFor } from '../signing/demand.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { repeatFunds } from '../signing/funds.ts'
import { previewLine } from '../signing/preview.ts'
import { fundsOfProposal, type ProposedRun, propose } from '../signing/propose.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { failure, nullIfNotFound, usage } from '../ui/problem.ts'
import { type JournalFields, type JournalKind, ListJournal } from './journal.ts'
import { rowsOutcome } from './outcome.ts'
import { begunMeanwhile, runList } from './run.ts'

/** One row; `id` has all of its content, so that a changed row is another one. */
export interface RowToPropose<D extends BuiltTransactions> {
  id: string
  line: number
  name: string
  /** Where it is, for a failure; its line of the file unless given. */
  place?: string
  run: ProposedRun<D>
  /** Builds it without storing anything. */
  tryBuild(vault: string): Promise<D>
  /** What its proposals must do, if that is known without building it; `account` is what they make. */
  demand?(of: Signing, account: string): Promise<Pick<Demand, 'calls'>>
  /** Whether the chain no longer shows what an executed proposal did, so that it is proposed again. */
  isUndone?(): Promise<boolean>
}

/** What the first line of a journal has beside its terms. */
export interface JournalHead {
  first: JournalFields
  isHead(head: JournalFields): boolean
}

interface ListToPropose<D extends BuiltTransactions> {
  file: string
  journal: string
  head?: JournalHead
  /** The token and the act of all rows. */
  of?: Pick<ProposalTerms, 'mint' | 'act'>
  /**
   * What all rows do, such as `Mint 3 NFTs into Apes`, and the rows. `head` is the first line of the journal, and
   * `entries` are its other lines.
   */
  rows(
    head: Readonly<JournalFields>,
    entries: ProposalListJournal['entries'],
  ): Promise<{
    question: string
    rows: readonly RowToPropose<D>[]
    /** More lines of the preview. */
    lines?: readonly string[]
    /** Adds to the preview what only the API knows. */
    check?(of: Signing): void
  }>
}

/** What is the same in every run of a list: its vault and cluster, and what it does to which token, if that is one. */
type ProposalTerms = {
  payer: string
  cluster: string | null
  mint: string | null
  act: string | null
}

/** The proposals of a row, in their order. */
interface BegunRow {
  proposals: string[]
}

type Status = 'to propose' | 'proposed' | 'waits' | 'executed' | 'failed'
interface PlannedRow<D extends BuiltTransactions> {
  row: RowToPropose<D>
  status: Status
  proposals: readonly string[]
  /** Whether its proposals were executed, and what they did is undone. */
  isUndone: boolean
  error: string | null
}

const PROPOSAL_JOURNAL: JournalKind<ProposalTerms> = {
  kind: 'svc-list-proposals',
  command: '`--from` with --squads',
  doing: 'proposing',
  names: { payer: 'the vault', cluster: 'the cluster', mint: 'the token', act: 'the act' },
  anew: 'propose the list as a new one',
  loss: 'another --journal proposes every row again',
  isEntry: ({ proposals }) => Array.isArray(proposals) && proposals.every((id) => typeof id === 'string'),
}

export type ProposalListJournal = ListJournal<ProposalTerms, BegunRow>

export const proposalListJournal = (file: string, terms: ProposalTerms, head?: JournalHead): ProposalListJournal =>
  new ListJournal(file, terms, {
    ...PROPOSAL_JOURNAL,
    ...(head === undefined ? {} : { first: () => head.first, isHead: head.isHead }),
  })

export async function proposeRows<D extends BuiltTransactions>(
  session: Session,
  flags: SigningFlags,
  acting: ActingVault,
  { file, journal: place, head, of: about = { mint: null, act: null }, rows: rowsOf }: ListToPropose<D>,
): Promise<CommandOutcome> {
  const cluster = await session.cluster()
  if (!flags.dry_run) await refuseUnconfirmable(session, cluster)
  const journal = proposalListJournal(place, { payer: acting.vault, cluster, ...about }, head)
  journal.refuseWhileHeld()
  const { head: begun } = journal
  const { question: what, rows, lines = [], check } = await rowsOf(begun, journal.entries)
  const planned = await plannedRows(session, acting, journal, rows)
  const known = new Set([...journal.entries.keys(), ...rows.map(({ id }) => id)])
  const open = planned.filter(({ status }) => status === 'to propose')
  return runList(session, flags, {
    question: `Propose: ${what}`,
    isOpen: open.length > 0,
    begin: () => journal.begin(),
    async preview() {
      const [first] = open
      if (first === undefined) return null
      const built = await first.row.tryBuild(acting.vault)
      // The rows of a list cost nearly the same.
      const each = await fundsOfProposal(session, acting, built)
      const of = signingFor(session, acting.vault, {
        guard: undefined,
        isRead: flags.dry_run || session.ui.attended,
        cluster,
      })
      check?.(of)
      return {
        lines: [
          previewLine('multisig', acting.multisig),
          previewLine('vault', `${acting.vault} (number ${acting.vaultIndex})`),
          previewLine('member', `${acting.member} proposes, and pays the fee and the rent of the proposals`),
          ...lines,
          previewLine('checked', 'here: each act, and that its proposal stores exactly this act'),
          ...of.notes.map((note) => previewLine('', note)),
          previewLine('rows', `${planned.length}, of which ${open.length} are to be proposed`),
        ],
        funds: repeatFunds(each, open.length),
        payer: acting.member,
        journal: journal.file,
      }
    },
    async work() {
      const isSame = [...journal.entries.keys()].every((id) => known.has(id))
      if (!isSame || JSON.stringify(journal.head) !== JSON.stringify(begun)) throw begunMeanwhile()
      // Another run may have proposed during the confirmation.
      for (const [i, now] of (await plannedRows(session, acting, journal, rows)).entries())
        Object.assign(planned[i] ?? {}, now)
      await proposeOpen(session, flags, acting, { journal, planned })
    },
    outcome: (notes) => proposedRowsOutcome(planned, { file, journal: journal.file }, notes),
  })
}

/** Proposes one row after another, because each takes the next number of the multisig. Ends at the first that fails. */
async function proposeOpen<D extends BuiltTransactions>(
  session: Session,
  { keypair, tx_version, guard }: SigningFlags,
  acting: ActingVault,
  { journal, planned }: { journal: ProposalListJournal; planned: readonly PlannedRow<D>[] },
): Promise<void> {
  const bar = session.ui.progress('Proposing')
  const open = planned.filter(({ status }) => status === 'to propose')
  const quiet = agreedSession(session)
  const flags = { keypair, tx_version, guard, wait: undefined, dry_run: false, build_only: false, force: false }
  session.setInterruptNote('Stopped. The same command continues from here, and proposes nothing twice.')
  for (const [i, next] of open.entries()) {
    const onSigned = (proposals: string[]) => {
      journal.write(next.row.id, { proposals })
      Object.assign(next, { proposals })
    }
    try {
      const { proposal } = await propose(quiet, flags, { ...next.row.run, onSigned, isUndone: next.isUndone }, acting)
      if (next.proposals.length === 0) onSigned([proposal.id])
      next.status = 'proposed'
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      Object.assign(next, { status: 'failed', error: error.message })
      break
    }
    bar(i + 1, open.length)
  }
  session.setInterruptNote(null)
  session.ui.clear()
}

/** The rows with what became of their proposals. Throws a usage problem for a row that waits and is gone from the list. */
async function plannedRows<D extends BuiltTransactions>(
  session: Session,
  acting: ActingVault,
  journal: ProposalListJournal,
  rows: readonly RowToPropose<D>[],
): Promise<PlannedRow<D>[]> {
  const listed = new Set(rows.map(({ id }) => id))
  for (const [id, { proposals }] of journal.entries) {
    if (listed.has(id) || (await statusOf(session, proposals)) !== 'waits') continue
    throw usage(`a row of an earlier run waits in the proposal ${proposals.join(', ')}, and the list has no such row`, {
      param: '--from',
      next: `put the row back as it was, or let the members reject it: \`svc proposals show ${proposals[0]}\``,
    })
  }
  const planned: PlannedRow<D>[] = []
  for (const row of rows) {
    const { proposals = [] } = journal.entries.get(row.id) ?? {}
    const was = await statusOf(session, proposals)
    if (was !== 'to propose') await requireItsProposals(session, acting, row, proposals)
    const isUndone = was === 'executed' && (await row.isUndone?.()) === true
    planned.push({ row, proposals, status: isUndone ? 'to propose' : was, isUndone, error: null })
  }
  return planned
}

/** Throws a failure if the proposals that the journal names for a row are of another vault or do something else. */
async function requireItsProposals<D extends BuiltTransactions>(
  session: Session,
  { vault }: ActingVault,
  { line, place, demand }: RowToPropose<D>,
  ids: readonly string[],
): Promise<void> {
  const proposals: Proposal[] = []
  for (const id of ids) proposals.push(await knownProposal(session.client, id))
  const isOfVault = proposals.every(({ approver }) => approver.kind === 'squads' && approver.vault === vault)
  const contents = await Promise.all(proposals.map(({ transaction }) => session.wallet.describe(transaction)))
  const account = proposals[0]?.tracked_resource?.resource_id ?? ''
  const { containCalls } = await import('../signing/built-calls.ts')
  const isIts =
    demand === undefined ||
    containCalls(contents, await demand(signingFor(session, vault, { guard: undefined, isRead: true }), account))
  if (isOfVault && isIts) return
  throw failure(
    `the journal names the proposal ${ids.join(', ')} for ${place ?? `line ${line}`}, which ${isOfVault ? 'does something else' : 'is of another vault'}`,
    { next: 'nothing was proposed: name another --journal if this one is not yours' },
  )
}

/** A proposal of the journal. Throws a failure if the API does not know it: it may be executed all the same. */
export async function knownProposal(client: Session['client'], id: string): Promise<Proposal> {
  const answer = await nullIfNotFound(client.proposals.get({ id }))
  if (answer !== null) return answer.data
  throw failure(`the API does not know the proposal ${id} of an earlier run, which may still be executed`, {
    next: 'use the API with which the list was begun: `svc config list`',
  })
}

/** What became of the proposals of a row. Throws a failure if only some of them can still be executed. */
async function statusOf({ client }: Session, ids: readonly string[]): Promise<Status> {
  const all: Proposal[] = []
  for (const id of ids) all.push(await knownProposal(client, id))
  const count = (...of: string[]) => all.filter(({ status }) => of.includes(status)).length
  const [executed, open] = [count('executed'), count('active', 'approved')]
  if (executed === ids.length && ids.length > 0) return 'executed'
  if (executed + open === ids.length && ids.length > 0) return 'waits'
  if (executed + open === 0) return 'to propose'
  const broken = all.find(({ status }) => !['executed', 'active', 'approved'].includes(status))
  throw failure(
    `a row is done in part: its proposal ${broken?.id ?? ids.join(', ')} is ${broken?.status ?? 'unknown'}`,
    {
      next: `\`svc proposals renew ${broken?.id ?? ids[0]}\`, or reject the others`,
    },
  )
}

const proposedRowsOutcome = <D extends BuiltTransactions>(
  rows: readonly PlannedRow<D>[],
  { file, journal }: { file: string; journal: string },
  notes: readonly string[],
): CommandOutcome =>
  rowsOutcome({
    rows,
    journal,
    statuses: ['proposed', ['waits', 'waiting', 'wait for the members'], 'executed', 'to propose', 'failed'],
    records: [
      'rows',
      ({ row: { line, name }, proposals, status, error }) => ({ line, name, proposals, status, error }),
    ],
    columns: ['line', 'name', 'proposal', 'status'],
    cells: ({ row: { line, name }, proposals, status }) => [line, name, proposals.join(' '), status],
    noteOf: ({ row: { line, place = `${file}:${line}:1` }, error }) => (error === null ? null : `${place}: ${error}`),
    notes: [
      ...notes,
      ...(rows.some(({ status }) => status === 'proposed' || status === 'waits')
        ? ['Members approve each: `svc proposals list --status active`']
        : []),
    ],
  })
