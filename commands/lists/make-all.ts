/**
 * Makes one account on chain for every row of a CSV once, however often the command is interrupted and run again: the
 * keypair signs, the platform wallet, or a vault to which each row is proposed.
 */

import { ApiError } from '../../src/platform/errors.ts'
import { Amount } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { checkedBuild, requireShownGuards, type Signing, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { signOne } from '../signing/device.ts'
import { buildFields, type SigningFlags, termsField } from '../signing/flags.ts'
import { UnprovenEnd } from '../signing/following.ts'
import { forecastFunds, repeatFunds } from '../signing/funds.ts'
import { listGuardLines, listSignerLines, previewLine } from '../signing/preview.ts'
import { simulateBuild } from '../signing/run-failures.ts'
import { sendAll } from '../signing/sending.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { usage } from '../ui/problem.ts'
import { sendOne } from './attempt.ts'
import type { ListNotes } from './column-flags.ts'
import { type CallerRequest, requireSameCaller, requireTrusted, UntrustedKey } from './key-trust.ts'
import type { BuiltRow, KeyedList, KeyedRun, ListFlags } from './keyed-list.ts'
import {
  type BegunRow,
  doneRow,
  isMade,
  keyedJournal,
  type PlannedRow,
  planKeyedRows,
  type RowStatus,
  withIds,
} from './keyed-rows.ts'
import { rowsOutcome } from './outcome.ts'
import { patiently } from './patience.ts'
import { doubtsAbout } from './proof.ts'
import { proposeRows } from './propose-rows.ts'
import {
  atOnce,
  begunMeanwhile,
  type ListPreview,
  listSigner,
  refuseStandardInput,
  runList,
  workThrough,
} from './run.ts'

export async function makeAll<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  flags: ListFlags,
  list: KeyedList<R, D>,
): Promise<CommandOutcome> {
  const { signed: isSigned = false, squads } = flags
  if (isSigned && flags.wait === 'none') {
    throw usage('--wait none is for one transaction: a list waits for each', { param: '--wait' })
  }
  refuseStandardInput(list.file, '--from')
  if (squads !== undefined) return proposeAll(session, flags, list, squads)
  const { payer, cluster } = await listSigner(session, flags)
  const place = list.place ?? `${list.file}${list.ending}`
  const journal = keyedJournal(place, list.terms(payer, cluster), list.kind, list.head)
  journal.refuseWhileHeld()
  const { head } = journal
  const { rows: listed, notes: read } = await list.read(payer, head)
  const { kind, contentOf } = list
  const of = signingFor(session, payer, { guard: undefined, isRead: true, cluster })
  const demand = (row: R, made: { account: string; key: string | null }) => list.demand(of, row, made)
  const plan = { kind, journal, contentOf, listed, isSigned, demand, isTrusted: flags.trust_journal }
  let rows = await planKeyedRows(session, plan)
  const open = rows.filter(({ status }) => status === 'to do')
  const run = { list, payer, journal, isSigned, flags }
  const question = list.question(open)
  return runList(session, flags, {
    question,
    isOpen: open.length > 0,
    begin: () => journal.begin(),
    preview: () => previewOf(session, run, rows, open),
    async work() {
      if (JSON.stringify(journal.head) !== JSON.stringify(head)) throw begunMeanwhile()
      // Another run may have made some during the confirmation.
      rows = await planKeyedRows(session, { ...plan, before: rows })
      for (const row of rows) {
        if (row.status === 'there already' && journal.entries.get(row.id)?.isMade !== true) {
          writeRow(session, run, row, { isMade: true })
        }
      }
      await makeOpen(session, run, rows)
    },
    outcome: (notes) => listOutcome(rows, run, { read, notes }),
  })
}

/** What all rows cost, measured by simulating the dearest one. */
async function previewOf<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  { list, payer, journal, isSigned, flags }: KeyedRun<R, D>,
  rows: readonly PlannedRow<R>[],
  open: readonly PlannedRow<R>[],
): Promise<ListPreview | null> {
  const [first] = open.toSorted(list.dearestFirst)
  if (first === undefined) return null
  const key = isSigned ? null : first.key.address
  const { data } = await list.build({ payer, ...buildFields({ ...flags, dry_run: true }) }, first, key)
  const isRead = flags.dry_run || session.ui.attended
  const of = signingFor(session, payer, {
    guard: isSigned ? undefined : flags.guard,
    isRead,
    cluster: await session.cluster(),
  })
  list.check?.(of)
  const demand = await list.demand(of, first, { key, account: first.account ?? list.accountIn(data) })
  const forecast = await simulateBuild(
    session,
    await checkedBuild(session, data.transaction, demand),
    payer,
    data.guard,
  )
  await requireShownGuards(session, data.transaction, demand, forecast)
  const all = repeatFunds(await forecastFunds(session, [data.transaction]), open.length)
  return {
    lines: [
      ...listSignerLines(payer, isSigned, `here, each before it is signed: ${demand.says}`),
      ...of.notes.map((note) => previewLine('', note)),
      ...listGuardLines(forecast),
      previewLine('rows', `${rows.length}, of which ${rows.length - open.length} are ${list.kind.done} already`),
      ...list.lines(open, { first, data, simulation: forecast.simulation, payer }),
    ],
    funds: list.funds?.(all, open, data) ?? all,
    payer,
    journal: journal.file,
    forecast,
  }
}

