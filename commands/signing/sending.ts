/** Sends the signed transactions of one run: one after another, each depending on the one before it, or as a bundle. */
import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { type Session, sessionWith } from '../cli/session.ts'
import { failure } from '../ui/problem.ts'
import { type BuiltTransactions, trackedField } from './built-transactions.ts'
import type { Wait } from './flags.ts'
import { waitForTransaction } from './following.ts'
import { submitSigned } from './requests.ts'
import { transactionFailure } from './run-failures.ts'
import type { CompleteTransaction } from './signatures.ts'

interface SendOptions {
  built: Pick<BuiltTransactions, 'tracked_resource'>
  wait?: Wait | undefined
  /** Whether all are executed in one slot, or none. */
  bundle: boolean
  /** What the user can do if only some are known to be confirmed. */
  recovery: string
  /** Further fields of each submission. */
  options?: { skip_preflight?: boolean; max_retries?: number }
}

/** What a run has sent. */
export interface SentRun {
  signatures: readonly string[]
  /** Null if the command did not wait. */
  confirmed: Transaction[] | null
}

/** Returns the transactions once they have reached `wait`; null if the command does not wait. */
export const sendAll = (
  session: Session,
  signed: readonly CompleteTransaction[],
  options: SendOptions,
): Promise<Transaction[] | null> =>
  options.bundle
    ? sendAsBundle(session, signed, options)
    : sendInOrder(
        session,
        signed.map((one) => async () => one),
        options,
      )

/** Whether the local settings name a relay. Those of a remote daemon are unknown, so `--bundle` is needed there. */
export async function hasRelay({ settings }: Session): Promise<boolean> {
  const rows = await settings.list()
  const isSet = (setting: string) => (rows.find(({ name }) => name === setting)?.value ?? null) !== null
  return isSet('relay-url') && !isSet('api')
}

async function sendAsBundle(
  session: Session,
  signed: readonly CompleteTransaction[],
  { built, wait = 'confirmed', recovery }: SendOptions,
): Promise<Transaction[] | null> {
  const signatures = signed.map(({ signature }) => signature)
  await submitSigned(session, signatures[0] ?? '', {
    bundle: true,
    signed_transactions: signed.map(({ transaction }) => transaction),
    ...trackedField(built),
  })
  if (wait === 'none') return null
  const confirmed: Transaction[] = []
  for (const [i, { signature, transaction }] of signed.entries()) {
    const one = await waitForTransaction(session, signature, wait)
    if (one.lifecycle === 'failed') {
      const { message } = await transactionFailure(session, transaction, one)
      throw failure(`transaction ${i + 1} of the bundle of ${signed.length}: ${message}`, {
        next: recovery,
        details: { signatures, err: one.err },
      })
    }
    confirmed.push(one)
  }
  return confirmed
}

/**
 * Signs and sends one after another, each once the one before it is confirmed. The last one carries the tracked
 * resource, which exists once all are confirmed.
 */
export async function sendInOrder(
  session: Session,
  steps: readonly (() => Promise<CompleteTransaction>)[],
  { built, wait = 'confirmed', recovery, options = {} }: SendOptions,
): Promise<Transaction[] | null> {
  const confirmed: Transaction[] = []
  for (const [i, sign] of steps.entries()) {
    const isLast = i === steps.length - 1
    const place = `transaction ${i + 1} of ${steps.length}`
    let signed: CompleteTransaction | undefined
    try {
      signed = await sign()
      const { signature, transaction } = signed
      const warning = isLast ? session : withInterruptNote(session, `${place}: ${recovery}`)
      await submitSigned(warning, signature, { transaction, ...options, ...(isLast ? trackedField(built) : {}) })
      if (isLast && wait === 'none') return null
      const one = await waitForTransaction(warning, signature, isLast && wait !== 'none' ? wait : 'confirmed')
      if (one.lifecycle === 'failed') throw await transactionFailure(session, transaction, one)
      confirmed.push(one)
    } catch (error) {
      if (!(error instanceof ApiError) || steps.length === 1) throw error
      const before = confirmed.map((one) => one.signature)
      throw stoppedAt(error, place, { signature: signed?.signature, before, recovery })
    }
  }
  return confirmed
}

/** A session whose note for Ctrl-C adds `more`, because an interruption leaves the rest unsent. */
const withInterruptNote = (session: Session, more: string): Session =>
  sessionWith(session, {
    setInterruptNote: (text) => session.setInterruptNote(text === null ? null : `${text}\n${more}`),
  })

/** The failure of one transaction, which may not be signed yet. It lists those confirmed before it, which are paid and cannot be undone. */
function stoppedAt(
  error: ApiError,
  place: string,
  { signature, before, recovery }: { signature: string | undefined; before: readonly string[]; recovery: string },
) {
  const past = before.length === 0 ? 'none before it' : `landed before it: ${before.join(', ')}`
  return failure(`${place}: ${error.message} (${past})`, {
    next: recovery,
    details: { ...error.details, landed: before, ...(signature === undefined ? {} : { signature }) },
    cause: error,
  })
}
