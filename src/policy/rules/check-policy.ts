/** Checks a movement against the policy of its wallet, rule by rule. A movement that no rule permits is refused. */
import type { Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import { checkAuthorities, checkClosings, checkDelegates } from './control-rules.ts'
import { checkDestinations } from './destination-rule.ts'
import {
  checkFeeLimit,
  checkLamportsPerDay,
  checkLamportsPerTransaction,
  checkTokensPerDay,
  checkTokensPerTransaction,
} from './limit-rules.ts'
import { checkPrograms, checkSigners } from './signature-rules.ts'
import { checkCertain, checkPaused, checkSimulation } from './simulation-rules.ts'
import { checkSponsorship } from './sponsorship-rule.ts'
import type { PolicyCheck, PolicyCheckOptions, Violation } from './violation.ts'

/** The rules in the order of checking, which is the order of the API's `SIGNING_RULES`. */
const RULES = [
  ['paused', checkPaused],
  ['simulation', checkSimulation],
  ['unstable', checkCertain],
  ['signers', checkSigners],
  ['program', checkPrograms],
  ['authority', checkAuthorities],
  ['delegate', checkDelegates],
  ['close', checkClosings],
  ['sponsorship', checkSponsorship],
  ['fee', checkFeeLimit],
  ['destination', checkDestinations],
  ['lamports_per_transaction', checkLamportsPerTransaction],
  ['tokens_per_transaction', checkTokensPerTransaction],
  ['lamports_per_day', checkLamportsPerDay],
  ['tokens_per_day', checkTokensPerDay],
] as const satisfies readonly (readonly [string, PolicyCheck])[]

export type PolicyRule = (typeof RULES)[number][0]

export interface Refusal extends Violation {
  rule: PolicyRule
}

/** Returns the first violation of the policy, or null. `spent` is the earlier spend as counted by `spendOf`. */
export function checkPolicy(
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
): Refusal | null {
  for (const [rule, check] of RULES) {
    const violation = check(movement, policy, spent, options)
    if (violation === null) continue
    return { rule, message: `Refused by the rule ${rule}: ${violation.message}`, details: violation.details }
  }
  return null
}
