/** Puts guards around a built transaction: what its simulation takes from the wallets is all that the chain lets it take. */
import { type Slack, withRoom } from '../../policy/movement/guards.ts'
import { failureText } from '../../policy/movement/movement.ts'
import { TooMuchForVersion1 } from '../../solana/compiling.ts'
import { type Guard, memoryBytes, tokenGuard, withGuards } from '../../solana/guards.ts'
import { decodeWireTransaction, keyAt, MAX_ACCOUNT_LOCKS, maxBytesOf } from '../../solana/messages.ts'
import type { Chain } from '../connection.ts'
import { readRentRate } from '../reads/rpc-reads.ts'
import { type Guarding, requireGuarded, type UnguardedReason, unguarded } from './guard-report.ts'
import { readMovements } from './movements.ts'
import type { Envelope } from './unsigned.ts'

const NONE_NEEDED: Guarding = { guards: [], reason: null, unguarded: [], missingBytes: null }

/**
 * Simulates the transaction and adds the guards that its wallets need: as many as fit, the wallets first. Returns it
 * unchanged, with the reason, if it cannot have any. The cluster must have Lighthouse.
 */
export async function guardedTransaction(
  chain: Chain,
  transaction: Uint8Array,
  wallets: readonly string[],
  slack: readonly Slack[] = [],
): Promise<{ transaction: Uint8Array; guarding: Guarding }> {
  const without = (reason: UnguardedReason) => ({ transaction, guarding: unguarded(reason) })
  const decoded = decodeWireTransaction(transaction)
  const shown = await readMovements(chain, decoded, wallets).catch(() => null)
  if (shown === null) return without('not_simulated')
  const failure = shown.movements.find(({ err }) => err !== null)?.err
  if (failure) return { transaction, guarding: { ...unguarded('not_simulated'), failure: failureText(failure) } }
  const { loaded, lamportsAfter } = shown
  const needed = withRoom(inOrder(shown.movements.flatMap(({ guards }) => guards.needed)), slack)
  if (needed.length === 0) return { transaction, guarding: NONE_NEEDED }
  const lent = (await readRentRate(chain))(memoryBytes(needed))
  // The payer lends the rent of the memory until the end of the transaction.
  if (lamportsAfter(keyAt(decoded.message, 0)) < 2n * lent) return without('no_lamports')
  const most = maxBytesOf(transaction)
  const sizeOf = (guards: readonly Guard[]) => sizeWith(transaction, guards, loaded)
  const fitting = needed.findLastIndex((_, last) => sizeOf(needed.slice(0, last + 1)) <= most) + 1
  const guards = needed.slice(0, fitting)
  const missing = needed.slice(fitting)
  return {
    transaction: withGuards(transaction, guards, loaded),
    guarding: {
      guards,
      reason: missing.length === 0 ? null : 'no_room',
      unguarded: missing.map(({ address }) => address),
      missingBytes: missing.length === 0 ? null : bytesOrNull(sizeOf(needed) - most),
    },
  }
}

/** Each wallet before all token accounts, so that what does not fit is a token account. */
const inOrder = (guards: readonly Guard[]): Guard[] => [
  ...guards.filter(({ kind }) => kind === 'wallet'),
  ...guards.filter(({ kind }) => kind === 'token'),
]

/** Throws bad_request unless the transaction, which cannot be simulated yet, will have room for these guards. */
export function requireRoom(transaction: Uint8Array, guards: readonly Guard[]): void {
  const missingBytes = sizeWith(transaction, guards, undefined) - maxBytesOf(transaction)
  if (missingBytes > 0) requireGuarded({ ...unguarded('no_room'), missingBytes: bytesOrNull(missingBytes) })
}

/** Null if there is room in bytes but not in accounts. */
const bytesOrNull = (missing: number): number | null => (Number.isFinite(missing) ? missing : null)

/** Whether guards of the payer and of these associated accounts of it fit too, if the transaction gets any. */
export function hasRoomForGuards(
  { payer, isGuarded = false }: Pick<Envelope, 'payer' | 'isGuarded'>,
  transaction: Uint8Array,
  accounts: readonly string[],
): boolean {
  if (!isGuarded) return true
  const guards: Guard[] = [
    { kind: 'wallet', address: payer, change: 0n },
    ...accounts.map((address) => tokenGuard(address)),
  ]
  return sizeWith(transaction, guards, undefined) <= maxBytesOf(transaction)
}

/** Instructions that these guards execute: three each, the closing of their memory, and three calls that open it. */
export const traceOfGuards = (
  { isGuarded = false }: Pick<Envelope, 'isGuarded'>,
  accounts: readonly string[],
): number => (isGuarded ? 3 * (1 + accounts.length) + 4 : 0)

/** Accounts that guards add at most: their memory, Lighthouse and the System program. */
const ADDED_LOCKS = 3

/** Infinity if there is room in bytes but not in accounts. */
function sizeWith(transaction: Uint8Array, guards: readonly Guard[], loaded: Parameters<typeof withGuards>[2]): number {
  try {
    const guarded = withGuards(transaction, guards, loaded)
    const { keys } = decodeWireTransaction(transaction).message
    const locks = keys.length + (loaded?.writable.length ?? 0) + (loaded?.readonly.length ?? 0) + ADDED_LOCKS
    return locks > MAX_ACCOUNT_LOCKS ? Number.POSITIVE_INFINITY : guarded.length
  } catch (error) {
    if (error instanceof TooMuchForVersion1) return Number.POSITIVE_INFINITY
    throw error
  }
}
