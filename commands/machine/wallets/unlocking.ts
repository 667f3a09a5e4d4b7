/** Opens named wallets for signing: svc asks for the passphrase once, or a program signs each message. */
import { keyPairOf } from '../../../src/solana/signatures.ts'
import type { NamedWallet } from '../../wallet/wallets.ts'
import { type Asking, passphraseOf, wrongPassphrase } from '../passphrases.ts'
import { type KeyWallet, openSeed, readWallet } from './wallet-files.ts'

/** The signer of a wallet: its address is known at once, and the key is opened at the first signature. */
export async function namedSigner(name: string, ui: Asking & { note(text: string): void }): Promise<TransactionSigner> {
  const wallet = readWallet(name)
  if (wallet.kind === 'command') {
    return {
      address: wallet.address,
      sign: async (message) => {
        const { signByCommand } = await import('./signer-command.ts')
        return signByCommand(wallet, message, ui.note)
      },
    }
  }
  if (wallet.kind === 'ledger') {
    const { knownLedgerSigner } = await import('./ledger/signer.ts')
    return knownLedgerSigner(wallet, ui.note)
  }
  let opening: Promise<(message: Uint8Array) => Uint8Array> | undefined
  return {
    address: wallet.address,
    async sign(message) {
      opening ??= opened(wallet, ui)
      return (await opening)(message)
    },
  }
}

async function opened(wallet: KeyWallet & NamedWallet, ui: Asking) {
  const seed = await unlockedSeed(wallet, ui)
  const { sign } = keyPairOf(seed)
  seed.fill(0)
  return sign
}

/** The 32-byte seed, which the caller erases. Throws a problem for a passphrase that does not open the wallet. */
export async function unlockedSeed(wallet: KeyWallet & NamedWallet, ui: Asking): Promise<Buffer> {
  const passphrase =
    wallet.kind === 'keychain'
      ? await (await import('./keychain.ts')).lookupInKeychain(wallet.name)
      : await passphraseOf(wallet, ui)
  const seed = await openSeed(wallet, passphrase)
  if (seed === null) throw wrongPassphrase(wallet.name)
  return seed
}

/** Signs messages for its address: here, in a program of the user's own, or on a device. */
export interface TransactionSigner {
  address: string
  sign(message: Uint8Array, more?: SignOptions): Uint8Array | Promise<Uint8Array>
  /** Signs a text on a device; other signers sign the bytes of `offchainMessage`. */
  signText?(text: string): Promise<Uint8Array>
}

interface SignOptions {
  /** Which of several transactions it is, such as `2 of 3`. */
  place?: string | undefined
  /**
   * Returns the message with a fresh blockhash. A device that can sign later calls it once the person has approved, and
   * signs that message instead; other signers never call it.
   */
  refresh?: (() => Promise<Uint8Array>) | undefined
}
