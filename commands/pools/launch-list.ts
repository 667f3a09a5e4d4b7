/** `svc pools create --from`: launches every row of a list once, however often the command is interrupted and run again. */
import { ApiError } from '../../src/errors.ts'
import { solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import { type Session, sessionWith } from '../session.ts'
import { confirmOn, refuseUnconfirmable } from '../signing/confirm.ts'
import { patiently } from '../signing/patience.ts'
import { previewLine } from '../signing/preview.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { failure, usage } from '../ui/problem.ts'
import type { CreateFlags, createFlags } from './launch-flags.ts'
import { launchRow } from './launch-row.ts'
import { costOf, type OpenRows, rehearseAll, requireBuildable } from './list-forecast.ts'
import { LaunchListJournal } from './list-journal.ts'
import { launchListOutcome, type PlannedRow } from './list-outcome.ts'
import { type LaunchList, readLaunchList } from './list-rows.ts'
import { refuseBesideRehearsal } from './rehearse.ts'

/** Launches at the same time; each waits for its transactions most of the time. */
const CONCURRENT_LAUNCHES = 4
const OF_ONE_LAUNCH = [
  'name',
  'symbol',
  'image',
  'type',
  'unlocked_liquidity',
  'preset',
  'buy',
  'description',
  'website',
  'twitter',
  'telegram',
] as const satisfies readonly (keyof typeof createFlags)[]

export async function launchAll(session: Session, input: CreateFlags, file: string): Promise<CommandOutcome> {
  refuseBesideList(input)
  const list = await readLaunchList(file)
  const payer = await signingWallet(session, input)
  const cluster = await session.cluster()
  if (!input.dry_run && !input.rehearse) refuseUnconfirmable(session, cluster)
  const journal = new LaunchListJournal(input.journal ?? `${file}.launch.json`, { payer, cluster })
  journal.refuseWhileHeld()
  const planned = plannedRows(list, journal)
  const open = planned.filter(({ status }) => status === 'to launch')
  if (input.rehearse) return rehearseAll(session, input, { list, payer, rows: open })
  if (open.length === 0) return launchListOutcome(planned, { file, journal: journal.file })

  const question = `Launch ${open.length} token${open.length === 1 ? '' : 's'}`
  await requireBuildable(session, input, { list, payer, rows: open })
  const cost = await costOf(session, input, { payer, rows: open })
  await session.ui.preview([
    question,
    previewLine('cluster', cluster ?? 'only the API knows'),
    previewLine('signer', payer),
    previewLine('checked', 'here: each launch before it is signed'),
    previewLine('rows', `${planned.length}, of which ${planned.length - open.length} are launched already`),
    previewLine('cost', cost.text),
    ...cost.buys.map((spent) => previewLine('buys', spent)),
    previewLine('journal', journal.file),
  ])
  if (input.dry_run) {
    const notes = ['Nothing was signed with your keypair, and nothing was sent.']
    return launchListOutcome(planned, { file, journal: journal.file }, notes)
  }
  if (cost.lamports !== null && cost.held < cost.lamports) {
    throw failure(`${payer} has ${solOf(cost.held)} SOL, and the launches take ${solOf(cost.lamports)} SOL`, {
      next: cluster === 'embedded' ? `\`svc localnet airdrop ${payer} 100\`` : `send SOL to ${payer}`,
    })
  }
  await confirmOn(session, question, cluster)
  const release = await journal.begin()
  try {
    await launchOpen(session, input, { journal, payer, rows: plannedAgain(planned, list, journal) })
  } finally {
    release()
  }
  return launchListOutcome(planned, { file, journal: journal.file })
}

function refuseBesideList(input: CreateFlags): void {
  const single = OF_ONE_LAUNCH.find((name) => input[name] !== undefined && input[name] !== false)
  if (single !== undefined) {
    const flag = `--${single.replace('_', '-')}`
    throw usage(`give either --from or ${flag}`, { param: flag })
  }
  for (const name of ['build_only', 'bundle', 'signed', 'idempotency_key'] as const) {
    if (input[name])
      throw usage(`--${name.replace('_', '-')} is for one launch, not for --from`, {
        param: `--${name.replace('_', '-')}`,
      })
  }
  if (input.wait !== undefined && input.wait !== 'confirmed') {
    throw usage('with --from each launch is waited for until it is confirmed', { param: '--wait' })
  }
  if (input.from === '-') {
    throw usage('--from needs a file: a list from standard input could not be read again', { param: '--from' })
  }
  if (input.rehearse) refuseBesideRehearsal(input)
}

/** The rows with what the journal knows. Throws a usage problem for a row that was begun and is another by now. */
function plannedRows(list: LaunchList, journal: LaunchListJournal): PlannedRow[] {
  const listed = new Set(list.rows.map(({ fields }) => String(fields.symbol).toUpperCase()))
  const gone = journal.symbols().find((symbol) => !listed.has(symbol) && journal.entry(symbol)?.isLive === false)
  if (gone !== undefined) {
    throw usage(`${gone} was begun in an earlier run, is not launched yet, and is not in the list any more`, {
      param: '--from',
      next: 'put the row back as it was; its launch may land until then',
    })
  }
  const changed = list.rows.filter((row) => {
    const entry = journal.entry(String(row.fields.symbol))
    return entry !== null && entry.sha256 !== row.sha256
  })
  if (changed.length > 0) {
    throw list.problem(
      changed.map((row) => ({
        row,
        field: 'symbol',
        message: `${row.fields.symbol} was begun with another row (${journal.entry(String(row.fields.symbol))?.pool}): put the row and its image back as they were`,
      })),
    )
  }
  return list.rows.map((row) => {
    const entry = journal.entry(String(row.fields.symbol))
    return { row, entry, status: entry?.isLive ? 'launched already' : 'to launch', error: null }
  })
}

/** The open rows, with what another run has done during the confirmation. */
function plannedAgain(planned: readonly PlannedRow[], list: LaunchList, journal: LaunchListJournal): PlannedRow[] {
  const now = plannedRows(list, journal)
  for (const [i, row] of planned.entries()) Object.assign(row, { entry: now[i]?.entry, status: now[i]?.status })
  return planned.filter(({ status }) => status === 'to launch')
}

/** Launches several rows at a time; after one has failed for good, no other is started. */
async function launchOpen(
  session: Session,
  input: CreateFlags,
  { journal, payer, rows }: OpenRows & { journal: LaunchListJournal },
): Promise<void> {
  const bar = session.ui.progress('Launching')
  // The whole list has one preview, one progress bar and one note for Ctrl-C.
  const quiet = sessionWith(session, {
    ui: { ...session.ui, preview: async () => undefined, waiting: () => undefined },
    setInterruptNote: () => undefined,
  })
  const waiting = [...rows]
  let isStopped = false
  let done = 0
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined && !isStopped; next = waiting.shift()) {
      const { row } = next
      try {
        const entry = await patiently(session, () => launchRow(quiet, { payer, journal, flags: input }, row))
        Object.assign(next, { entry, status: 'launched' })
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        isStopped = true
        const entry = journal.entry(String(row.fields.symbol))
        Object.assign(next, { entry, status: 'failed', error: error.message })
      }
      bar(++done, rows.length)
    }
  }
  session.setInterruptNote('What was sent may have landed; run the same command again for the rest')
  try {
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_LAUNCHES, rows.length) }, worker))
  } finally {
    session.setInterruptNote(null)
    session.ui.clear()
  }
}
