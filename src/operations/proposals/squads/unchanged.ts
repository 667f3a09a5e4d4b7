/** Compares what an execution would do now with what it was going to do when it was proposed. */
import { explainTransactionError } from '../../../chain/errors/index.ts'
import { type RehearsedExecution, rehearseExecution } from '../../../chain/programs/squads/index.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { storeFirstForecast } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { programsDirOf } from './creation.ts'
import { executedOf } from './pinned.ts'
import { createdIn, forecastJson, otherControl, otherLosses, plannedChanges, worseFor } from './planned-changes.ts'
import { parseApprover } from './stored-plan.ts'

const CONTROL_UNKNOWN =
  'An older version stored this proposal without owners and authorities, so only balances are compared with what was proposed'

/** Operations whose own terms bound what the vault gets, because prices move. */
const BOUNDED: ReadonlySet<string> = new Set(['POST /v2/pools/{address}/swaps'])

interface ExecutionNow {
  forecast: RehearsedExecution
  /** What the vault would lose more, or get less, and what else would control an account, in sentences. */
  changes: string[]
  /** What cannot be compared; null if everything can. */
  notCompared: string | null
}

export async function executionNow(context: Context, row: Row<'proposals'>): Promise<ExecutionNow> {
  const forecast = await rehearseExecution(context.chain, programsDirOf(context), executedOf(row))
  const planned = plannedChanges(row.forecast_json)
  if (forecast.err !== null || planned === null) return { forecast, changes: [], notCompared: null }
  const { vault } = parseApprover(row)
  const { balance_changes, control_changes } = planned
  return {
    forecast,
    changes: [
      ...(BOUNDED.has(row.operation)
        ? []
        : [worseFor, otherLosses].flatMap((compare) => compare(vault, balance_changes, forecast.balance_changes))),
      ...(control_changes === null
        ? []
        : otherControl(control_changes, forecast.control_changes, createdIn({ balance_changes }))),
    ],
    notCompared: control_changes === null ? CONTROL_UNKNOWN : null,
  }
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
  { id }: Row<'proposals'>,
  forecast: RehearsedExecution,
): Promise<void> {
  if (forecast.err !== null || dryRun) return
  await store.write((tx) => storeFirstForecast(tx, id, forecastJson(forecast)))
}

/**
 * Throws bad_request, with the way out, if the execution would fail, or the vault would be worse off than was approved, or
 * another would control an account. If it could not be tried before it was approved, it is tried now, and has to be
 * executed again.
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
  if (row.forecast_json === null) {
    await keepFirst(context, row, forecast)
    throw badRequest(
      `Nobody has seen what the proposal ${row.id} changes, because it could not be tried before it was approved. Read it (svc proposals show ${row.id}), then execute it again`,
      {
        details: {
          reason: 'not_seen',
          balance_changes: forecast.balance_changes,
          control_changes: forecast.control_changes,
        },
      },
    )
  }
  if (changes.length > 0) {
    throw badRequest(`What was approved has changed: ${changes.join('; ')}. ${wayOut}`, {
      details: { reason: 'changed', changes },
    })
  }
}
