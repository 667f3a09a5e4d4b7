/** Waits for a transaction by polling the API until it has reached the requested lifecycle. */
import type { Transaction } from '../../src/api/transactions.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import type { Session } from '../cli/session.ts'
import { failure, isTransient, Problem } from '../ui/problem.ts'
import type { Wait } from './flags.ts'

/** Milliseconds to wait; the API reports a transaction that can no longer be confirmed as `failed` before that. */
const FOLLOW_TIMEOUT_MS = 180_000
/** Milliseconds between two requests: they double at first; then after `EAGER_MS`, and when the rate limit is used up. */
const FIRST_PAUSE_MS = 100
const EAGER_PAUSE_MS = 400
const LATER_PAUSE_MS = 2_000
const EAGER_MS = 10_000
export const RATE_LIMIT_PAUSE_MS = 5_000

/** Milliseconds for a proof to arrive about a transaction that was not seen. */
const UNPROVEN_WAIT_MS = 30_000

const REACHED: Readonly<Record<Exclude<Wait, 'none'>, readonly string[]>> = {
  confirmed: ['confirmed', 'finalized', 'failed'],
  finalized: ['finalized', 'failed'],
}

interface WaitOptions {
  onChange?(transaction: Transaction): void
  timeoutMs?: number
}

/**
 * Resolves with the transaction when it has reached `until` or failed. Throws a failure that names the signature when
 * it can no longer be confirmed, UnprovenEnd if nobody can tell, and a failure after the timeout. Requests
 * without an answer are retried until then.
 */
export async function waitForTransaction(
  session: Session,
  signature: string,
  until: Exclude<Wait, 'none'>,
  { onChange, timeoutMs = FOLLOW_TIMEOUT_MS }: WaitOptions = {},
): Promise<Transaction> {
  const { client, clock, ui } = session
  const start = clock.now()
  let last: Transaction | undefined
  let lastError: unknown
  let unprovenSince: number | undefined
  let eager = FIRST_PAUSE_MS
  const expiry = expiryOf(session)
  session.setInterruptNote(`Stopped waiting: see \`svc tx watch ${signature}\``)
  try {
    for (;;) {
      const passed = clock.now() - start
      let pause = passed < EAGER_MS ? eager : LATER_PAUSE_MS
      eager = Math.min(2 * eager, EAGER_PAUSE_MS)
      try {
        // The slot is read before the transaction: if that is unknown afterwards, it was in no block up to that slot.
        const isOver = last?.lifecycle === 'unknown' && (await expiry.isOver())
        const { data } = await client.transactions.get({ signature })
        lastError = undefined
        if (data.lifecycle === 'unknown') await expiry.begin()
        if (data.lifecycle !== last?.lifecycle) onChange?.(data)
        last = data
        if (isOver && data.lifecycle === 'unknown') {
          throw data.absence === 'proven' ? expiredUnseen(signature) : new UnprovenEnd(data)
        }
        unprovenSince =
          data.absence === 'unproven' && data.lifecycle !== 'unknown' ? (unprovenSince ?? passed) : undefined
        if (unprovenSince !== undefined && passed - unprovenSince >= UNPROVEN_WAIT_MS) throw new UnprovenEnd(data)
        if (REACHED[until].includes(data.lifecycle)) return data
      } catch (error) {
        if (error instanceof UnprovenEnd || !isTransient(error)) throw error
        lastError = error
        if (error.code === 'rate_limited') pause = RATE_LIMIT_PAUSE_MS
      }
      if (passed >= timeoutMs && last?.absence === 'unproven') throw new UnprovenEnd(last)
      if (passed >= timeoutMs) throw timedOut(signature, last, { lastError, timeoutMs })
      ui.waiting(`${last?.lifecycle ?? 'submitted'}, waiting until ${until}`)
      await clock.sleep(Math.min(pause, timeoutMs - passed))
    }
  } finally {
    ui.waiting(null)
    session.setInterruptNote(null)
  }
}

/**
 * Slots after which every blockhash that was valid at the first request has expired, with a margin for a node that
 * lags behind.
 */
const EXPIRY_SLOTS = 300
const SLOT_PAUSE_MS = 10_000

/** Tracks whether an unknown signature can still be confirmed; its blockhash is older than the first request. */
function expiryOf({ client, clock }: Session) {
  let first: number | undefined
  let requestedAt = Number.NEGATIVE_INFINITY
  const slotNow = async () => {
    requestedAt = clock.now()
    // Every chain has this account, and the answer contains the slot at which it was read.
    return (await client.accounts.get({ address: SYSTEM_PROGRAM })).data.slot
  }
  return {
    async begin(): Promise<void> {
      first ??= await slotNow()
    },
    async isOver(): Promise<boolean> {
      if (first === undefined || clock.now() - requestedAt < SLOT_PAUSE_MS) return false
      return (await slotNow()) - first > EXPIRY_SLOTS
    },
  }
}

/** It was not seen, and may have landed: what was signed must not be signed again. */
export class UnprovenEnd extends Problem {
  constructor({ signature, lifecycle }: Pick<Transaction, 'signature' | 'lifecycle'>) {
    super(
      'internal_error',
      `${signature} was not seen in a block, and nothing proves that it is in none: it may have landed`,
      {
        next: `do not sign it again: look at the balances, and follow it with \`svc tx watch ${signature}\`; svc looks for it for a day, and a second node (setting rpc-urls) can prove what became of it`,
        details: { signature, lifecycle, absence: 'unproven' },
      },
    )
  }
}

const expiredUnseen = (signature: string) =>
  new Problem(
    'not_found',
    `${signature} was never seen, and can no longer land: every blockhash that it could use has expired`,
    {
      next: 'check the signature and --url; a transaction with a durable nonce can still land, and a node may have dropped old ones',
      details: { signature, lifecycle: 'unknown' },
    },
  )

function timedOut(
  signature: string,
  last: Transaction | undefined,
  { lastError, timeoutMs }: { lastError: unknown; timeoutMs: number },
) {
  const state = last === undefined ? 'not known to the API' : `still ${last.lifecycle}`
  const why = lastError instanceof Error ? ` (${lastError.message})` : ''
  return failure(`${signature} is ${state} after ${timeoutMs / 1000} seconds${why}`, {
    next: `follow it with \`svc tx watch ${signature}\``,
    details: { signature, lifecycle: last?.lifecycle ?? null },
    ...(lastError === undefined ? {} : { cause: lastError }),
  })
}
