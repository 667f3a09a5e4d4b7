/**
 * Sends the transaction of a row until it is confirmed. A signed transaction is on disk before it is sent, and is
 * replaced only after it has ended.
 */
import type { TrackedResource } from '../../src/api/payloads.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { requestPlatformSignature } from '../signing/requests.ts'
import type { CompleteTransaction } from '../signing/signatures.ts'
import { failure } from '../ui/problem.ts'
import { patiently } from './patience.ts'
import { type EndOptions, endOfSent, type SignedEnd, untilEnded } from './until-ended.ts'

/** How often a row is signed. One transaction may expire by chance. After four, something else is wrong. */
const MAX_SIGNINGS = 4

export type AttemptEnd = SignedEnd & { signature: string }

export interface Attempts<S> {
  /** What an earlier run sent and whose outcome it did not see. */
  begun: S | null
  /** Signs, and returns what is then on disk. */
  sign(): Promise<S>
  /** Sends it until its outcome is proven and on disk. `isNew`: this run has signed it. */
  end(sent: S, isNew: boolean): Promise<AttemptEnd>
  /** Whether a new transaction may succeed after one that failed. Otherwise only an expired one is replaced. */
  retriesFailed?: boolean
  /** The start of a sentence, such as `the airdrop ID was not put on chain`. */
  unfinished: string
}

/** Returns the signature of the confirmed transaction. */
export async function untilConfirmed<S>(attempts: Attempts<S>): Promise<string> {
  const { retriesFailed = false, unfinished } = attempts
  let { begun } = attempts
  for (let signings = 0; ; begun = null) {
    const isNew = begun === null
    if (isNew) signings++
    const end = await attempts.end(begun ?? (await attempts.sign()), isNew)
    if (end.kind === 'confirmed') return end.signature
    const isLast = signings >= MAX_SIGNINGS
    if (end.kind === 'failed' && (isLast || !retriesFailed)) throw end.error
    if (!isLast) continue
    throw failure(`${unfinished} in ${MAX_SIGNINGS} tries`, {
      next: 'run the same command again; a higher priority-fee may help',
      details: { last: end.signature },
    })
  }
}

/** What the user's keypair has signed. */
export interface SignedSending extends CompleteTransaction {
  last_valid_block_height?: number | undefined
  tracked_resource?: TrackedResource | undefined
}

/** What the platform wallet was asked to sign under an idempotency key. */
export interface RequestedSending {
  key: string
  /** Unix milliseconds. */
  at: number
  /** Null until known. */
  signature: string | null
}

interface OneTransaction<R extends RequestedSending> extends EndOptions {
  begun: SignedSending | R | null
  /** Signs with the keypair, or returns the request to the platform wallet. */
  sign(): Promise<SignedSending | R>
  /** Requests a signature from the platform wallet. */
  ask(request: R, options: { idempotencyKey: string }): Promise<{ signature: string }>
  /** Writes to the journal what is about to be sent, its signature once known, and finally its outcome. */
  keep(sending: SignedSending | R, end?: SignedEnd['kind']): void
  retriesFailed?: boolean
  unfinished: string
}

/** Sends one transaction, signed by the keypair or by the platform wallet. Returns its signature. */
export const sendOne = <R extends RequestedSending>(
  session: Session,
  { sign, ask, keep, replacesUnseen, ...run }: OneTransaction<R>,
): Promise<string> =>
  untilConfirmed<SignedSending | R>({
    ...run,
    async sign() {
      const sending = await sign()
      keep(sending)
      return sending
    },
    async end(sending, isNew) {
      if (!('key' in sending)) {
        const end = await endOfSigned(session, sending, isNew, { replacesUnseen })
        keep(sending, end.kind)
        return { ...end, signature: sending.signature }
      }
      const request = await signedRequest(session, sending, isNew, { ask, keep })
      const { signature } = request
      const end = await patiently(session, () => endOfSent(session, { signature }, { replacesUnseen }))
      keep(request, end.kind)
      return { ...end, signature }
    },
  })

/** The outcome of what the keypair has signed. */
export function endOfSigned(
  session: Session,
  signed: SignedSending,
  isNew: boolean,
  options: EndOptions = {},
): Promise<SignedEnd> {
  let isUnsent = isNew
  return patiently(session, () => {
    const wasUnsent = isUnsent
    isUnsent = false
    return untilEnded(session, { ...signed, isNew: wasUnsent }, options)
  })
}

/** The platform wallet signs once per key, so the same key is used until the signature is known. */
async function signedRequest<R extends RequestedSending>(
  session: Session,
  request: R,
  isNew: boolean,
  { ask, keep }: Pick<OneTransaction<R>, 'ask' | 'keep'>,
): Promise<R & { signature: string }> {
  const { key, signature: known } = request
  if (known !== null) return { ...request, signature: known }
  try {
    const answer = await patiently(session, () =>
      requestPlatformSignature(session, key, (options) => ask(request, options)),
    )
    const signed = { ...request, signature: answer.signature }
    keep(signed)
    return signed
  } catch (error) {
    // After a refusal, nothing was signed. But a paused signer also refuses what it has signed before.
    const isRefusal = error instanceof ApiError && error.code === 'bad_request' && error.details?.rule !== 'paused'
    if (isRefusal && isNew) keep(request, 'failed')
    throw error
  }
}
