/** Waiting for a transaction: asking the API until it has come as far as wanted. */
import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/errors.ts'
import type { Session } from '../command.ts'
import { failure } from '../ui/problem.ts'
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

/**
 * Resolves with the transaction when it has come that far or failed. Throws a failure that names the signature after
 * three minutes; an API that does not answer is asked again until then.
 */
export async function follow(
  session: Session,
  signature: string,
  until: Exclude<Wait, 'none'>,
  onChange: (transaction: Transaction) => void = () => undefined,
): Promise<Transaction> {
  const { client, clock, ui } = session
  const start = clock.now()
  let last: Transaction | undefined
  let trouble: unknown
  session.lastWords(`Not waited for any longer: see \`svc tx watch ${signature}\``)
  try {
    for (;;) {
      const passed = clock.now() - start
      let pause = passed < EAGER_MS ? FIRST_MS : LATER_MS
      try {
        const { data } = await client.transactions.get({ signature })
        trouble = undefined
        if (data.lifecycle !== last?.lifecycle) onChange(data)
        last = data
        if (REACHED[until].includes(data.lifecycle)) return data
      } catch (error) {
        if (!(error instanceof ApiError) || !PASSING.includes(error.code)) throw error
        trouble = error
        if (error.code === 'rate_limited') pause = QUOTA_MS
      }
      if (passed >= PATIENCE_MS) throw tooLong(signature, last, trouble)
      ui.waiting(`${last?.lifecycle ?? 'submitted'}, waiting until ${until}`)
      await clock.sleep(pause)
    }
  } finally {
    ui.waiting(null)
    session.lastWords(null)
  }
}

const PASSING: readonly string[] = ['internal_error', 'rate_limited']

function tooLong(signature: string, last: Transaction | undefined, trouble: unknown) {
  const state = last === undefined ? 'not known to the API' : `still ${last.lifecycle}`
  const why = trouble instanceof Error ? ` (${trouble.message})` : ''
  return failure(`${signature} is ${state} after ${PATIENCE_MS / 1000} seconds${why}`, {
    next: `follow it with \`svc tx watch ${signature}\``,
    details: { signature, lifecycle: last?.lifecycle ?? null },
    ...(trouble === undefined ? {} : { cause: trouble }),
  })
}
