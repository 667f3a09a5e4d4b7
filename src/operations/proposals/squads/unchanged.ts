/** Compares what an execution would do now with what it was going to do when it was proposed. */
import type { Simulation } from '../../../api/index.ts'
import { explainTransactionError } from '../../../chain/errors/index.ts'
import { type ExecutionForecast, simulateExecution } from '../../../chain/programs/squads/index.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { decimalOf, solText } from '../../../solana/amounts.ts'
import { storeFirstForecast } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { fromJsonOrNull } from '../../api-records.ts'
import { programsDirOf } from './creation.ts'
import { executedOf } from './pinned.ts'
import { approverOf } from './stored-plan.ts'

type BalanceChange = Simulation['balance_changes'][number]

/** Operations whose own terms bound what the vault gets, because prices move. */
const BOUNDED: ReadonlySet<string> = new Set(['POST /v2/pools/{address}/swaps'])

interface ExecutionNow {
  forecast: ExecutionForecast
  /** What the vault would lose more, or get less, in sentences. */
  changes: string[]
}

export async function executionNow(context: Context, row: Row<'proposals'>): Promise<ExecutionNow> {
  const forecast = await simulateExecution(context.chain, programsDirOf(context), executedOf(row))
  const planned = fromJsonOrNull<BalanceChange[]>(row.forecast_json)
  const isCompared = forecast.err === null && planned !== null && !BOUNDED.has(row.operation)
  const { vault } = approverOf(row)
  return { forecast, changes: isCompared ? worseFor(vault, planned, forecast.balance_changes) : [] }
}

/**
 * Finds what the execution would change, for a proposal that could not be tried when it was made: of several, a later one
 * needs what an earlier one makes. Nothing is stored if it would still fail.
 */
export async function forecastApproved(context: Context, row: Row<'proposals'>): Promise<void> {
  if (row.forecast_json === null) await keepFirst(context, row, (await executionNow(context, row)).forecast)
}

async function keepFirst(
  { store, dryRun }: Context,
  { id, operation }: Row<'proposals'>,
  { err, balance_changes }: ExecutionForecast,
): Promise<void> {
  if (err !== null || dryRun || BOUNDED.has(operation)) return
  await store.write((tx) => storeFirstForecast(tx, id, JSON.stringify(balance_changes)))
}

/**
 * Throws bad_request, with the way out, if the execution would fail, or the vault would be worse off than was approved. If
 * it could not be tried before it was approved, it is tried now, and has to be executed again.
 */
export async function requireUnchanged(context: Context, row: Row<'proposals'>): Promise<void> {
  const { forecast, changes } = await executionNow(context, row)
  const wayOut = `Cancel it (svc proposals cancel ${row.id}), then propose it anew (svc proposals renew ${row.id})`
  if (forecast.err !== null) {
    const { logs } = forecast
    const { message } = explainTransactionError(forecast.err, { logs })
    throw badRequest(`The execution would fail now: ${message}. ${wayOut}`, {
      details: { reason: 'execution_fails', err: forecast.err, logs: logs.slice(-20) },
    })
  }
  if (row.forecast_json === null && !BOUNDED.has(row.operation)) {
    await keepFirst(context, row, forecast)
    throw badRequest(
      `Nobody has seen what the proposal ${row.id} changes, because it could not be tried before it was approved. Read it (svc proposals show ${row.id}), then execute it again`,
      { details: { reason: 'not_seen', balance_changes: forecast.balance_changes } },
    )
  }
  if (changes.length > 0) {
    throw badRequest(`What was approved has changed: ${changes.join('; ')}. ${wayOut}`, {
      details: { reason: 'changed', changes },
    })
  }
}

/** Returns a sentence for each balance of the vault that would be lower than planned. */
function worseFor(vault: string, planned: readonly BalanceChange[], now: readonly BalanceChange[]): string[] {
  const before = sumsOf(vault, planned)
  const after = sumsOf(vault, now)
  const faults: string[] = []
  for (const [mint, { amount: wanted, decimals }] of before) {
    const amount = after.get(mint)?.amount ?? 0n
    if (amount >= wanted) continue
    faults.push(`the vault would ${said(amount, mint, decimals)} instead of ${said(wanted, mint, decimals)}`)
  }
  for (const [mint, { amount, decimals }] of after) {
    if (!before.has(mint) && amount < 0n)
      faults.push(`the vault would ${said(amount, mint, decimals)}, which was not planned`)
  }
  return faults
}

interface Sum {
  amount: bigint
  decimals: number | null
}

/** What the vault gains and loses by mint; SOL, with the rent of its own accounts, has none. */
function sumsOf(vault: string, changes: readonly BalanceChange[]): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const { address, mint, owner, change, decimals } of changes) {
    if (mint === null ? address !== vault : owner !== vault) continue
    const key = mint ?? ''
    const sum = sums.get(key) ?? { amount: 0n, decimals }
    sums.set(key, { ...sum, amount: sum.amount + BigInt(change) })
  }
  return sums
}

function said(amount: bigint, mint: string, decimals: number | null): string {
  const size = amount < 0n ? -amount : amount
  const shown = mint === '' ? solText(size) : `${decimalOf(size, decimals ?? 0)} of ${mint}`
  return `${amount < 0n ? 'lose' : 'get'} ${shown}`
}
