/** Waiting for a transaction: asking the API until it has come as far as wanted. */

import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/errors.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import type { Session } from '../command.ts'
import { failure, Problem } from '../ui/problem.ts'
import type { Wait } from './flags.ts'

/** A transaction that no longer can land is told `failed` before this is over. */
export const PATIENCE_MS = 180_000
const FIRST_MS = 400
const LATER_MS = 2_000
const EAGER_MS = 10_000
const QUOTA_MS = 5_000

const REACHED: Readonly<Record<Exclude<Wait, 'none'>, readonly string[]>> = {
  confirmed: ['confirmed', 'finalized', 'failed'],
  finalized: ['finalized', 'failed'],
}

export interface Following {
  onChange?(transaction: Transaction): void
  /** Milliseconds after which it is given up. */
  patience?: number
}

/**
 * Resolves with the transaction when it has come that far or failed. Throws a failure that names the signature when it
 * can no longer land, and after three minutes; an API that does not answer is asked again until then.
 */
export async function follow(
  session: Session,
  signature: string,
  until: Exclude<Wait, 'none'>,
  { onChange, patience = PATIENCE_MS }: Following = {},
): Promise<Transaction> {
  const { client, clock, ui } = session
  const start = clock.now()
  let last: Transaction | undefined
  let trouble: unknown
  const expiry = expiryOf(session)
  session.lastWords(`Not waited for any longer: see \`svc tx watch ${signature}\``)
  try {
    for (;;) {
      const passed = clock.now() - start
      let pause = passed < EAGER_MS ? FIRST_MS : LATER_MS
      try {
        // Before the look: what is not seen afterwards was not in any block until then.
        const isOver = last?.lifecycle === 'unknown' && (await expiry.isOver())
        const { data } = await client.transactions.get({ signature })
        trouble = undefined
        if (data.lifecycle === 'unknown') await expiry.begin()
        if (data.lifecycle !== last?.lifecycle) onChange?.(data)
        last = data
        if (isOver && data.lifecycle === 'unknown') throw neverLands(signature)
        if (REACHED[until].includes(data.lifecycle)) return data
      } catch (error) {
        if (!(error instanceof ApiError) || !PASSING.includes(error.code)) throw error
        trouble = error
        if (error.code === 'rate_limited') pause = QUOTA_MS
      }
      if (passed >= patience) throw tooLong(signature, last, { trouble, patience })
      ui.waiting(`${last?.lifecycle ?? 'submitted'}, waiting until ${until}`)
      await clock.sleep(Math.min(pause, patience - passed))
    }
  } finally {
    ui.waiting(null)
    session.lastWords(null)
  }
}

const PASSING: readonly string[] = ['internal_error', 'rate_limited']

/** Slots after which every blockhash of the beginning is gone, with room for a node that was behind. */
const EXPIRY_SLOTS = 300
const ASK_SLOT_MS = 10_000

/** Whether a signature that nobody has seen can still land: whoever made it had a blockhash from before the first question. */
function expiryOf({ client, clock }: Session) {
  let first: number | undefined
  let asked = Number.NEGATIVE_INFINITY
  const slotNow = async () => {
    asked = clock.now()
    // Every chain has this account, and an account is answered with the slot it was read at.
    return (await client.accounts.get({ address: SYSTEM_PROGRAM })).data.slot
  }
  return {
    async begin(): Promise<void> {
      first ??= await slotNow()
    },
    async isOver(): Promise<boolean> {
      if (first === undefined || clock.now() - asked < ASK_SLOT_MS) return false
      return (await slotNow()) - first > EXPIRY_SLOTS
    },
  }
}

const neverLands = (signature: string) =>
  new Problem(
    'not_found',
    `${signature} was never seen, and can no longer land: every blockhash that it could have has expired`,
    {
      next: 'check the signature and --url; what was made with a durable nonce can land later, and a node may have forgotten what landed long ago',
      details: { signature, lifecycle: 'unknown' },
    },
  )

interface Given {
  trouble: unknown
  patience: number
}

function tooLong(signature: string, last: Transaction | undefined, { trouble, patience }: Given) {
  const state = last === undefined ? 'not known to the API' : `still ${last.lifecycle}`
  const why = trouble instanceof Error ? ` (${trouble.message})` : ''
  return failure(`${signature} is ${state} after ${patience / 1000} seconds${why}`, {
    next: `follow it with \`svc tx watch ${signature}\``,
    details: { signature, lifecycle: last?.lifecycle ?? null },
    ...(trouble === undefined ? {} : { cause: trouble }),
  })
}
