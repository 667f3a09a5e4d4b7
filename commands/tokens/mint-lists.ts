/**
 * Does an act on each mint of a CSV once. The chain shows which are done, so the same command goes on after any
 * interruption, without a journal.
 */
import { ApiError } from '../../src/platform/errors.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { rowsOutcome } from '../lists/outcome.ts'
import { patiently } from '../lists/patience.ts'
import { proposeRows } from '../lists/propose-rows.ts'
import { atOnce, type ListPreview, listSigner, runList, workThrough } from '../lists/run.ts'
import { transactionsOf } from '../signing/built-transactions.ts'
import { agreedSession } from '../signing/confirm.ts'
import { checkedBuild, signingFor } from '../signing/demand.ts'
import { fundsOfEach } from '../signing/funds.ts'
import { listGuardLines, listSignerLines, previewLine } from '../signing/preview.ts'
import {
  type Act,
  type ActAnswer,
  type ActFlags,
  runAct,
  signedActOf,
  type Unsigned,
  unsignedActOf,
} from '../signing/run-act.ts'
import { simulateBuild } from '../signing/run-failures.ts'
import { WaitsForApproval } from '../signing/waits-for-approval.ts'
import { counted } from '../ui/words.ts'

/** The act of one row; `line` is that of the CSV. */
type ListedMint<D extends ActAnswer> = Act<D> & {
  line: number
  mint: string
  /** All that the row says, so that a changed row is proposed as another one. */
  content: string
  /** Whether this refusal means that it is done already. */
  isDone(error: ApiError): boolean
}

interface MintList<D extends ActAnswer> {
  file: string
  /** Of the proposals to a multisig; nothing else needs one. */
  journal: string | undefined
  /** The verb, which names that journal: another act on the same mints has its own. */
  verb: string
  /** What all rows do, as in `Pause 3 tokens`. */
  question: string
  /** What a row is afterwards, as in `3 paused`. */
  done: string
  /** What a row was before; `paused already` unless given. */
  doneBefore?: string
  acts: readonly ListedMint<D>[]
}

type Status = 'to do' | 'done' | 'done already' | 'waits' | 'left out' | 'failed'
interface MintRow<D extends ActAnswer> {
  act: ListedMint<D>
  status: Status
  /** Its transaction as it would be now. */
  data: Unsigned<D> | null
  note: string | null
  signature: string | null
}

const CONCURRENT_ROWS = 8
/** Rows that the preview shows; of a longer list it counts the others. */
const MOST_SHOWN = 20

export async function actOnMints<D extends ActAnswer>(
  session: Session,
  flags: ActFlags,
  list: MintList<D>,
): Promise<CommandOutcome> {
  if (flags.squads !== undefined) return proposeMintActs(session, flags, list)
  const { payer } = await listSigner(session, flags)
  const rows = await planRows(session, flags, payer, list)
  const open = rows.filter(({ status }) => status === 'to do')
  return runList(session, flags, {
    question: list.question,
    isOpen: open.length > 0,
    preview: () => previewOf(session, flags, payer, rows),
    work: () => workOnRows(session, flags, payer, rows),
    outcome: (notes) => listOutcome(rows, list, notes),
  })
}

/** Builds every act without storing anything, so that what cannot be done is known before. */
async function planRows<D extends ActAnswer>(
  session: Session,
  flags: ActFlags,
  payer: string,
  { acts }: MintList<D>,
): Promise<MintRow<D>[]> {
  const bar = session.ui.progress('Reading the chain')
  const rows: MintRow<D>[] = []
  for (const act of acts) {
    const row: MintRow<D> = { act, status: 'to do', data: null, note: null, signature: null }
    rows.push(row)
    try {
      row.data = await tryAct(session, flags, payer, act)
    } catch (error) {
      if (!(error instanceof ApiError) || !['bad_request', 'not_found'].includes(error.code)) throw error
      Object.assign(row, act.isDone(error) ? { status: 'done already' } : { status: 'left out', note: error.message })
    }
    bar(rows.length, acts.length)
  }
  session.ui.clear()
  return rows
}

const tryAct = <D extends ActAnswer>(session: Session, flags: ActFlags, payer: string, act: ListedMint<D>) =>
  patiently(session, async () => (await unsignedActOf(flags, act, { dry_run: true })(payer)).data)

