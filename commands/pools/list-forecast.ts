/** What a list of launches would do, before anything is sent: refusals by their places, the cost, and rehearsals. */
import type { PoolRehearsal } from '../../src/api/pool-rehearsals.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { requireDemanded } from '../signing/demand.ts'
import { txVersionField } from '../signing/flags.ts'
import { addFunds, type Funds, forecastFunds, type Payment } from '../signing/funds.ts'
import { failure } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { launchAnswer } from './launch-demand.ts'
import type { CreateFlags } from './launch-flags.ts'
import { findUnsent, rowDemand } from './launch-row.ts'
import { type PlannedRow, rehearsedListOutcome } from './list-outcome.ts'
import { bodyOfRow, type LaunchList, type LaunchRow } from './list-rows.ts'
import { rehearseBody } from './rehearse.ts'

interface OpenRows {
  payer: string
  rows: readonly PlannedRow[]
}

/** The transactions of each row that is not started yet, as they would be. */
type BuiltRows = ReadonlyMap<LaunchRow, readonly string[]>

/** Builds every row without leaving anything behind. Throws a usage problem that names the place of every refusal. */
export async function requireBuildable(
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
    const asked = { ...body, creator: payer, ...txVersionField(input), dry_run: true as const }
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
export async function rehearseAll(
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
