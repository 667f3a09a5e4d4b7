/** Joins partial signatures: copies of one transaction, each signed by some of its signers. */
import { decodeTransaction } from '../../../src/chain/sending/transactions.ts'
import { isSameButBlockhash } from '../../../src/solana/blockhashes.ts'
import { type DecodedTransaction, signatureOffset } from '../../../src/solana/messages.ts'
import { signatureHolds } from '../../../src/solana/signatures.ts'
import type { NamedTransaction, SignedTransaction } from '../../signing/wallet.ts'
import { usage } from '../../ui/problem.ts'

const PARAM = '<file>'

/**
 * Returns the message of the first copy with the signatures of all. Every signature is verified. Throws a usage
 * problem that names a copy with another message, an invalid signature, or one that contradicts an earlier copy.
 */
export function combineSignatures(copies: readonly NamedTransaction[]): SignedTransaction {
  const decoded = copies.map(({ name, transaction }) => ({ name, ...decodeTransaction(transaction, name) }))
  const [first] = decoded
  if (first === undefined) throw usage('there is no transaction to combine', { param: PARAM })
  const raw = Uint8Array.from(first.raw)
  /** The copy that each signature was taken from. */
  const from = new Map<number, (typeof decoded)[number]>()
  for (const copy of decoded) {
    requireSameMessage(first, copy)
    for (const [place, signature] of copy.signatures.entries()) {
      if (signature.every((byte) => byte === 0)) continue
      const signer = copy.message.keys[place]
      if (!signatureHolds(copy, place)) {
        throw usage(`${copy.name}: the signature of ${signer} is not valid for this message`, {
          param: PARAM,
          next: 'sign the transaction as it was built, with that key',
        })
      }
      const earlier = from.get(place)
      if (earlier !== undefined && !isSame(earlier.signatures[place], signature)) {
        throw usage(`${earlier.name} and ${copy.name} have different signatures of ${signer}`, {
          param: PARAM,
          next: 'use one of the two: with both, one transaction would have two signatures',
        })
      }
      from.set(place, copy)
      raw.set(signature, signatureOffset(raw, place))
    }
  }
  return signedTransaction(raw)
}

type NamedDecoded = DecodedTransaction & { name: string }

function requireSameMessage(first: NamedDecoded, copy: NamedDecoded): void {
  if (isSame(first.messageBytes, copy.messageBytes)) return
  const isRefreshed = isSameButBlockhash(first, copy)
  throw usage(
    isRefreshed
      ? `${copy.name} has another blockhash than ${first.name}: one of them was refreshed`
      : `${copy.name} is another transaction than ${first.name}`,
    { param: PARAM, next: isRefreshed ? 'sign the newest one with every key' : 'give copies of one transaction' },
  )
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array) => one !== undefined && Buffer.compare(one, other) === 0

/** Counts the valid signatures; the others are missing. */
export function signedTransaction(raw: Uint8Array): SignedTransaction {
  const transaction = Buffer.from(raw).toString('base64')
  const complete = decodeTransaction(transaction)
  const signers = complete.message.keys.slice(0, complete.message.signers)
  const validSigners = signers.filter((_, i) => signatureHolds(complete, i))
  return {
    transaction,
    signature: validSigners[0] === signers[0] ? complete.signature : null,
    signed: validSigners,
    missing: signers.filter((signer) => !validSigners.includes(signer)),
  }
}
