/** Records that sponsored claims are refused for want of budget or attempts, so that a person learns of it. */
import type { Context } from '../../context.ts'
import { ApiError } from '../../platform/errors.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/timing.ts'
import { endObservation, findObservation, observe } from '../../store/attention/observations.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'

const KIND = 'sponsored_claims_refused'
const REASONS = ['attempts_exhausted', 'budget_exhausted'] as const

/** What is stored about the last refusal. */
export interface RefusedClaim {
  reason: (typeof REASONS)[number]
  why: string
}

/** Anybody may ask for claims, so each airdrop has one record, and it is written at most once a minute. */
const WRITTEN_EVERY_MS = MINUTE_MS

/** Rejects as `claim` does. */
export async function notingRefusals<T>(
  { store, clock, log }: Pick<Context, 'store' | 'clock' | 'log'>,
  airdropId: string,
  claim: Promise<T>,
): Promise<T> {
  return claim.catch(async (error: unknown) => {
    const reason = REASONS.find((each) => error instanceof ApiError && error.details?.reason === each)
    if (reason === undefined) throw error
    const known = await findObservation(store.db, KIND, airdropId)
    if (known === null || known.observed_at <= clock.now() - WRITTEN_EVERY_MS) {
      const facts: RefusedClaim = { reason, why: firstPart((error as ApiError).message) }
      await store
        .write((tx) => record(tx, airdropId, { facts, known, now: clock.now() }))
        .catch((fault) => log.warn({ err: fault }, 'a refused sponsored claim was not recorded'))
    }
    throw error
  })
}

interface Refusal {
  facts: RefusedClaim
  known: Row<'attention_observations'> | null
  now: number
}

/** After a day without refusals they begin anew. */
async function record(tx: Tx, airdropId: string, { facts, known, now }: Refusal): Promise<void> {
  if (known !== null && known.observed_at <= now - DAY_MS) await endObservation(tx, KIND, airdropId)
  await observe(tx, { kind: KIND, subject: airdropId, facts, now })
}

/** Called when the sponsorship changes: what it refused before says nothing now. */
export const forgetRefusals = (tx: Tx, airdropId: string) => endObservation(tx, KIND, airdropId)

/** What is told to the claimer after the colon is not for the operator. */
const firstPart = (message: string) => message.split(': ')[0] ?? message
