/** `svc pools create --from`: launches every row of a list once, however often the command is interrupted and run again. */

import type { PoolRehearsal } from '../../src/api/pool-rehearsals.ts'
import type { PoolCreated } from '../../src/api/pools.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { doubtsOnce } from '../lists/proof.ts'
import { proposeRows } from '../lists/propose-rows.ts'
import { atOnce, refuseStandardInput, runList, workThrough } from '../lists/run.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { requireDemanded } from '../signing/demand.ts'
import { approverField, termsField } from '../signing/flags.ts'
import { addFunds, type Funds, forecastFunds, type Payment } from '../signing/funds.ts'
import { previewLine } from '../signing/preview.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { failure, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { launchAnswer, launchDemand } from './launch-demand.ts'
import type { CreateFlags } from './launch-flags.ts'
import { findUnsent, launchedCalls, launchRow, rowDemand } from './launch-row.ts'
import { type LaunchListJournal, launchedOf, launchListJournal } from './list-journal.ts'
import { launchListOutcome, type PlannedRow, rehearsedListOutcome } from './list-outcome.ts'
import { bodyOfRow, type LaunchList, type LaunchRow, readLaunchList } from './list-rows.ts'
import { rehearseBody } from './rehearse.ts'

/** Launches at the same time; each waits for its transactions most of the time. */
const CONCURRENT_LAUNCHES = 4
export async function launchList(session: Session, input: CreateFlags, file: string): Promise<CommandOutcome> {
  refuseStandardInput(file, '--from')
  const list = await readLaunchList(file)
  if (input.squads !== undefined) return proposeLaunches(session, input, list, input.squads)
  const payer = await signingWallet(session, input)
  const cluster = await session.cluster()
  if (!input.dry_run && !input.rehearse) await refuseUnconfirmable(session, cluster)
  const journal = launchListJournal(input.journal ?? `${file}.launch.json`, { payer, cluster })
  journal.refuseWhileHeld()
  const doubtsOf = doubtsOnce(session, { isTrusted: input.trust_journal })
  const readRows = () => comparedRows(payer, plannedRows(list, journal), doubtsOf)
  const planned = await readRows()
  const open = planned.filter(({ status }) => status === 'to launch')
  if (input.rehearse) return rehearseAll(session, input, { list, payer, rows: open })

  return runList(session, input, {
    question: `Launch ${counted(open.length, 'token')}`,
    isOpen: open.length > 0,
    begin: () => journal.begin(),
    async preview() {
      const built = await requireBuildable(session, input, { list, payer, rows: open })
      const { funds, each } = await forecastCost(session, open, built)
      return {
        lines: [
          previewLine('signer', payer),
          previewLine('checked', 'here: each launch before it is signed'),
          previewLine('rows', `${planned.length}, of which ${planned.length - open.length} are launched already`),
          ...(each === null ? [] : [previewLine('each', each)]),
        ],
        funds,
        payer,
        journal: journal.file,
      }
    },
    async work() {
      // Another run may have launched during the confirmation.
      for (const [i, now] of (await readRows()).entries()) Object.assign(planned[i] ?? {}, now)
      const jobs = planned.filter(({ status }) => status === 'to launch')
      let done = 0
      await workThrough(session, {
        doing: 'Launching',
        atOnce: await atOnce(session, input.keypair, CONCURRENT_LAUNCHES),
        jobs,
        async work(quiet, next) {
          const entry = await launchRow(quiet, { payer, journal, flags: input }, next.row)
          Object.assign(next, { entry, status: 'launched' })
          return []
        },
        failed(next, { message }) {
          Object.assign(next, { entry: entryOf(journal, next.row), status: 'failed', error: message })
        },
        progress: () => [++done, jobs.length],
      })
    },
    outcome: (notes) => launchListOutcome(planned, { file, journal: journal.file }, notes),
  })
}

const entryOf = (journal: LaunchListJournal, { symbol }: { symbol: string }) => launchedOf(journal.entries.get(symbol))

/** The rows after launches that the journal calls done were compared with the chain. */
async function comparedRows(
  payer: string,
  rows: readonly PlannedRow[],
  doubtsOf: ReturnType<typeof doubtsOnce>,
): Promise<PlannedRow[]> {
  const idOf = ({ entry }: PlannedRow) => JSON.stringify(entry)
  const done = rows.flatMap((each) => {
    const { row, entry, status } = each
    if (status !== 'launched already' || entry === null) return []
    const demand = async () => ({ calls: launchedCalls(payer, row, entry) })
    return [{ id: idOf(each), signatures: entry.landed ?? entry.signatures, demand }]
  })
  const doubts = await doubtsOf(done)
  return rows.map((each) => {
    const error = each.status === 'launched already' ? (doubts.get(idOf(each)) ?? null) : null
    return error === null ? each : { ...each, status: 'unknown', error }
  })
}

