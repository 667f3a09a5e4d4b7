/** Sends signed bytes until their outcome is proven: confirmed, failed, or expired so that they may be replaced. */
import type { TrackedResource } from '../../src/api/payloads.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { trackedField } from '../signing/built-transactions.ts'
import { UnprovenEnd, waitForTransaction } from '../signing/following.ts'
import { submitSigned } from '../signing/requests.ts'
import { transactionFailure } from '../signing/run-failures.ts'
import type { CompleteTransaction } from '../signing/signatures.ts'

/** A signed transaction, with what its build said about it. */
export interface SignedBuild extends CompleteTransaction {
  /** Block height after which it cannot land. If unknown, a node that has forgotten its blockhash proves it. */
  last_valid_block_height?: number | undefined
  tracked_resource?: TrackedResource | undefined
  /** Whether this run has signed it, so that it cannot have been sent before. */
  isNew: boolean
}

export interface EndOptions {
  /**
   * Whether a transaction that was never seen counts as expired without proof: the user says so, or the account that it
   * makes can be made once only.
   */
  replacesUnseen?: boolean | undefined
}

export type SignedEnd =
  | { kind: 'confirmed'; slot: number }
  /** Its blockhash has expired, and it was never executed. */
  | { kind: 'expired' }
  /** It failed on chain, or was refused before it was sent. */
  | { kind: 'failed'; error: ApiError }

/**
 * Milliseconds after which a signed transaction can no longer be confirmed: three times the 150 blocks of a blockhash
 * at 400 ms, the longest target of a slot (SIMD-0525 only shortens it).
 */
export const SIGNED_EXPIRY_MS = 180_000

const BLOCKHASH_EXPIRED = 'BlockhashExpired'
/** Milliseconds between two checks of a refused transaction that could still land if it was sent before. */
const LANDING_PAUSE_MS = 2_000

/** Sends the same bytes again if the API does not know them. Throws if the outcome cannot be determined now. */
export async function untilEnded(session: Session, signed: SignedBuild, options: EndOptions = {}): Promise<SignedEnd> {
  for (;;) {
    const refusal = await refusalOf(session, signed)
    if (refusal === null) break
    if (signed.isNew && !isExpiry(refusal)) return { kind: 'failed', error: refusal }
    if (await canStillLand(session, signed)) await session.clock.sleep(LANDING_PAUSE_MS)
    else {
      // The status is read after the height, so that a transaction in the last block is found.
      const { lifecycle, absence } = await stateOf(session, signed.signature)
      if (lifecycle !== 'unknown') break
      // One that this run has signed was refused, so it was never sent.
      if (signed.isNew || absence === 'proven' || options.replacesUnseen) return { kind: 'expired' }
      throw new UnprovenEnd({ signature: signed.signature, lifecycle })
    }
  }
  return endOfSent(session, signed, options)
}

/** Waits for a submitted transaction; without its bytes, the error of a failure is not explained. */
export async function endOfSent(
  session: Session,
  sent: { signature: string; transaction?: string; last_valid_block_height?: number | undefined },
  { replacesUnseen = false }: EndOptions = {},
): Promise<SignedEnd> {
  const { signature, transaction } = sent
  const end = await waitForTransaction(session, signature, 'confirmed').catch(async (error: unknown) => {
    // It was never seen, and can no longer land.
    if (error instanceof ApiError && error.code === 'not_found') return null
    // A slow chain may still take it, and no flag asks for two.
    if (error instanceof UnprovenEnd && replacesUnseen && !(await canStillLand(session, sent))) return null
    throw error
  })
  if (end === null || (end.lifecycle === 'failed' && end.err === BLOCKHASH_EXPIRED)) return { kind: 'expired' }
  if (end.lifecycle === 'failed') return { kind: 'failed', error: await transactionFailure(session, transaction, end) }
  return { kind: 'confirmed', slot: end.slot }
}

/** Submits a transaction that the API does not know. Returns why it was not sent, or null if it is known. */
async function refusalOf(session: Session, signed: SignedBuild): Promise<ApiError | null> {
  const { signature, transaction } = signed
  if (await isKnown(session, signature)) return null
  try {
    await submitSigned(session, signature, { transaction, ...trackedField(signed) })
    return null
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error
    return (await isKnown(session, signature)) ? null : error
  }
}

const stateOf = async ({ client }: Session, signature: string) => (await client.transactions.get({ signature })).data
const isKnown = async (session: Session, signature: string) =>
  (await stateOf(session, signature)).lifecycle !== 'unknown'

const isExpiry = ({ message, details }: ApiError) =>
  /BlockhashNotFound/.test(`${message} ${JSON.stringify(details?.err)}`)

async function canStillLand(
  { client }: Session,
  { last_valid_block_height: last }: Pick<SignedBuild, 'last_valid_block_height'>,
): Promise<boolean> {
  return last !== undefined && (await client.service.cluster()).data.block_height <= last
}
