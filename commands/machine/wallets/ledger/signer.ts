/** Signs transactions and texts with a key of a Ledger, on which a person confirms each of them. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { offchainMessage, shortOffchainMessage } from '../../../../src/solana/offchain-messages.ts'
import { isSignatureOf } from '../../../../src/solana/signatures.ts'
import { failure } from '../../../ui/problem.ts'
import { ledgerLocator } from '../../../wallet/ledger-locator.ts'
import type { TransactionSigner } from '../signers.ts'
import { reviewTransaction, signReviewed, signsDelayed } from './delayed.ts'
import { type LedgerKey, onLedger } from './device.ts'

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
    isDevice: true,
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
