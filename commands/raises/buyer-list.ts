/** `svc raises deposit|withdraw|claim|refund --from`: one act for each own key of a CSV; no amount is paid twice. */
import { dirname, resolve } from 'node:path'
import type { Raise } from '../../src/api/raises.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { Amount } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { endOfSigned, type SignedSending } from '../lists/attempt.ts'
import { readRows } from '../lists/csv.ts'
import { fieldsOf, ListJournal } from '../lists/journal.ts'
import { firstNotes, rowsOutcome } from '../lists/outcome.ts'
import { patiently } from '../lists/patience.ts'
import { doubtsAbout } from '../lists/proof.ts'
import { failedRow, refuseStandardInput, runList, workThrough } from '../lists/run.ts'
import type { SignedEnd } from '../lists/until-ended.ts'
import { trackedField } from '../signing/built-transactions.ts'
import { agreedSession, refuseUnconfirmable } from '../signing/confirm.ts'
import { checkedBuild, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { signOne } from '../signing/device.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { UnprovenEnd } from '../signing/following.ts'
import { addFunds, type Funds, forecastFunds } from '../signing/funds.ts'
import { previewLine, previewLines } from '../signing/preview.ts'
import type { AgreedBuild } from '../signing/signed-run.ts'
import { failure, Problem, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { isDeviceUrl, isWalletName } from '../wallet/names.ts'
import {
  type ActOfBuyer,
  type Answer,
  type BuyerActKind,
  buildAct,
  fieldsOfAct,
  inRound,
  signAct,
  unitsIn,
} from './buyer-acts.ts'

const CONCURRENT_ROWS = 4
const MOST_ROWS = 500

export interface BuyerList {
  kind: BuyerActKind
  raise: Raise
  /** Whether amounts are raw units. */
  raw: boolean
  file: string
  journal: string | undefined
}

interface BuyerRow {
  line: number
  /** As -k takes it. */
  keypair: string
  wallet: string
  /** Raw units of what is paid; without them the chain alone says how much, and so what is left to do. */
  units: bigint | null
  act: ActOfBuyer
  /** Names it in the journal. */
  id: string
  /** What the API says about it. */
  data: Answer | null
  status: string
  signature: string | null
  error: string | null
}

/** What was signed for a row with an amount, on disk before it is sent. */
interface SentRow {
  /** Raw units that the row asked for. */
  units: string
  /** What the API said about it. */
  answer: Record<string, unknown>
  sending: SignedSending
  end?: SignedEnd['kind'] | undefined
}

interface BuyerRun extends Omit<BuyerList, 'journal'> {
  flags: SigningFlags & { sign_unseen?: boolean; trust_journal?: boolean }
  /** Null if no row has an amount: the chain shows what is left to do. */
  journal: ListJournal<{ raise: string; cluster: string | null }, SentRow> | null
}

export async function runBuyers(session: Session, flags: BuyerRun['flags'], list: BuyerList): Promise<CommandOutcome> {
  const { kind, raise, file } = list
  const cluster = await session.cluster()
  if (!flags.dry_run) await refuseUnconfirmable(session, cluster)
  const rows = await readKeys(session, list)
  const journal = rows.some(({ units }) => units !== null) ? buyerJournal(list, cluster) : null
  journal?.refuseWhileHeld()
  const run = { ...list, flags, journal }
  await markDone(session, run, rows)
  const { funds, notes: said } = await tryRows(session, run, rows)
  const open = rows.filter(({ status }) => status === `to ${kind.name}`)
  const units = open.reduce((sum, { data }) => sum + BigInt(data?.amount ?? 0), 0n)
  const act = kind.of(session, inRound(raise, 1, '--round'), { units, raw: true })
  return runList(session, flags, {
    question: `${act.what} with ${counted(open.length, 'row')} of ${file}`,
    isOpen: open.length > 0,
    ...(journal === null ? {} : { begin: () => journal.begin() }),
    preview: async () => ({
      lines: [
        previewLine('checked', 'here: each row before it is signed'),
        previewLine('rows', `${rows.length}, of which ${open.length} are left to ${kind.name}`),
        ...firstNotes(rows.filter((row) => open.includes(row) || row.error !== null).map(rowLine)),
        ...sumLines(open),
        ...said.map((note) => previewLine('note', printable(note))),
      ],
      funds,
      payer: '',
      ...(journal === null ? {} : { journal: journal.file }),
    }),
    work: () => doRows(session, run, open),
    outcome: (notes) => outcomeOf(run, rows, notes),
  })
}

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
function readKeys(session: Session, { kind, raise, raw, file }: BuyerList): Promise<BuyerRow[]> {
  refuseStandardInput(file, '--from')
  const needed = ['keypair', ...(kind.amount === 'needed' ? ['amount'] : [])]
  const columns = ['keypair', ...(kind.amount === undefined ? [] : ['amount']), 'round']
  const withoutHeader = (cells: number) => columns.slice(0, Math.max(1, cells))
  const places = new Map<string, number>()
  return readRows(file, { all: columns, needed, withoutHeader }, needed.join(','), async (row, faults) => {
    /** The value of a cell; undefined after its fault was added. */
    const read = async <T>(column: string, value: (text: string) => T | Promise<T>): Promise<T | undefined> => {
      const text = String(row.fields.get(column)?.value ?? '')
      try {
        if (needed.includes(column) && text === '') throw usage(`the ${column} is missing`)
        return await value(text)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        const { message, code, next } = error
        faults.push({ offset: row.offsetOf(column), message: code === 'forbidden' ? `${message}: ${next}` : message })
      }
    }
    const sale = await read('round', (text) => inRound(raise, text === '' ? 1 : Number(text), 'the round'))
    const units = await read('amount', (text) => {
      if (text === '') return null
      // Nothing in a withdrawal proves the decimals that the API says.
      if (kind.amount === 'optional' && !raw && raise.quote_mint !== WRAPPED_SOL)
        throw usage('amounts of this raise need --raw here')
      return unitsIn(raise, text, { raw, shown: 'the amount' })
    })
    const own = await read('keypair', async (text) => {
      const isPath = !isWalletName(text) && !isDeviceUrl(text)
      const keypair = isPath ? resolve(dirname(resolve(file)), text) : text
      const wallet = await session.wallet.address(keypair)
      const id = `${sale?.round} ${wallet}`
      const earlier = places.get(id)
      if (earlier !== undefined) throw usage(`the key of ${wallet} is in row ${earlier} too, for the same round`)
      if (places.set(id, places.size + 1).size > MOST_ROWS) throw usage(`more than ${MOST_ROWS} rows: split the list`)
      return { keypair, wallet, id }
    })
    if (sale === undefined || units === undefined || own === undefined) return []
    const act = kind.of(session, sale, { units, raw })
    const open = { data: null, status: `to ${kind.name}`, signature: null, error: null }
    return [{ ...own, ...open, units, act, offset: row.offset }]
  })
}

export function buyerJournal({ kind, raise, file, journal }: BuyerList, cluster: string | null) {
  const terms = { raise: raise.id, cluster }
  return new ListJournal<typeof terms, SentRow>(journal ?? `${file}.${kind.name}.json`, terms, {
    kind: `svc-raise-${kind.name}`,
    command: `\`svc raises ${kind.name} --from\``,
    doing: `${kind.name}ing`,
    names: { raise: 'the raise', cluster: 'the cluster' },
    anew: `${kind.name} once more`,
    loss: `another --journal does every row again`,
    isEntry({ units, sending, answer }) {
      const { transaction, signature } = fieldsOf(sending)
      return [units, transaction, signature, fieldsOf(answer).amount].every((each) => typeof each === 'string')
    },
  })
}

/** What an earlier run has signed for the row, unless it has ended without effect. */
function begunOf({ journal }: BuyerRun, { id, units }: BuyerRow): SentRow | null {
  const sent = units === null ? undefined : journal?.entries.get(id)
  return sent === undefined || sent.end === 'expired' || sent.end === 'failed' ? null : sent
}

/** Marks what an earlier run has done. Throws a usage problem if a row that it began has another amount now. */
async function markDone(session: Session, run: BuyerRun, rows: readonly BuyerRow[]) {
  const { kind, file } = run
  for (const row of rows) {
    const begun = begunOf(run, row)
    if (begun === null) continue
    if (begun.units !== String(row.units))
      throw usage(`${file}:${row.line}: ${row.wallet} was begun with another amount in an earlier run`, {
        param: '--from',
        next: `put the amount back as it was, or name another --journal to ${kind.name} once more`,
      })
    row.signature = begun.sending.signature
    row.data = begun.answer as unknown as Answer
    if (begun.end === 'confirmed') row.status = `${kind.done} already`
  }
  const done = rows.filter(({ status }) => status === `${kind.done} already`)
  await doubt(session, run, done)
}

/** Marks rows as unknown whose transaction in the journal did something else, or is not on chain. */
async function doubt(session: Session, { flags }: BuyerRun, rows: readonly BuyerRow[]) {
  const done = rows.map(({ id, wallet, signature, act, data }) => ({
    id,
    signatures: [signature ?? ''],
    demand: () => act.demand(signingFor(session, wallet, { guard: undefined, isRead: true }), data as Answer),
  }))
  const doubts = await doubtsAbout(session, done, { isTrusted: flags.trust_journal })
  for (const row of rows) if (doubts.has(row.id)) Object.assign(row, { status: 'unknown', error: doubts.get(row.id) })
}

/** Builds each open row, and marks those that are refused. Throws a usage problem if wallets lack money. */
async function tryRows(session: Session, { flags, file }: BuyerRun, rows: readonly BuyerRow[]) {
  const built = new Map<string, string[]>()
  const notes = new Set<string>()
  const poor: string[] = []
  const bar = session.ui.progress('Checking')
  const open = rows.filter(({ data }) => data === null)
  for (const [i, row] of open.entries()) {
    const { act, wallet } = row
    bar(i, open.length)
    try {
      const { data } = await patiently(session, () => buildAct(act, wallet, { ...flags, dry_run: true }))
      const demand = await act.demand(signingFor(session, wallet, { guard: flags.guard }), data)
      const checked = await checkedBuild(session, data.transaction, demand)
      built.set(wallet, [...(built.get(wallet) ?? []), checked])
      for (const note of data.warnings ?? []) notes.add(note)
      row.data = data
    } catch (error) {
      const isApi = error instanceof ApiError && (error.code === 'bad_request' || error instanceof UnexpectedBuild)
      if (!isApi) throw error
      Object.assign(row, refusalOf(error, row))
      if (error.details?.need !== undefined) poor.push(`${file}:${row.line}:1: ${row.error}`)
    }
  }
  if (poor[0] !== undefined) throw usage(poor[0], { lines: poor })
  const funds: Funds[] = []
  // The transactions of one wallet are run one after another: it has at most one in each of five rounds.
  for (const all of built.values()) funds.push(await patiently(session, () => forecastFunds(session, all)))
  session.ui.clear()
  // One that would fail is refused in its row, because each is simulated before it is signed.
  return { funds: { ...addFunds(funds), fault: null }, notes: [...notes] }
}

/** Reasons of the API for which nothing is left to do. */
const NOTHING = ['no_deposit', 'nothing_to_claim', 'too_early', 'no_refund']

function refusalOf({ param, message, details }: ApiError, { units }: BuyerRow) {
  const isNothing = units === null && NOTHING.includes(String(details?.reason))
  return { status: isNothing ? 'nothing now' : 'failed', error: message.replace(`${param}: `, '') }
}

/** Does a few rows at a time. One that fails keeps its error, and the others go on. */
async function doRows(session: Session, run: BuyerRun, rows: readonly BuyerRow[]): Promise<void> {
  const devices = await Promise.all(rows.map(({ keypair }) => session.wallet.isDevice(keypair)))
  let done = 0
  const failed = (row: BuyerRow, error: unknown) => Object.assign(row, failedRow(error))
  await workThrough(agreedSession(session), {
    doing: 'Signing and sending',
    // A deposit changes how much the next one may be.
    atOnce: run.kind.name === 'deposit' || devices.includes(true) ? 1 : CONCURRENT_ROWS,
    jobs: rows,
    async work(quiet, row) {
      await doRow(quiet, run, row).catch((error: unknown) => failed(row, error))
      return []
    },
    failed,
    progress: () => [++done, rows.length],
  })
}

/** Does one row until it is confirmed. What an earlier run has signed for it is finished first. */
async function doRow(session: Session, run: BuyerRun, row: BuyerRow): Promise<void> {
  const { flags, journal, kind } = run
  const { act, keypair } = row
  const endOf = async (sent: SentRow, isNew: boolean) => {
    const keep = (now: SentRow) => (row.units === null ? undefined : journal?.write(row.id, now))
    if (isNew) keep(sent)
    const end = await endOfSigned(session, sent.sending, isNew, { replacesUnseen: flags.sign_unseen })
    keep({ ...sent, end: end.kind })
    return end
  }
  const send = async ({ data, unsigned: built, demand }: AgreedBuild<Answer>) => {
    const checked = await checkedBuild(session, built.transaction, demand)
    const signed = await signOne(session, checked, { built, secretKeys: undefined, demand, keypair })
    const sending = { ...signed, ...trackedField(data) }
    Object.assign(row, { data, signature: signed.signature })
    const end = await endOf({ units: String(row.units), answer: fieldsOfAct(act, data), sending }, true)
    if (end.kind === 'failed') throw end.error
    if (end.kind === 'expired')
      throw failure(`${signed.signature} expired before it landed: run the same command again`)
    return { signatures: [signed.signature], confirmed: null }
  }
  try {
    const begun = begunOf(run, row)
    if (begun !== null && (await endOf(begun, false)).kind === 'confirmed') {
      row.status = kind.done
      return await doubt(session, run, [row])
    }
    // A device shows only a hash of a transaction with guards.
    const guard = flags.guard ?? ((await session.wallet.isDevice(keypair)) ? 'off' : undefined)
    await signAct(session, { ...flags, guard, keypair }, act, send)
    row.status = kind.done
  } catch (error) {
    if (!(error instanceof UnprovenEnd)) throw error
    Object.assign(row, { status: 'unknown', error: error.message })
  }
}

const amountOf = ({ data, units, act }: BuyerRow): Amount | null => {
  const amount = data?.amount ?? units
  return amount === null ? null : new Amount(amount, act.units.amount ?? 0)
}

function rowLine(row: BuyerRow): string {
  const { line, wallet, act, status, error } = row
  const round = act.sale.raise.rounds.length === 1 ? '' : `round ${act.sale.round}  `
  const said = error === null ? amountOf(row)?.grouped : `${status}: ${printable(error)}`
  return previewLine(`line ${line}`, `${wallet}  ${round}${said}`)
}

/** What the act of one row shows, with the sums of all. */
function sumLines(rows: readonly BuyerRow[]): string[] {
  const all = rows.flatMap(({ data }) => data ?? [])
  const [act, first] = [rows[0]?.act, all[0]]
  if (act === undefined || first === undefined) return []
  const sumOf = (name: string) => all.reduce((sum, data) => sum + BigInt(data[name as 'amount'] ?? 0), 0n)
  const sums = Object.keys(act.units).map((name) => [name, String(act.estimates?.includes(name) ? 0 : sumOf(name))])
  return previewLines(act.preview({ ...first, ...Object.fromEntries(sums) }))
}

function outcomeOf(
  { kind: { name, done }, raise, file, journal }: BuyerRun,
  rows: readonly BuyerRow[],
  notes: readonly string[],
): CommandOutcome {
  const ofRounds = <T>(value: T) => (raise.rounds.length === 1 ? [] : [value])
  return rowsOutcome({
    rows,
    fields: { id: raise.id, mint: raise.mint, quote_mint: raise.quote_mint },
    statuses: [
      done,
      [`${done} already`, 'done_already', `${done} already`],
      ['nothing now', 'nothing_now', 'have nothing now'],
      ...[`to ${name}`, 'unknown', 'failed'],
    ],
    records: [
      'buyers',
      ({ line, wallet, act, data, status, signature, error }) => ({
        ...{ line, wallet, round: act.sale.round, ...(data === null ? { amount: null } : fieldsOfAct(act, data)) },
        ...{ status, signature, error },
      }),
    ],
    columns: ['line', 'wallet', ...ofRounds('round'), 'amount', 'status'],
    cells: (row) => [row.line, row.wallet, ...ofRounds(row.act.sale.round), amountOf(row), row.status],
    file,
    ...(journal === null ? {} : { journal: journal.file }),
    notes,
  })
}
