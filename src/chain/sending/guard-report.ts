/** What a build says of its guards: those that it has, and why others are missing. */
import type { GuardAnswer } from '../../api/payloads.ts'
import { badRequest } from '../../platform/errors.ts'
import { boundsOf } from '../../solana/guard-bounds.ts'
import type { Guard } from '../../solana/guards.ts'
import { PROGRAMS } from '../../solana/programs.ts'

/** Why a transaction has no guards, or not all of them. */
export type UnguardedReason = NonNullable<GuardAnswer['reason']>

/** What holds when the transaction lands. */
export interface Guarding {
  guards: readonly Guard[]
  /** Null if nothing is missing. */
  reason: UnguardedReason | null
  /** Accounts that have no guard. */
  unguarded: readonly string[]
  /** Bytes that the missing guards need beyond the room of the transaction; null if bytes are not what is missing. */
  missingBytes: number | null
  /** Why its simulation fails, if that is the reason. */
  failure?: string
}

/** Without any guard, although there should be some. */
export const unguarded = (reason: UnguardedReason): Guarding => ({
  guards: [],
  reason,
  unguarded: [],
  missingBytes: null,
})

const REASONS: Readonly<Record<UnguardedReason, (guarding: Guarding) => string>> = {
  off: () => 'guards are off',
  vault: () => 'the vault of a multisig acts: its guards are added when the proposal is executed',
  program_missing: () =>
    `${PROGRAMS.lighthouse.name} (${PROGRAMS.lighthouse.id}), which would hold them, is not on this cluster`,
  program_changed: () =>
    `the build of ${PROGRAMS.lighthouse.name} on this cluster does not hold what guards say (\`svc programs list\`)`,
  not_simulated: ({ failure }) =>
    failure === undefined
      ? 'the transaction cannot be simulated yet, so nobody knows what it takes'
      : `its simulation fails, so nobody knows what it takes: ${failure}`,
  no_room: ({ missingBytes }) =>
    missingBytes !== null
      ? `they need ${missingBytes} bytes more than the transaction has room for: send \`tx_version\` 1, or do less in one transaction`
      : 'the transaction names too many accounts for them: do less in one transaction',
  no_lamports: () => 'the fee payer has too little SOL left to lend them the rent of their memory',
  fails: () => 'it fails with them: the fee payer lacks their rent meanwhile, or there is too much in one transaction',
}

/** Why guards are missing, as a clause, and its figures; undefined if none is. */
export function unguardedOf(guarding: Guarding) {
  const { reason, missingBytes, unguarded: accounts } = guarding
  if (reason === null) return undefined
  const bytes = missingBytes === null ? {} : { missing_bytes: missingBytes }
  return {
    text: REASONS[reason](guarding),
    details: { reason, ...bytes, ...(accounts.length === 0 ? {} : { accounts }) },
  }
}

/** Throws bad_request unless every guard is there. */
export function requireGuarded(guarding: Guarding): void {
  const missing = unguardedOf(guarding)
  if (missing === undefined) return
  const { text, details } = missing
  throw badRequest(`guard: not everything can be guarded, because ${text}`, { param: 'guard', details })
}

/** The field `guard` of an answer. */
export function guardAnswer(guarding: Guarding): GuardAnswer {
  const { guards, reason, unguarded: accounts, missingBytes } = guarding
  return {
    state: guards.length === 0 ? 'none' : reason === null ? 'whole' : 'part',
    reason,
    text: unguardedOf(guarding)?.text ?? null,
    missing_bytes: missingBytes,
    ...boundsOf(guards),
    unguarded: [...accounts],
  }
}