function listOutcome<R extends { line: number }, D extends BuiltRow>(
  planned: readonly PlannedRow<R>[],
  { list, journal }: KeyedRun<R, D>,
  { read, notes }: { read: ListNotes; notes: readonly string[] },
): CommandOutcome {
  const { kind, names, columns, file } = list
  const todo = `to ${kind.verb}`
  const words: Partial<Record<RowStatus, string>> = { 'to do': todo, done: kind.done }
  const rows = planned.map(({ status, ...row }) => ({
    line: row.line,
    ...list.record(row as unknown as R),
    // The seed is final only once the journal is written.
    [names.account]: status === 'to do' ? null : row.account,
    status: words[status] ?? status,
    error: row.error,
  }))
  const shown = ['line', ...columns, names.account, 'status']
  const cellOf = (column: string, value: unknown) => {
    const decimals = list.decimals?.[column]
    return decimals === undefined ? value : new Amount(BigInt(String(value)), decimals)
  }
  return rowsOutcome({
    rows,
    journal: journal.file,
    fields: { ...list.fields(planned), ...read },
    statuses: [
      kind.done,
      'there already',
      ['submitted', 'submitted', 'submitted and not waited for'],
      ...[todo, 'unknown', 'failed'],
    ],
    records: [names.rows, (row) => row],
    columns: shown,
    cells: (row) => shown.map((column) => cellOf(column, (row as Record<string, unknown>)[column])),
    file,
    notes,
  })
}

/** Proposes every row to a multisig, whose vault makes its account. */
async function proposeAll<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  flags: SigningFlags,
  list: KeyedList<R, D>,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const fields = (dry_run: boolean) => buildFields({ ...flags, dry_run, squads: acting })
  return proposeRows<D>(session, flags, acting, {
    file: list.file,
    journal: list.place ?? `${list.file}.proposals.json`,
    ...(list.head === undefined ? {} : { head: list.head }),
    async rows(head) {
      const { rows: listed } = await list.read(acting.vault, head)
      const rows = withIds(listed, list.contentOf).map((row) => ({
        id: row.id,
        line: row.line,
        name: String((row as Record<string, unknown>)[list.kind.label]),
        run: {
          what: `${list.question([row])}, row ${row.id}`,
          build: (payer: string) => list.build({ payer, ...fields(false) }, row, null),
          demand: (of: Signing, data: D) => list.demand(of, row, { key: null, account: list.accountIn(data) }),
        },
        demand: (of: Signing, account: string) => list.demand(of, row, { key: null, account }),
        tryBuild: async (payer: string) => (await list.build({ payer, ...fields(true) }, row, null)).data,
      }))
      return { question: list.question(listed), rows, ...(list.check === undefined ? {} : { check: list.check }) }
    },
  })
}

/** The number of rows that are made at the same time. */
const CONCURRENT_ROWS = 8

/** Makes the open rows, several at a time, each until it is confirmed. */
async function makeOpen<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  run: KeyedRun<R, D>,
  rows: readonly PlannedRow<R>[],
): Promise<void> {
  const { kind } = run.list
  return workThrough(session, {
    doing: kind.doing,
    atOnce: run.isSigned ? CONCURRENT_ROWS : await atOnce(session, run.flags.keypair, CONCURRENT_ROWS),
    jobs: rows.filter(({ status }) => status === 'to do'),
    async work(quiet, row) {
      try {
        const make = () => makeOnce(quiet, run, row)
        const status = run.isSigned ? await makeByPlatform(quiet, run, row) : await patiently(session, make)
        Object.assign(row, { status })
      } catch (error) {
        if (!(error instanceof UntrustedKey || error instanceof UnprovenEnd)) throw error
        Object.assign(row, { status: 'unknown', error: error.message })
      }
      return []
    },
    failed: (row, { message }) => Object.assign(row, { status: 'failed', error: message }),
    progress: () => [rows.filter(({ status }) => status !== 'to do').length, rows.length],
  })
}

