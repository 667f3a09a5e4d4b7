/** Rules that only a policy with approvals has: which operations always need them, and at which hours everything does. */
import { isWithin } from '../approvals.ts'
import type { Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import type { PolicyCheckOptions, Violation } from './violation.ts'

export function checkOperation(
  _: Movement,
  { approvals }: SigningPolicy,
  __: Spent,
  { act }: PolicyCheckOptions,
): Violation | null {
  if (act === undefined || !approvals?.rules.operations.includes(act.operation)) return null
  return { message: `${act.operation} always needs approvals`, details: { operation: act.operation } }
}

export function checkHours(
  _: Movement,
  { approvals }: SigningPolicy,
  __: Spent,
  { act }: PolicyCheckOptions,
): Violation | null {
  const hours = approvals?.rules.hours ?? null
  if (act === undefined || hours === null || isWithin(hours, act.at)) return null
  const { days, from, to, timezone } = hours
  return {
    message: `it is outside the hours ${from} to ${to} (${timezone}) on ${days.join(', ')}`,
    details: { days, from, to, timezone },
  }
}