/** What each row does and what all cost. */
async function previewOf<D extends ActAnswer>(
  session: Session,
  { signed: isSigned, guard }: ActFlags,
  payer: string,
  rows: readonly MintRow<D>[],
): Promise<ListPreview | null> {
  const built = rows.flatMap(({ act, data, status }) => (data === null || status !== 'to do' ? [] : [{ act, data }]))
  const [first] = built
  if (first === undefined) return null
  const demand = await first.act.demand(signingFor(session, payer, { guard: isSigned ? undefined : guard }), first.data)
  const [transaction = ''] = transactionsOf(first.data)
  const forecast = await simulateBuild(
    session,
    await checkedBuild(session, transaction, demand),
    payer,
    first.data.guard,
  )
  const funds = await fundsOfEach(
    session,
    built.flatMap(({ data }) => transactionsOf(data)),
  )
  return {
    lines: [
      ...listSignerLines(payer, isSigned, `here, each before it is signed: ${demand.says}`),
      ...listGuardLines(forecast),
      previewLine('rows', `${rows.length}, of which ${built.length} are to be done`),
      ...built
        .slice(0, MOST_SHOWN)
        .flatMap(({ act, data }) => [previewLine(`line ${act.line}`, act.what), ...act.preview(data)]),
      ...(built.length > MOST_SHOWN ? [previewLine('', `and ${counted(built.length - MOST_SHOWN, 'more row')}`)] : []),
    ],
    funds,
    payer,
    forecast,
  }
}

async function workOnRows<D extends ActAnswer>(
  session: Session,
  flags: ActFlags,
  payer: string,
  rows: readonly MintRow<D>[],
): Promise<void> {
  const isOpen = ({ status }: MintRow<D>) => status === 'to do'
  return workThrough(session, {
    doing: 'Sending',
    atOnce: flags.signed ? CONCURRENT_ROWS : await atOnce(session, flags.keypair, CONCURRENT_ROWS),
    jobs: rows.filter(isOpen),
    async work(quiet, row) {
      try {
        const { data } = await runAct(agreedSession(quiet), flags, row.act)
        const { signature = null } = data as { signature?: string }
        Object.assign(row, { status: 'done', signature })
      } catch (error) {
        if (error instanceof WaitsForApproval) {
          Object.assign(row, {
            status: 'waits',
            note: `it waits for approvals: svc proposals show ${error.proposal.id}`,
          })
        } else if (await isDoneNow(session, flags, payer, row.act)) row.status = 'done already'
        else throw error
      }
      return []
    },
    failed: (row, { message }) => Object.assign(row, { status: 'failed', note: message }),
    progress: () => [rows.length - rows.filter(isOpen).length, rows.length],
  })
}

/** Whether another run did it meanwhile, or this one without seeing it. */
async function isDoneNow<D extends ActAnswer>(session: Session, flags: ActFlags, payer: string, act: ListedMint<D>) {
  try {
    await tryAct(session, flags, payer, act)
    return false
  } catch (error) {
    return error instanceof ApiError && act.isDone(error)
  }
}

function proposeMintActs<D extends ActAnswer>(
  session: Session,
  flags: ActFlags,
  { file, verb, journal = `${file}.${verb}.proposals.json`, question, acts }: MintList<D>,
): Promise<CommandOutcome> {
  const { squads: acting } = flags
  if (acting === undefined) throw new Error('a list was proposed without a vault')
  return proposeRows<Unsigned<D>>(session, flags, acting, {
    file,
    journal,
    rows: async () => ({
      question,
      rows: acts.map((act) => ({
        id: act.content,
        line: act.line,
        name: act.mint,
        run: signedActOf(flags, act),
        tryBuild: (vault) => tryAct(session, flags, vault, act),
        isUndone: async () => !(await isDoneNow(session, flags, acting.vault, act)),
      })),
    }),
  })
}

const listOutcome = <D extends ActAnswer>(
  rows: readonly MintRow<D>[],
  { file, done, doneBefore = `${done} already` }: MintList<D>,
  notes: readonly string[],
): CommandOutcome =>
  rowsOutcome({
    rows,
    statuses: [
      ['done', 'done', done],
      ['done already', 'done_already', doneBefore],
      ['waits', 'waiting', 'wait for approvals'],
      ...(['to do', 'left out', 'failed'] as const),
    ],
    records: ['rows', ({ act: { line, mint }, status, signature, note }) => ({ line, mint, status, signature, note })],
    columns: ['line', 'mint', 'status', 'signature'],
    cells: ({ act: { line, mint }, status, signature }) => [line, mint, status, signature],
    noteOf: ({ act: { line }, note }) => (note === null ? null : `${file}:${line}:1: ${note}`),
    isLong: true,
    notes,
    isDone: rows.every(({ status }) => status !== 'failed' && status !== 'left out'),
  })
