/** What a single rule of the policy is: a check of a movement that answers a violation or null. */
import type { Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'

/** Why a rule refuses a movement. */
export interface Violation {
  message: string
  /** Digit strings and addresses. */
  details: Record<string, unknown>
}

/** `cosigns`: a transaction of another, who pays; nothing of the wallet may leave. */
export type SigningRole = 'pays' | 'cosigns'

export interface PolicyCheckOptions {
  role: SigningRole
  /** Who may sign beside a wallet that pays. */
  cosigners?: readonly string[]
  /** Mints whose amounts no policy bounds: the request has made them, or a program moves them between its own accounts. */
  uncapped?: readonly string[]
}

/** `spent` is what was counted with `spendOf` for earlier movements. */
export type PolicyCheck = (
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
) => Violation | null

/** The way out where no setting of the policy can allow it. */
export const OWN_KEY_ADVICE = 'it is not for the platform wallet to sign: sign it with a key of your own'
