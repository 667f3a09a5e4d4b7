/** Compares messages without their blockhash, and finds submissions that are otherwise equal. */
import { createHash, hash } from 'node:crypto'
import { badRequest } from '../../platform/errors.ts'
import { KEY_BYTES } from '../../solana/constants.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import type { Reader, Tx } from '../../store/store.ts'
import {
  failedWithBlockhash,
  firstOfMessage,
  liveWithBlockhash,
  lockBlockhashes,
  noteRetried,
} from '../../store/transactions/refreshed-messages.ts'

type Message = Pick<DecodedTransaction, 'message' | 'messageBytes'>

const NO_BLOCKHASH = new Uint8Array(KEY_BYTES)

/** Hex of the SHA-256 of a message with zeros in place of its blockhash. */
export function termsSha256({ messageBytes, message: { blockhashOffset } }: Message): string {
  return createHash('sha256')
    .update(messageBytes.subarray(0, blockhashOffset))
    .update(NO_BLOCKHASH)
    .update(messageBytes.subarray(blockhashOffset + KEY_BYTES))
    .digest('hex')
}

export const messageSha256 = ({ messageBytes }: Message): string => hash('sha256', messageBytes, 'hex')

/** A transaction that was submitted here, has not finally failed, and differs only in its blockhash. */
export interface Sibling {
  signature: string
  lifecycle: string
}

/** Returns the newest submission with these terms and one of the blockhashes, or null. */
export async function findSibling(
  reader: Reader,
  terms: string,
  blockhashes: readonly string[],
): Promise<Sibling | null> {
  for (const { raw, signature, lifecycle } of await liveWithBlockhash(reader, blockhashes)) {
    // If retention has removed the bytes, the transaction ended long ago.
    if (raw.length > 0 && termsSha256(decodeWireTransaction(raw)) === terms) return { signature, lifecycle }
  }
  return null
}

/** Returns the error for a second transaction with the same effect as a submitted one. */
export function alreadySubmitted({ signature, lifecycle }: Sibling, param: string) {
  const isUnderWay = lifecycle === 'submitted' || lifecycle === 'processing'
  const next = isUnderWay
    ? `follow ${signature}, and refresh it only after it failed with BlockhashExpired`
    : lifecycle === 'failed'
      ? 'it may still land until the failure is final: try again in a minute or two'
      : 'build it again to do the same once more'
  return badRequest(`${param} differs only in its blockhash from ${signature}, which is ${lifecycle}: ${next}`, {
    param,
    details: { signature, lifecycle },
  })
}

interface SubmittedMessage {
  transaction: DecodedTransaction
  param: string
}

/** Submissions that may exist only once with the same terms. */
interface SiblingCheck {
  /**
   * Throws bad_request naming an otherwise equal submission that is pending or has landed. Such submissions wait for
   * each other's commit. Those that had failed are noted as submitted again at `now`.
   */
  hold(tx: Tx, now: number): Promise<void>
}

/**
 * Reads whether a transaction was refreshed together with its submission, because a refresh may run at the same time.
 */
export function siblingCheck(submitted: readonly SubmittedMessage[]): SiblingCheck {
  const hashes = submitted.map(({ transaction }) => messageSha256(transaction))
  return {
    async hold(tx, now) {
      const firsts = await Promise.all(hashes.map((own) => firstOfMessage(tx, own)))
      if (firsts.some((one) => one !== null)) await refuseSiblings(tx, submitted, firsts, now)
    },
  }
}

async function refuseSiblings(
  tx: Tx,
  submitted: readonly SubmittedMessage[],
  firsts: readonly (string | null)[],
  now: number,
): Promise<void> {
  for (const [i, { transaction, param }] of submitted.entries()) {
    const first = firsts[i] ?? null
    if (first === null) continue
    const [terms, blockhashes] = [termsSha256(transaction), await lockBlockhashes(tx, first)]
    const sibling = await findSibling(tx, terms, blockhashes)
    if (sibling !== null && sibling.signature !== transaction.signature) throw alreadySubmitted(sibling, param)
    for (const { raw, signature } of await failedWithBlockhash(tx, blockhashes)) {
      const isSame = raw.length > 0 && termsSha256(decodeWireTransaction(raw)) === terms
      if (isSame && signature !== transaction.signature) await noteRetried(tx, signature, now)
    }
  }
}
