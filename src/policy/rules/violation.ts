/** A rule of the policy: a check of a movement that returns a violation or null. */
import type { Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'

/** Why a rule refuses a movement. */
export interface Violation {
  message: string
  /** Figures as digit strings, and addresses. */
  details: Record<string, unknown>
}

/** With `cosigns`, another account pays for the transaction, and nothing may leave the wallet. */
export type SigningRole = 'pays' | 'cosigns'

/** The only payment that is permitted for another wallet's claim. */
export interface SponsoredOutflow {
  /** Address of the airdrop's distributor, which pays the tokens. */
  distributor: string
  claimer: string
  mint: string
  /** Lamports that the claimer gets. All of them become rent of its claim status. */
  lent: bigint
  /** Address of the claim status. */
  status: string
  /** Address of the claimer's token account, and the lamports for its rent (0 if it is already open). */
  account: string
  accountRent: bigint
}

export interface PolicyCheckOptions {
  role: SigningRole
  /** Addresses that may sign in addition to a wallet that pays. */
  cosigners?: readonly string[]
  /** Mints without limits: the request creates them, or a program moves them between its own accounts. */
  uncapped?: readonly string[]
  /** Set if the wallet pays for the claim of another wallet. */
  sponsored?: SponsoredOutflow | undefined
  /** Whether it is checked again once it is built with its guards. */
  isForecast?: boolean
  /** Why the builder left guards out, and its figures. */
  unguarded?: { text: string; details: Record<string, unknown> } | undefined
  /** What the first transaction of a request is signed for, and when, in Unix milliseconds. */
  act?: { operation: string; at: number } | undefined
}

/** `spent` is the spend of earlier movements as counted by `spendOf`. */
export type PolicyCheck = (
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
) => Violation | null

/** The remedy when no setting of the policy can permit the transaction. */
export const OWN_KEY_ADVICE = 'the platform wallet does not sign it: sign it with your own key'
