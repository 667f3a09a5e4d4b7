/** Signs locally with the keys that a build returned and with the user's keypair. */
import type { Session } from '../cli/session.ts'
import { failure } from '../ui/problem.ts'
import type { BuiltTransactions } from './built-transactions.ts'
import type { CheckedBuild } from './demand.ts'
import type { SignedTransaction } from './wallet.ts'

type SecretKey = readonly number[]

/** A transaction in base64 that all of its signers have signed. */
export interface CompleteTransaction {
  transaction: string
  signature: string
}

interface OwnKeys {
  keypair?: string | undefined
  secretKeys?: readonly SecretKey[] | undefined
  /** Which of several transactions it is, for the person at a device. */
  place?: string | undefined
  /** Returns it with a fresh blockhash, for a device that can sign after the person has approved. */
  refresh?: (() => Promise<CheckedBuild>) | undefined
  /** Whether `secretKeys` that are not signers of it are skipped. */
  skipsOthers?: boolean
}

/** The most lamports that all transactions of a command together pay as priority fees. */
const MOST_OF_A_RUN = 1_000_000_000n
const paidBy = new WeakMap<Session['wallet'], bigint>()

/** Signs with the keypair and `secretKeys`; others may sign elsewhere. */
export async function signChecked({ wallet }: Session, checked: CheckedBuild, keys: OwnKeys) {
  const { priorityFeeOf } = await import('./built-calls.ts')
  const fee = priorityFeeOf(await wallet.describe(checked))
  // Several rows are signed at a time, so nothing may wait between this reading and its writing.
  const paid = (paidBy.get(wallet) ?? 0n) + fee
  if (paid > MOST_OF_A_RUN) {
    throw failure('the priority fees of this run would add up to more than 1 SOL: nothing more was signed', {
      next: 'lower priority-fee or priority-fee-cap, then run the same command again: it continues',
    })
  }
  paidBy.set(wallet, paid)
  return wallet.sign(checked, keys)
}

/** Signs with the keypair and `secretKeys`. Throws a failure if another signature is still missing. */
export async function signCompletely(
  session: Session,
  checked: CheckedBuild,
  keys: OwnKeys,
): Promise<CompleteTransaction> {
  const { transaction, signature, missing } = await signChecked(session, checked, keys)
  if (signature === null || missing.length > 0) throw failure(`not signed by ${missing.join(', ')}`)
  return { transaction, signature }
}

/** Signs all transactions of a series; each of `secretKeys` signs those that name it as a signer. */
export async function signSeries(
  session: Session,
  series: readonly CheckedBuild[],
  keys: Pick<OwnKeys, 'keypair' | 'secretKeys'>,
): Promise<CompleteTransaction[]> {
  const signed: CompleteTransaction[] = []
  for (const [i, checked] of series.entries())
    signed.push(
      await signCompletely(session, checked, { ...keys, place: placeOf(i, series.length), skipsOthers: true }),
    )
  return signed
}

/** `2 of 3`; undefined for a single one. */
export const placeOf = (i: number, count: number) => (count === 1 ? undefined : `${i + 1} of ${count}`)

/**
 * Signs with the keys that a build returned, without the user's keypair. All keys of a single transaction must be its
 * signers. With several transactions, each key signs those that name it as a signer; empty keys are omitted.
 */
export async function signReturnedKeys(
  { wallet }: Session,
  built: BuiltTransactions,
  keys: readonly SecretKey[] = [],
): Promise<SignedTransaction[]> {
  if ('transaction' in built) return [await wallet.sign(built.transaction, { secretKeys: keys, own: false })]
  const secretKeys = keys.filter(({ length }) => length > 0)
  return Promise.all(
    built.transactions.map((transaction) => wallet.sign(transaction, { secretKeys, own: false, skipsOthers: true })),
  )
}
