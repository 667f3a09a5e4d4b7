/** `svc locks create --from`: makes the lock of every row of a CSV once, however often it is interrupted and run again. */
import { ApiError } from '../../src/platform/errors.ts'
import { groupedDecimalOf, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { FAILED_WORDS, rowsOutcome } from '../lists/outcome.ts'
import { patiently } from '../lists/patience.ts'
import { atOnce, refuseStandardInput, runList, workThrough } from '../lists/run.ts'
import { readKey } from '../merkle/built-record.ts'
import { refuseVault } from '../signing/acting-vault.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { checkedBuild, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { signOne } from '../signing/device.ts'
import { programsField, type SigningFlags, txVersionField } from '../signing/flags.ts'
import { canPay, type Funds, fundsOf, requireFunds, timesOf, totalLines } from '../signing/funds.ts'
import { failureLines, previewLine } from '../signing/preview.ts'
import { forecastOf, wouldFail } from '../signing/run-failures.ts'
import { sendAll } from '../signing/sending.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { EXIT, failure, usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { type LockJournal, lockJournal } from './list-journal.ts'
import { isLocked, type PlannedRow, planLocks, refuseRecipients } from './list-plan.ts'
import { readLockRows } from './list-rows.ts'
import { isoOf, type ScheduleTexts, scheduleFields } from './schedule.ts'
import { endOf } from './schedule-lines.ts'
import { demandedTerms, demandsLock, type LockTerms, termLines, termsOf } from './terms.ts'

export interface LockList {
  file: string
  journal: string | undefined
  mint: string
  decimals: number
  raw: boolean
  now: bigint
  usual: Omit<ScheduleTexts, 'amount'>
  terms: LockTerms
  allow_programs: boolean
}

interface LockRun {
  list: LockList
  payer: string
  journal: LockJournal
}

/** The number of rows that are locked at the same time. */
const CONCURRENT_ROWS = 8

export async function lockAll(session: Session, flags: SigningFlags, list: LockList): Promise<CommandOutcome> {
  const { file, mint, decimals, terms } = list
  refuseVault(flags, '--from locks tokens of your own wallet, not of a vault')
  if (flags.build_only) throw usage('--build-only prints one transaction; with --from there are many')
  refuseStandardInput(file, '--from')
  readKey(mint, '<mint>')
  const payer = await signingWallet(session, flags)
  const cluster = await session.cluster()
  if (!flags.dry_run) refuseUnconfirmable(session, cluster)
  const named = JSON.stringify(Object.values(termsOf(terms)))
  const journal = lockJournal(list.journal ?? `${file}.locks.json`, { mint, payer, cluster, terms: named }, list.now)
  journal.refuseWhileHeld()
  const now = BigInt(String(journal.head.now))
  const listed = await readLockRows(file, { decimals: list.raw ? 0 : decimals, now, usual: list.usual })
  await refuseRecipients(session, list, listed)
  let rows = await planLocks(session, journal, { listed })
  const open = rows.filter(({ status }) => status === 'to lock')
  const run = { list, payer, journal }
  const question = `Lock ${groupedDecimalOf(totalOf(open), decimals)} of ${mint} for ${counted(open.length, 'recipient')}`
  let wouldSucceed = true
  return runList(session, flags, {
    question,
    isOpen: open.length > 0,
    begin: () => journal.begin(),
    async preview() {
      wouldSucceed = await previewLocks(session, question, run, { rows, open, isDryRun: flags.dry_run })
    },
    async work() {
      if (String(journal.head.now) !== String(now)) {
        throw failure('another run has begun this list meanwhile', { next: 'run the same command again' })
      }
      // Another run may have locked some during the confirmation.
      rows = await planLocks(session, journal, { listed, before: rows })
      for (const { id, wallet, status } of rows) {
        const begun = journal.entries.get(id)
        if (status === 'there already' && begun?.isMade !== true) {
          journal.write(id, { wallet, at: session.clock.now(), signature: begun?.signature ?? null, isMade: true })
        }
      }
      await lockOpen(session, flags, run, rows)
    },
    outcome(notes) {
      const outcome = listOutcome(rows, list, journal.file, notes)
      return wouldSucceed ? outcome : { ...outcome, exitCode: EXIT.failed }
    },
  })
}

const totalOf = (rows: readonly PlannedRow[]) => rows.reduce((sum, { plan }) => sum + plan.amount, 0n)

const bodyOf = ({ mint, terms, allow_programs }: LockList, payer: string, { wallet, plan, base }: PlannedRow) => ({
  payer,
  mint,
  recipient: wallet,
  base,
  ...scheduleFields(plan),
  ...termsOf(terms),
  ...programsField({ allow_programs }),
})

const askedOf = ({ mint, decimals, terms }: LockList, { wallet, plan, lock, base }: PlannedRow) => ({
  ...{ address: lock, mint, recipient: wallet, schedule: plan, decimals, base },
  ...demandedTerms(terms),
})

/** Shows the cost of all, measured by simulating the largest lock; false if that simulation failed. */
async function previewLocks(
  session: Session,
  question: string,
  { list, payer, journal }: LockRun,
  { rows, open, isDryRun }: { rows: readonly PlannedRow[]; open: readonly PlannedRow[]; isDryRun: boolean },
): Promise<boolean> {
  const [first] = open.toSorted((a, b) => (a.plan.amount > b.plan.amount ? -1 : 1))
  if (first === undefined) return true
  const { mint, decimals, terms } = list
  const { data } = await session.client.locks.create({ ...bodyOf(list, payer, first), dry_run: true })
  if (data.mode === 'signed') throw failure('the API answered with a signed transaction, but none was requested')
  const isRead = isDryRun || session.ui.attended
  const of = signingFor(session, payer, { isRead, cluster: await session.cluster() })
  const now = String(journal.head.now)
  if (journal.entries.size === 0 && list.usual.start === undefined && !of.isNow(now)) {
    of.apiSays(`locks without a start begin at ${timeText(isoOf(BigInt(now)))} by the chain's clock`, '--start')
  }
  const demand = await demandsLock(of, askedOf(list, first))
  const forecast = await forecastOf(session, await checkedBuild(session, data.transaction, demand), payer)
  const { cluster, simulation, fault } = forecast
  const funds = withTokens(timesOf(await fundsOf(session, [data.transaction]), open.length), mint, totalOf(open))
  const ends = open.map(({ plan }) => endOf(plan)).reduce((most, at) => (at > most ? at : most))
  await session.ui.preview([
    question,
    previewLine('cluster', cluster ?? 'only the API knows'),
    previewLine('signer', payer),
    previewLine('checked', `here, each before it is signed: ${demand.says}`),
    ...of.notes.map((note) => previewLine('', note)),
    previewLine('rows', `${rows.length}, of which ${rows.length - open.length} are locked already`),
    previewLine('largest', `${groupedDecimalOf(first.plan.amount, decimals)} for ${first.wallet}`),
    previewLine('ends', `the last one at ${timeText(isoOf(ends))}`),
    ...termLines(terms),
    previewLine('rent', `${solOf(BigInt(data.rent) * BigInt(open.length))} SOL, which closing the locks returns`),
    ...(data.deposit === data.amount ? [] : [previewLine('fee', 'the mint takes its transfer fee beside each amount')]),
    ...totalLines(funds, payer),
    previewLine('journal', journal.file),
    ...(fault === null ? [] : failureLines(simulation, fault)),
  ])
  if (isDryRun) return fault === null && canPay(funds)
  requireFunds(funds, cluster)
  if (fault !== null) throw wouldFail(forecast, fault)
  return true
}

/** The tokens are those of all rows. With a transfer fee more than these leave the wallet. */
const withTokens = ({ payments, ...funds }: Funds, mint: string, total: bigint): Funds => ({
  ...funds,
  payments: payments.map((payment) => (payment.mint === mint ? { ...payment, amount: total, needed: total } : payment)),
})

async function lockOpen(
  session: Session,
  flags: SigningFlags,
  run: LockRun,
  rows: readonly PlannedRow[],
): Promise<void> {
  return workThrough(session, {
    doing: 'Locking',
    atOnce: await atOnce(session, flags.keypair, CONCURRENT_ROWS),
    jobs: rows.filter(({ status }) => status === 'to lock'),
    async work(quiet, row) {
      row.status = await patiently(session, () => lockOnce(quiet, flags, run, row))
      return []
    },
    failed: (row, { message }) => Object.assign(row, { status: 'failed', error: message }),
    progress: () => [rows.filter(({ status }) => status !== 'to lock').length, rows.length],
  })
}

/** The key of its lock ensures that a row is locked once while the lock exists, and the journal that it is later. */
async function lockOnce(
  session: Session,
  { keypair, wait, ...flags }: SigningFlags,
  { list, payer, journal }: LockRun,
  row: PlannedRow,
): Promise<PlannedRow['status']> {
  const { id, wallet, lock } = row
  let signature = journal.entries.get(id)?.signature ?? null
  const write = (isMade: boolean) => journal.write(id, { wallet, at: session.clock.now(), signature, isMade })
  try {
    const { data } = await session.client.locks.create({ ...bodyOf(list, payer, row), ...txVersionField(flags) })
    if (data.mode === 'signed') throw failure('the API answered with a signed transaction, but none was requested')
    const demand = await demandsLock(signingFor(session, payer), askedOf(list, row))
    const checked = await checkedBuild(session, data.transaction, demand)
    const signed = await signOne(session, checked, { built: data, secretKeys: [row.secretKey], demand, keypair })
    ;({ signature } = signed)
    write(false)
    const confirmed = await sendAll(session, [signed], { built: data, wait, bundle: false, recovery: '' })
    if (confirmed === null) return 'submitted'
    write(true)
    return 'locked'
  } catch (error) {
    const mayBeMade = error instanceof ApiError && !(error instanceof UnexpectedBuild) && error.code !== 'rate_limited'
    if (!mayBeMade || !(await isLocked(session, { lock, signature }).catch(() => false))) throw error
    write(true)
    return 'there already'
  }
}

function listOutcome(
  rows: readonly PlannedRow[],
  { mint, file }: LockList,
  journal: string,
  notes: readonly string[],
): CommandOutcome {
  // The seed is final only once the journal is written.
  const lockOf = ({ lock, status }: PlannedRow) => (status === 'to lock' ? null : lock)
  return rowsOutcome({
    rows,
    journal,
    fields: { mint, amount: String(totalOf(rows)) },
    statuses: [
      ['locked', 'locked', 'locked'],
      ['there already', 'there_already', 'there already'],
      ['submitted', 'submitted', 'submitted and not waited for'],
      ['to lock', 'to_lock', 'to lock'],
      ['failed', 'failed', FAILED_WORDS],
    ],
    records: [
      'locks',
      (row) => {
        const { line, wallet, plan, status, error } = row
        return { line, wallet, amount: String(plan.amount), lock: lockOf(row), status, error }
      },
    ],
    columns: ['line', 'wallet', 'amount', 'lock', 'status'],
    cells: (row) => [row.line, row.wallet, String(row.plan.amount), lockOf(row), row.status],
    noteOf: ({ line, error }) => (error === null ? null : `${file}:${line}:1: ${error}`),
    isLong: true,
    notes,
    isDone: rows.every(({ status }) => status !== 'failed'),
  })
}