/** The entry of the row is on disk when this returns; what is not given stays as it was. */
function writeRow<R extends { line: number }, D extends BuiltRow>(
  { clock }: Session,
  { list: { kind }, journal, isSigned }: KeyedRun<R, D>,
  { id, account, ...row }: PlannedRow<R>,
  now: Partial<BegunRow>,
): void {
  const { signature = null, isMade: made = false, request = null } = { ...journal.entries.get(id), ...now }
  const name = (row as Record<string, unknown>)[kind.label]
  const entry = { [kind.label]: name, at: clock.now(), signature, isMade: made }
  journal.write(id, isSigned ? { ...entry, account, request } : entry)
}

/** Why the account of a row is not known to be what the row wants; null if its transaction in the journal proves it. */
async function doubtAbout<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  { list, payer, journal, isSigned, flags }: KeyedRun<R, D>,
  row: PlannedRow<R>,
): Promise<string | null> {
  const of = signingFor(session, payer, { guard: undefined, isRead: true })
  const done = doneRow(row, { journal, isSigned, demand: (each, made) => list.demand(of, each, made) })
  return (await doubtsAbout(session, [done], { isTrusted: flags.trust_journal })).get(row.id) ?? null
}

/**
 * The key of its account ensures that a row is made once while the account exists, and the journal that it is later. So
 * its bytes are not stored.
 */
async function makeOnce<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  run: KeyedRun<R, D>,
  row: PlannedRow<R>,
): Promise<RowStatus> {
  const { list, payer, journal, flags } = run
  const { keypair, wait } = flags
  const { address: key, secretKey } = row.key
  try {
    const { data } = await list.build({ payer, ...buildFields({ ...flags, dry_run: false }) }, row, key)
    const demand = await list.demand(signingFor(session, payer, { guard: flags.guard }), row, {
      key,
      account: row.account ?? '',
    })
    const checked = await checkedBuild(session, data.transaction, demand)
    if (demand.guarded !== null)
      await requireShownGuards(session, checked, demand, await simulateBuild(session, checked, payer))
    const signed = await signOne(session, checked, { built: data, secretKeys: [secretKey], demand, keypair })
    writeRow(session, run, row, { signature: signed.signature })
    const confirmed = await sendAll(session, [signed], { built: data, wait, bundle: false, recovery: '' })
    if (confirmed === null) return 'submitted'
    writeRow(session, run, row, { isMade: true })
    return 'done'
  } catch (error) {
    const mayBeMade = error instanceof ApiError && !(error instanceof UnexpectedBuild) && error.code !== 'rate_limited'
    const { signature } = journal.entries.get(row.id) ?? {}
    if (!mayBeMade || !(await isMade(session, list.kind, { ...row, signature }))) throw error
    const doubt = await doubtAbout(session, run, row)
    if (doubt !== null) throw new UntrustedKey(doubt)
    writeRow(session, run, row, { isMade: true })
    return 'there already'
  }
}

/** The platform wallet signs a row once under its idempotency key, which the journal has before it is asked. */
async function makeByPlatform<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  run: KeyedRun<R, D>,
  row: PlannedRow<R>,
): Promise<RowStatus> {
  const { list, payer, journal, flags } = run
  const caller = await session.caller()
  const anew = `if it was not ${list.kind.done}, put the row into a list of its own with another --journal`
  await sendOne<CallerRequest>(session, {
    begun: journal.entries.get(row.id)?.request ?? null,
    sign: async () => ({ key: crypto.randomUUID(), at: session.clock.now(), signature: null, caller }),
    async ask(request, options) {
      // Each attempt checks it, because waiting for a rate limit may take longer than the API keeps the key.
      requireTrusted(request, { caller, now: session.clock.now(), anew })
      if (list.sign === undefined) throw new Error('a list without --signed was started with it')
      const { signature, account } = await list.sign({ payer, ...termsField(flags) }, row, options)
      row.account = account
      return { signature }
    },
    keep(sending, end) {
      if (!('key' in sending)) return
      requireSameCaller(sending, { caller, end, anew })
      const isOver = end === 'failed' || end === 'expired'
      const { signature } = sending
      writeRow(session, run, row, { signature, isMade: end === 'confirmed', request: isOver ? null : sending })
    },
    replacesUnseen: flags.sign_unseen,
    unfinished: `line ${row.line} was not ${list.kind.done}`,
  })
  return 'done'
}
