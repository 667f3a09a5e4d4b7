/** Requests the build of a launch once: its key is in the journal first, so that the next run gets the same pool. */
import { createHash, randomUUID } from 'node:crypto'
import type { PoolCreated } from '../../src/api/pools.ts'
import type { Client } from '../../src/client.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import type { Session } from '../cli/session.ts'
import { withFreshBlockhash } from '../signing/fresh-blockhash.ts'

export type CreateBody = Parameters<Client['pools']['create']>[0]

/** A launch that the API was asked to build; nothing of it is signed. */
export interface RequestedLaunch {
  /** SHA-256 of the row in hex. */
  sha256: string
  /** Null once it has ended without a launch. */
  requested: LaunchRequest | null
}

export interface LaunchRequest {
  /** The Idempotency-Key. */
  key: string
  /** When it was sent first, in Unix milliseconds. */
  at: number
  /** SHA-256 of the whole request in hex. */
  bodySha256: string
}

/** The default of the setting pools.pending-minutes: by then an API has failed a launch that nobody sent. */
const PENDING_MS = 30 * MINUTE_MS
/** Milliseconds between attempts while the API still builds for a run that was killed. */
const RUNNING_PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000] as const

/**
 * Returns the build of this body, with a fresh blockhash if an earlier run has requested it. `keep` stores the request
 * before it is sent, and null if it has failed; a request without an answer stays.
 */
export async function requestLaunch(
  session: Session,
  body: CreateBody,
  begun: LaunchRequest | null,
  keep: (request: LaunchRequest | null) => void,
): Promise<PoolCreated> {
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  const age = session.clock.now() - (begun?.at ?? 0)
  const isAgain = begun !== null && begun.bodySha256 === hash && age >= 0 && age < PENDING_MS
  const request = isAgain ? begun : { key: randomUUID(), at: session.clock.now(), bodySha256: hash }
  if (!isAgain) keep(request)
  let isAnswered = false
  try {
    const data = await onceBuilt(session, body, request.key)
    isAnswered = true
    return isAgain ? await withFreshBlockhash(session, data) : data
  } catch (error) {
    if (isAnswered || !(isUnanswered(error) || (isAgain && isRefusedEarly(error)))) keep(null)
    throw error
  }
}

async function onceBuilt({ client, clock }: Session, body: CreateBody, key: string): Promise<PoolCreated> {
  for (let attempt = 0; ; attempt++) {
    try {
      return (await client.pools.create(body, { idempotencyKey: key })).data
    } catch (error) {
      const pause = RUNNING_PAUSES_MS[attempt]
      if (!(error instanceof ApiError) || error.code !== 'conflict' || pause === undefined) throw error
      await clock.sleep(pause)
    }
  }
}

/** Whether the API refused it before it looked at the key, under which an earlier run may have built. */
const isRefusedEarly = (error: unknown): boolean =>
  error instanceof ApiError && ['rate_limited', 'unauthorized', 'forbidden'].includes(error.code)

/** Whether the API may have built it all the same: it gave no answer, or still builds. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'conflict' || (error.code === 'internal_error' && !('envelope' in error)))
