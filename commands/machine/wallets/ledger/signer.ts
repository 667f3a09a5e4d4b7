/** Signs transactions and texts with a key of a Ledger, on which a person confirms each of them. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { offchainMessage, shortOffchainMessage } from '../../../../src/solana/offchain-messages.ts'
import { isSignatureOf } from '../../../../src/solana/signatures.ts'
import { failure } from '../../../ui/problem.ts'
import { ledgerLocator } from '../../../wallet/ledger-locator.ts'
import type { TransactionSigner } from '../unlocking.ts'
import { type LedgerKey, onLedger } from './device.ts'
import type { SolanaApp } from './packages.ts'

/** The first byte of a message of version 1. */
const VERSION_1 = 0x81
/** How an app answers that knows only the short form of texts. */
const INVALID_HEADER = 0x6a81

/** The signer of a keypair URL. The device is asked for its address, which needs no confirmation. */
export async function ledgerSigner(url: string, note: (text: string) => void): Promise<TransactionSigner> {
  const address = await onLedger(ledgerLocator(url), 'address', async (key) => key.address)
  return knownLedgerSigner({ url, address }, note)
}

/** The signer of a key whose address is known, so that its device is needed only to sign; `note` says what to do. */
export function knownLedgerSigner(
  { url, address }: { url: string; address: string },
  note: (text: string) => void,
): TransactionSigner {
  const wanted = { ...ledgerLocator(url), address }
  return {
    address,
    sign(message, { place, refresh } = {}) {
      const isNew = message[0] === VERSION_1
      return onLedger(wanted, isNew ? 'transaction of version 1' : 'transaction', async (key) => {
        const refreshed = refresh !== undefined && !isNew && (await signsDelayed(key.app)) ? refresh : undefined
        note(`Confirm the transaction${place === undefined ? '' : ` ${place}`} on the Ledger`)
        note(`If the device shows a message hash, it must be ${hashOf(message)}`)
        if (refreshed === undefined) {
          const { signature } = await key.app.signTransaction(key.path, Buffer.from(message))
          return verified(address, message, signature)
        }
        await reviewTransaction(key, message)
        const fresh = await refreshed()
        return verified(address, fresh, await signReviewed(key, fresh))
      })
    },
    signText(text) {
      return onLedger(wanted, 'text', async (key) => {
        note('Confirm the text on the Ledger')
        const message = offchainMessage(text, address)
        try {
          return verified(address, message, await textSignature(key, message))
        } catch (error) {
          if ((error as { statusCode?: unknown }).statusCode !== INVALID_HEADER) throw error
          const short = shortOffchainMessage(text)
          return verified(address, short, await textSignature(key, short))
        }
      })
    },
  }
}

const textSignature = async ({ app, path }: LedgerKey, message: Uint8Array) =>
  (await app.signOffchainMessage(path, Buffer.from(message))).signature

function verified(address: string, message: Uint8Array, signature: Uint8Array): Uint8Array {
  if (isSignatureOf(address, message, signature)) return Uint8Array.from(signature)
  throw failure(`the Ledger answered with a signature that is not of ${address} for this message`)
}

/** The hash that the app shows instead of what it cannot read: base58 of SHA-256. */
const hashOf = (message: Uint8Array) => base58.encode(createHash('sha256').update(message).digest())

// Delayed signing of the Solana app from 1.14.0 on: a person reviews a transaction for as long as they like, and the
// app then signs it once with any blockhash. It compares everything else itself.

const CLASS = 0xe0
const REVIEW = 0x08
const SIGN_REVIEWED = 0x09
const CONFIRM = 1
/** Flags of the parts of one request: it continues the part before, and another part follows. */
const CONTINUES = 1
const MORE = 2
const MOST_BYTES = 255
const HARDENED = 0x80000000

/** Whether the app can. Its package does not have these requests yet. */
async function signsDelayed(app: SolanaApp): Promise<boolean> {
  const { version } = await app.getAppConfiguration()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 1 || (major === 1 && minor >= 14)
}

/** Resolves once the person has approved the message with whatever blockhash. */
async function reviewTransaction(key: LedgerKey, message: Uint8Array): Promise<void> {
  await request(key, REVIEW, message)
}

/** The signature of the message that was reviewed, with another blockhash; nothing is asked. */
async function signReviewed(key: LedgerKey, message: Uint8Array): Promise<Uint8Array> {
  const answer = await request(key, SIGN_REVIEWED, message)
  return answer.subarray(0, 64)
}

/** The number of paths, which is 1, the path as the number of its indexes and four bytes for each, and the message. */
async function request({ transport, path }: LedgerKey, instruction: number, message: Uint8Array): Promise<Uint8Array> {
  const indexes = path.split('/').map((index) => Number.parseInt(index, 10) + HARDENED)
  const head = Buffer.alloc(2 + 4 * indexes.length)
  head.writeUInt8(1, 0)
  head.writeUInt8(indexes.length, 1)
  for (const [i, index] of indexes.entries()) head.writeUInt32BE(index, 2 + 4 * i)
  const payload = Buffer.concat([head, message])
  for (let from = 0; ; from += MOST_BYTES) {
    const isLast = from + MOST_BYTES >= payload.length
    const flags = (from > 0 ? CONTINUES : 0) | (isLast ? 0 : MORE)
    const part = payload.subarray(from, from + MOST_BYTES)
    const answer = await transport.send(CLASS, instruction, CONFIRM, flags, part)
    if (isLast) return answer
  }
}
