/** What the execution of a proposal would change now, as the API's simulation shows it. */
import type { ProposalForecast } from '../../src/api/proposals.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { changedLines } from '../signing/content.ts'
import { controlLines, previewLine, rentLine } from '../signing/preview.ts'
import { printable } from '../ui/render.ts'

/** What its execution would change now; null if the API cannot find out. */
export async function forecastOrNull(
  { client }: Pick<Session, 'client'>,
  id: string,
): Promise<ProposalForecast | null> {
  try {
    return (await client.proposals.forecast({ id })).data
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** What its execution would change now: balances, owners and authorities. `payer` says who pays the fee. */
export function forecastLines(forecast: ProposalForecast | null, payer: string): string[] {
  if (forecast === null) return []
  const { failed, balance_changes, control_changes, changes, not_compared } = forecast
  const differences = [
    ...(changes.length === 0 ? [] : ['it is refused, because it would now do something else than was proposed']),
    ...changes.map((change) => `  ${change}`),
    ...(not_compared === undefined ? [] : [printable(not_compared)]),
  ]
  if (failed !== null) {
    return [
      'executed now, it would fail',
      `  ${JSON.stringify(failed.err)}`,
      ...failed.logs.slice(-4).map((line) => `  ${line}`),
      ...differences,
    ]
  }
  return [
    'executed now, it would change',
    ...changedLines(balance_changes),
    ...controlLines(control_changes),
    rentLine({ balance_changes, rent: null }).replace('not known: ', ''),
    previewLine('fee', payer),
    ...differences,
  ]
}