/** The rows with what the journal knows. Throws a usage problem for a row that was started and has changed. */
function plannedRows(list: LaunchList, journal: LaunchListJournal): PlannedRow[] {
  const listed = new Set(list.rows.map(({ symbol }) => symbol))
  const isUnfinished = (symbol: string) => entryOf(journal, { symbol })?.isLive === false
  const gone = [...journal.entries.keys()].find((symbol) => isUnfinished(symbol) && !listed.has(symbol))
  if (gone !== undefined) {
    throw usage(`${gone} was started in an earlier run, is not launched yet, and is no longer in the list`, {
      param: '--from',
      next: 'put the row back as it was; its launch may still land',
    })
  }
  const rows = list.rows.map((row): PlannedRow => {
    const entry = entryOf(journal, row)
    return { row, entry, status: entry?.isLive ? 'launched already' : 'to launch', error: null }
  })
  const faults = rows.flatMap(({ row, entry }) => {
    if (entry === null || entry.sha256 === row.sha256) return []
    const message = `${row.fields.symbol} was started with another row (${entry.pool}): put the row and its image back as they were`
    return [{ row, field: 'symbol', message }]
  })
  if (faults.length > 0) throw list.problem(faults)
  return rows
}

// `svc pools create --from --squads`: proposes the launch of every row of a list, each by a vault.

async function proposeLaunches(
  session: Session,
  input: CreateFlags,
  { file, rows, problem }: LaunchList,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const own = rows.filter(({ fields }) => fields.base_mint !== undefined)
  const message = 'a mint_keypair is for a wallet of your own: a vault makes its mints itself'
  if (own.length > 0) throw problem(own.map((row) => ({ row, field: 'base_mint', message })))
  return proposeRows<PoolCreated>(session, input, acting, {
    file,
    journal: input.journal ?? `${file}.proposals.json`,
    rows: async () => ({
      question: `Launch ${counted(rows.length, 'token')}`,
      rows: rows.map((row) => {
        const { line, fields, sha256 } = row
        const build = async (creator: string, more: { dry_run?: true } = {}) => {
          const body = {
            ...(await bodyOfRow(row)),
            creator,
            ...termsField(input),
            ...approverField({ squads: acting }),
          }
          return session.client.pools.create({ ...body, ...more })
        }
        return {
          id: `${fields.symbol} ${sha256}`,
          line,
          name: fields.symbol,
          run: {
            what: `Launch ${fields.name} (${fields.symbol}), row ${sha256}`,
            build: (creator: string) => build(creator),
            demand: (of, data) =>
              launchDemand(session, of, { creator: of.payer, body: fields, bounds: input, answer: launchAnswer(data) }),
          },
          tryBuild: async (creator: string) => (await build(creator, { dry_run: true })).data,
        }
      }),
    }),
  })
}

// What a list of launches would do, before anything is sent: refusals by their places, the cost, and rehearsals.

interface OpenRows {
  payer: string
  rows: readonly PlannedRow[]
}

/** The transactions of each row that is not started yet, as they would be. */
type BuiltRows = ReadonlyMap<LaunchRow, readonly string[]>

/** Builds every row without leaving anything behind. Throws a usage problem that names the place of every refusal. */
async function requireBuildable(
  session: Session,
  input: CreateFlags,
  { list, payer, rows }: OpenRows & { list: LaunchList },
): Promise<BuiltRows> {
  const faults: { row: PlannedRow['row']; field: string | undefined; message: string }[] = []
  const bar = session.ui.progress('Checking')
  const fresh = rows.filter(({ entry }) => entry === null)
  const transactions = new Map<LaunchRow, readonly string[]>()
  for (const [i, { row }] of fresh.entries()) {
    const body = await bodyOfRow(row)
    const asked = { ...body, creator: payer, ...termsField(input), dry_run: true as const }
    const built = patiently(session, () => session.client.pools.create(asked)).then(async ({ data }) => {
      transactions.set(row, data.transactions)
      return requireDemanded(
        session,
        data.transactions,
        await rowDemand(session, { payer, flags: input }, row, launchAnswer(data)),
      )
    })
    await built.catch((error: unknown) => {
      if (!isOfRow(error)) throw error
      faults.push({ row, field: error.param, message: error.message })
    })
    bar(i + 1, fresh.length)
  }
  session.ui.clear()
  if (faults.length > 0) throw list.problem(faults)
  return transactions
}

/** Whether the API refuses this row: its values, or a mint that exists. */
const isOfRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'bad_request' && error.retryAfter === undefined

