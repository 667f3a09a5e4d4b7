/** A rule of the policy: a check of a movement that returns a violation or null. */
import type { Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'

/** Why a rule refuses a movement. */
export interface Violation {
  message: string
  /** Figures as digit strings, and addresses. */
  details: Record<string, unknown>
}

/** With `cosigns`, another account pays for the transaction and nothing of the wallet may leave. */
export type SigningRole = 'pays' | 'cosigns'

export interface PolicyCheckOptions {
  role: SigningRole
  /** Addresses that may sign beside a wallet that pays. */
  cosigners?: readonly string[]
  /** Mints without limits: the request creates them, or a program moves them between its own accounts. */
  uncapped?: readonly string[]
}

/** `spent` is the spend of earlier movements as counted by `spendOf`. */
export type PolicyCheck = (
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
) => Violation | null

/** The remedy when no setting of the policy can permit the transaction. */
export const OWN_KEY_ADVICE = 'it is not for the platform wallet to sign: sign it with a key of your own'
