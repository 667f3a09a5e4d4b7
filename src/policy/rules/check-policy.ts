/** Checks a movement against the policy of its wallet, rule by rule. A movement that no rule permits is refused. */
import { isWaiting, withApprovals } from '../approvals.ts'
import type { Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import { checkHours, checkOperation } from './approval-rules.ts'
import { checkAuthorities, checkClosings, checkDelegates, checkPowers } from './control-rules.ts'
import { checkDestinations } from './destination-rule.ts'
import {
  checkFeeLimit,
  checkLamportsPerDay,
  checkLamportsPerTransaction,
  checkTokensPerDay,
  checkTokensPerTransaction,
} from './limit-rules.ts'
import { checkPrograms, checkSigners } from './signature-rules.ts'
import { checkCertain, checkSimulation } from './simulation-rules.ts'
import { checkSponsorship } from './sponsorship-rule.ts'
import type { PolicyCheck, PolicyCheckOptions, Violation } from './violation.ts'

/**
 * The rules in the order of checking, which is the order of the API's `SIGNING_RULES`. `paused` comes before them and
 * is checked when the policy is read.
 */
const RULES = [
  ['simulation', checkSimulation],
  ['unstable', checkCertain],
  ['signers', checkSigners],
  ['program', checkPrograms],
  ['authority', checkAuthorities],
  ['delegate', checkDelegates],
  ['power', checkPowers],
  ['close', checkClosings],
  ['sponsorship', checkSponsorship],
  ['fee', checkFeeLimit],
  ['destination', checkDestinations],
  ['lamports_per_transaction', checkLamportsPerTransaction],
  ['tokens_per_transaction', checkTokensPerTransaction],
  ['lamports_per_day', checkLamportsPerDay],
  ['tokens_per_day', checkTokensPerDay],
  ['operation', checkOperation],
  ['hours', checkHours],
] as const satisfies readonly (readonly [string, PolicyCheck])[]

export type PolicyRule = 'paused' | (typeof RULES)[number][0]

export interface Refusal extends Violation {
  rule: PolicyRule
}

/** What the policy says about a movement, and why. With `waits`, approvals permit all that `refusals` names. */
export type PolicyVerdict =
  | { kind: 'permits' }
  | { kind: 'refuses' | 'waits'; refusals: readonly [Refusal, ...Refusal[]] }

/**
 * Returns the verdict of the policy. `spent` is the earlier spend as counted by `spendOf`. Nothing waits that the
 * wallet only cosigns, or pays for another wallet's claim.
 */
export function judgeMovement(
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
): PolicyVerdict {
  const [first, ...more] = refusalsOf(movement, policy, spent, options)
  if (first === undefined) return { kind: 'permits' }
  const { approvals } = policy
  if (approvals === null || options.role === 'cosigns' || options.sponsored !== undefined) {
    return { kind: 'refuses', refusals: [first] }
  }
  for (const refusal of refusalsOf(movement, withApprovals(policy, approvals), spent, options)) {
    if (!isWaiting(refusal.rule, approvals, options.act?.operation)) return { kind: 'refuses', refusals: [refusal] }
  }
  return { kind: 'waits', refusals: [first, ...more] }
}

/** Returns the first violation of the policy, or null. */
export function checkPolicy(
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
): Refusal | null {
  const [first] = refusalsOf(movement, policy, spent, options)
  return first ?? null
}

/** Yields the violations of the policy in the order of the rules. */
function* refusalsOf(
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
): Generator<Refusal, void> {
  for (const [rule, check] of RULES) {
    const violation = check(movement, policy, spent, options)
    if (violation === null) continue
    yield { rule, message: `Refused by the rule ${rule}: ${violation.message}`, details: violation.details }
  }
}