interface ListCost {
  /** What the payer pays for all of them. */
  funds: Funds
  /** The least and the most SOL of one launch. */
  each: string | null
}

/**
 * What is left to pay. Rows that differ only in name, symbol and buy cost the same fees and rent, so one of them is run,
 * the one with the longest texts, and the buys are added. Of a started row, what was not sent is run.
 */
export async function forecastCost(session: Session, rows: readonly PlannedRow[], built: BuiltRows): Promise<ListCost> {
  const all: Funds[] = []
  for (const group of likeRows([...built.keys()])) {
    const [first] = group
    const funds = await patiently(session, () => forecastFunds(session, built.get(first) ?? []))
    if (funds.fault !== null) throw wouldFail(first, funds.fault)
    all.push(...group.map((row) => withOtherBuy(funds, first, row)))
  }
  const each = rangeOf(all.flatMap(({ payments }) => payments.flatMap(({ mint, amount }) => (mint ? [] : [amount]))))
  for (const { entry } of rows) {
    const unsent = entry === null ? [] : await patiently(session, () => findUnsent(session, entry))
    // What was sent may land meanwhile, so a failure here proves nothing.
    if (unsent.length > 0)
      all.push({ ...(await patiently(session, () => forecastFunds(session, unsent))), fault: null })
  }
  return { funds: addFunds(all), each }
}

/** What `row` costs if `first`, which has another buy, costs `funds`. */
function withOtherBuy(funds: Funds, first: LaunchRow, row: LaunchRow): Funds {
  // The quote of the buy is the only other token that a launch takes, or SOL.
  const quote = funds.payments.find(({ mint }) => mint !== null) ?? funds.payments[0]
  const payments = funds.payments.map((payment) => {
    const more = payment === quote ? buyOf(row, payment) - buyOf(first, payment) : 0n
    return { ...payment, amount: payment.amount + more, needed: payment.needed + more }
  })
  return { ...funds, payments }
}

/** Rows of one type, preset and liquidity, with or without a first buy: the buy needs one more token account. */
function likeRows(rows: readonly LaunchRow[]): [LaunchRow, ...LaunchRow[]][] {
  const groups = new Map<string, [LaunchRow, ...LaunchRow[]]>()
  const texts = ({ fields: { name, symbol } }: LaunchRow) => name.length + symbol.length
  for (const row of rows.toSorted((a, b) => texts(b) - texts(a))) {
    const { type = 'dbc', preset, lock_liquidity = true, buy_amount = 0 } = row.fields
    const key = JSON.stringify([type, preset ?? null, lock_liquidity, buy_amount > 0])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return [...groups.values()]
}

const wouldFail = ({ fields }: LaunchRow, { text, hint }: NonNullable<Funds['fault']>) =>
  failure(`${fields.symbol} would fail, so nothing was sent: ${printable(text)}`, {
    next: hint ?? '`--rehearse` shows each',
  })

function rangeOf(each: readonly bigint[]): string | null {
  const ordered = each.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  const [least, most] = [ordered[0], ordered.at(-1)]
  if (least === undefined || most === undefined) return null
  return `${least === most ? solOf(least) : `${solOf(least)} to ${solOf(most)}`} SOL`
}

/** The first buy in raw units of its quote. */
function buyOf({ fields }: LaunchRow, { mint, decimals }: Payment): bigint {
  const digits = mint === null ? LAMPORT_DECIMALS : (decimals ?? LAMPORT_DECIMALS)
  return rawUnits((fields.buy_amount ?? 0).toFixed(digits), digits, 'the buy')
}

/** Rehearses each open row by itself, starting with the present balance. */
async function rehearseAll(
  session: Session,
  input: CreateFlags,
  { list, payer, rows }: OpenRows & { list: LaunchList },
): Promise<CommandOutcome> {
  const bar = session.ui.progress('Rehearsing')
  const done: { row: PlannedRow['row']; report: PoolRehearsal }[] = []
  const faults: { row: PlannedRow['row']; field: string | undefined; message: string }[] = []
  for (const [i, { row, entry }] of rows.entries()) {
    // A started row has its ticker already, and is paid in part.
    if (entry !== null) continue
    const body = { ...(await bodyOfRow(row)), creator: payer }
    try {
      done.push({ row, report: await patiently(session, () => rehearseBody(session, input, body)) })
    } catch (error) {
      if (!isOfRow(error)) throw error
      faults.push({ row, field: error.param, message: error.message })
    }
    bar(i + 1, rows.length)
  }
  session.ui.clear()
  if (faults.length > 0) throw list.problem(faults)
  return rehearsedListOutcome(done)
}
