/** The bounds of guards as answers show them: the least change of each account, negative for what may leave. */
import type { Guard } from './guards.ts'

export interface GuardBounds {
  /** Lamports without the fee. */
  wallets: { address: string; lamports: string }[]
  /** Raw units; null for an account that the transaction opens. */
  token_accounts: { address: string; amount: string | null }[]
}

export const boundsOf = (guards: readonly Guard[]): GuardBounds => ({
  wallets: guards.flatMap(({ kind, address, change }) =>
    kind === 'wallet' ? { address, lamports: String(change) } : [],
  ),
  token_accounts: guards.flatMap(({ kind, address, change }) =>
    kind === 'token' ? { address, amount: change === null ? null : String(change) } : [],
  ),
})
