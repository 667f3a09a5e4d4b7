/** Waits for a transaction by asking the API until it has come as far as the person wants. */
import type { Transaction } from '../../src/api/transactions.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import type { Session } from '../session.ts'
import { failure, isTransient, Problem } from '../ui/problem.ts'
import type { Wait } from './flags.ts'

/** The API reports a transaction that can no longer be confirmed as `failed` before this time is over. */
const FOLLOW_TIMEOUT_MS = 180_000
/** Pauses between two questions: at first, after `EAGER_MS`, and where the rate limit is used up. */
const EAGER_PAUSE_MS = 400
const LATER_PAUSE_MS = 2_000
const EAGER_MS = 10_000
export const RATE_LIMIT_PAUSE_MS = 5_000

const REACHED: Readonly<Record<Exclude<Wait, 'none'>, readonly string[]>> = {
  confirmed: ['confirmed', 'finalized', 'failed'],
  finalized: ['finalized', 'failed'],
}

export interface FollowOptions {
  onChange?(transaction: Transaction): void
  timeoutMs?: number
}

/**
 * Resolves with the transaction when it has come that far or failed. Throws a failure that names the signature when it
 * can no longer be confirmed, and after the timeout; an API that does not answer is asked again until then.
 */
export async function followTransaction(
  session: Session,
  signature: string,
  until: Exclude<Wait, 'none'>,
  { onChange, timeoutMs = FOLLOW_TIMEOUT_MS }: FollowOptions = {},
): Promise<Transaction> {
  const { client, clock, ui } = session
  const start = clock.now()
  let last: Transaction | undefined
  let lastError: unknown
  const expiry = expiryOf(session)
  session.setInterruptNote(`Not waited for any longer: see \`svc tx watch ${signature}\``)
  try {
    for (;;) {
      const passed = clock.now() - start
      let pause = passed < EAGER_MS ? EAGER_PAUSE_MS : LATER_PAUSE_MS
      try {
        // Asked before the transaction is: what is still unknown afterwards was not in any block until then.
        const isOver = last?.lifecycle === 'unknown' && (await expiry.isOver())
        const { data } = await client.transactions.get({ signature })
        lastError = undefined
        if (data.lifecycle === 'unknown') await expiry.begin()
        if (data.lifecycle !== last?.lifecycle) onChange?.(data)
        last = data
        if (isOver && data.lifecycle === 'unknown') throw expiredUnseen(signature)
        if (REACHED[until].includes(data.lifecycle)) return data
      } catch (error) {
        if (!isTransient(error)) throw error
        lastError = error
        if (error.code === 'rate_limited') pause = RATE_LIMIT_PAUSE_MS
      }
      if (passed >= timeoutMs) throw timedOut(signature, last, { lastError, timeoutMs })
      ui.waiting(`${last?.lifecycle ?? 'submitted'}, waiting until ${until}`)
      await clock.sleep(Math.min(pause, timeoutMs - passed))
    }
  } finally {
    ui.waiting(null)
    session.setInterruptNote(null)
  }
}

/** Slots after which every blockhash of the beginning has expired, with room for a node that was behind. */
const EXPIRY_SLOTS = 300
const SLOT_PAUSE_MS = 10_000

/** Whether a signature that nobody knows can still be confirmed: its blockhash is older than the first question. */
function expiryOf({ client, clock }: Session) {
  let first: number | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  const slotNow = async () => {
    askedAt = clock.now()
    // Every chain has this account, and an account is answered with the slot it was read at.
    return (await client.accounts.get({ address: SYSTEM_PROGRAM })).data.slot
  }
  return {
    async begin(): Promise<void> {
      first ??= await slotNow()
    },
    async isOver(): Promise<boolean> {
      if (first === undefined || clock.now() - askedAt < SLOT_PAUSE_MS) return false
      return (await slotNow()) - first > EXPIRY_SLOTS
    },
  }
}

const expiredUnseen = (signature: string) =>
  new Problem(
    'not_found',
    `${signature} was never seen, and can no longer land: every blockhash that it could have has expired`,
    {
      next: 'check the signature and --url; what was made with a durable nonce can land later, and a node may have forgotten what landed long ago',
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
