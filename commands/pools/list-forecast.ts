/** What a list of launches would do, before anything is sent: refusals by their places, the cost, and rehearsals. */
import type { PoolRehearsal } from '../../src/api/pool-rehearsals.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { decimalOf, LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { requireDemanded } from '../signing/demand.ts'
import { txVersionField } from '../signing/flags.ts'
import { failure } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { launchAnswer } from './launch-body.ts'
import type { CreateFlags } from './launch-flags.ts'
import { rowDemand } from './launch-row.ts'
import { type PlannedRow, rehearsedListOutcome } from './list-outcome.ts'
import { bodyOfRow, type LaunchList, type LaunchRow } from './list-rows.ts'
import { rehearseBody } from './rehearse.ts'

export interface OpenRows {
  payer: string
  rows: readonly PlannedRow[]
}

/** Builds every row without leaving anything behind. Throws a usage problem that names the place of every refusal. */
export async function requireBuildable(
  session: Session,
  input: CreateFlags,
  { list, payer, rows }: OpenRows & { list: LaunchList },
) {
  const faults: { row: PlannedRow['row']; field: string | undefined; message: string }[] = []
  const bar = session.ui.progress('Checking')
  const fresh = rows.filter(({ entry }) => entry === null)
  for (const [i, { row }] of fresh.entries()) {
    const body = await bodyOfRow(row)
    const asked = { ...body, creator: payer, ...txVersionField(input), dry_run: true as const }
    const built = patiently(session, () => session.client.pools.create(asked)).then(async ({ data }) =>
      requireDemanded(
        session,
        data.transactions,
        await rowDemand(session, { payer, flags: input }, row, launchAnswer(data)),
      ),
    )
    await built.catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error
      faults.push({ row, field: error.param, message: error.message })
    })
    bar(i + 1, fresh.length)
  }
  session.ui.clear()
  if (faults.length > 0) throw list.problem(faults)
}

export interface ListCost {
  text: string
  /** What the first buys spend, of each quote. */
  buys: readonly string[]
  /** Null if it could not be rehearsed. */
  lamports: bigint | null
  held: bigint
}

/**
 * Rows that differ only in their buys cost the same fees and rent, so one of them is rehearsed. The list has the first
 * buys.
 */
export async function costOf(session: Session, input: CreateFlags, { payer, rows }: OpenRows): Promise<ListCost> {
  const fresh = rows.flatMap(({ row, entry }) => (entry === null ? [row] : []))
  const held = await session.client.accounts.get({ address: payer }).then(
    ({ data }) => BigInt(data.lamports),
    () => 0n,
  )
  if (fresh.length === 0) {
    return { text: 'mostly paid already: all launches were started', buys: [], lamports: 0n, held }
  }
  const each: bigint[] = []
  const buys = new Map([[WRAPPED_SOL, 0n]])
  for (const [first, ...others] of likeRows(fresh)) {
    const body = { ...(await bodyOfRow(first)), creator: payer }
    const rehearsal = await patiently(session, () => rehearseBody(session, input, body)).catch(() => null)
    if (rehearsal === null) {
      const text = 'not known: a launch could not be rehearsed (`svc localnet pull`)'
      return { text, buys: [], lamports: null, held }
    }
    requireLaunched(rehearsal, first, input)
    const { quote, cost } = rehearsal
    const group = [first, ...others]
    const own = BigInt(cost.total) - (quote.mint === WRAPPED_SOL ? buyOf(first) : 0n)
    each.push(...group.map(() => own))
    buys.set(
      quote.mint,
      group.reduce((sum, row) => sum + buyOf(row), buys.get(quote.mint) ?? 0n),
    )
  }
  return { ...costText(each, buys), held }
}

/** Rows of one type, preset and liquidity, with or without a first buy: the buy needs one more token account. */
function likeRows(rows: readonly LaunchRow[]): [LaunchRow, ...LaunchRow[]][] {
  const groups = new Map<string, [LaunchRow, ...LaunchRow[]]>()
  for (const row of rows) {
    const { type = 'dbc', preset, lock_liquidity = true } = row.fields
    const key = JSON.stringify([type, preset ?? null, lock_liquidity, buyOf(row) > 0n])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return [...groups.values()]
}

function requireLaunched({ steps }: PoolRehearsal, { fields }: LaunchRow, { from }: CreateFlags): void {
  const stopped = steps.find(({ stage, status }) => stage === 'launch' && status === 'failed')
  if (stopped === undefined) return
  throw failure(`${fields.symbol} would fail, so nothing was sent: ${printable(stopped.reason ?? '')}`, {
    next: stopped.hint ?? `\`svc pools create --from ${from} --rehearse\` shows each`,
  })
}

/** `each` has the lamports of every launch without its buy, `buys` the billionths of what the buys spend, by mint. */
function costText(each: readonly bigint[], buys: ReadonlyMap<string, bigint>) {
  const ordered = each.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  const [least = 0n, most = 0n] = [ordered[0], ordered.at(-1)]
  const ofBuys = buys.get(WRAPPED_SOL) ?? 0n
  const lamports = each.reduce((sum, own) => sum + own, ofBuys)
  const range = least === most ? solOf(least) : `${solOf(least)} to ${solOf(most)}`
  const spent = [...buys].filter(([, sum]) => sum > 0n)
  return {
    text: `${range} SOL a launch, about ${solOf(lamports)} SOL in all`,
    buys: spent.map(
      ([mint, sum]) => `${decimalOf(sum, LAMPORT_DECIMALS)} ${mint === WRAPPED_SOL ? 'SOL' : `of ${mint}`}`,
    ),
    lamports,
  }
}

/**
 * The first buy in billionths of its quote (lamports of SOL), because an amount has at most nine decimals.
 */
const buyOf = ({ fields }: LaunchRow) =>
  rawUnits((fields.buy_amount ?? 0).toFixed(LAMPORT_DECIMALS), LAMPORT_DECIMALS, 'the buy')

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
      if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error
      faults.push({ row, field: error.param, message: error.message })
    }
    bar(i + 1, rows.length)
  }
  session.ui.clear()
  if (faults.length > 0) throw list.problem(faults)
  return rehearsedListOutcome(done)
}
