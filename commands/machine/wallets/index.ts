/** Makes, imports, lists, exports and deletes the user's named wallets. */
import { randomBytes } from 'node:crypto'
import { isAddress } from '../../../src/solana/addresses.ts'
import { SEED_BYTES } from '../../../src/solana/signatures.ts'
import { usage } from '../../ui/problem.ts'
import { requireWalletName } from '../../wallet/names.ts'
import type { ImportedKey, MadeWallet, NamedWallet, Wallets } from '../../wallet/wallets.ts'
import { type Asking, newPassphrase } from '../passphrases.ts'
import { walletNames } from './folder.ts'
import { writeKeypair } from './keypair-file.ts'
import { unlockedSeed } from './unlocking.ts'
import {
  type KeyWallet,
  readWallet,
  removeWallet,
  requireFreeName,
  sealedWallet,
  type WalletContent,
  writeWallet,
} from './wallet-files.ts'

/** `ui` asks for passphrases. */
export function createWallets(ui: Asking): Wallets {
  return {
    list: async () => walletNames().map((name) => shown(readWallet(name))),
    get: async (name) => shown(readWallet(name)),
    async make(name, { phrase, keychain }): Promise<MadeWallet> {
      requireWalletName(name)
      requireFreeName(name)
      const { words, seed } = await newKey(phrase)
      const made = await store(name, seed, keychain, ui)
      return { ...made, recovery_phrase: words }
    },
    async import(name, key) {
      requireWalletName(name)
      requireFreeName(name)
      if ('command' in key) return writeWallet(name, await commandContent(key))
      if ('device' in key) return writeWallet(name, await ledgerContent(key.device))
      const { seedIn } = await import('./key-text.ts')
      return store(name, await seedIn(key.text, key.account), key.keychain, ui)
    },
    async export(name, file) {
      const seed = await unlockedSeed(keyWalletOf(name), ui)
      if (!writeKeypair(file, seed))
        throw usage(`the file ${file} already exists and was not changed`, {
          param: '<file>',
          next: 'name a file that does not exist',
        })
      seed.fill(0)
    },
    async delete(name) {
      const wallet = readWallet(name)
      removeWallet(wallet)
      // If the keychain is locked or missing, a useless passphrase stays in it.
      if (wallet.kind === 'keychain')
        await import('./keychain.ts').then(({ removeFromKeychain }) => removeFromKeychain(name)).catch(() => undefined)
      return shown(wallet)
    },
  }
}

const shown = ({ name, address, kind, file }: NamedWallet): NamedWallet => ({ name, address, kind, file })

function keyWalletOf(name: string): KeyWallet & NamedWallet {
  const wallet: WalletContent & NamedWallet = readWallet(name)
  if (wallet.kind !== 'command' && wallet.kind !== 'ledger') return wallet
  const where = wallet.kind === 'ledger' ? 'it is in a Ledger, and never leaves it' : 'a program signs for it'
  throw usage(`the key of the wallet ${name} is not here: ${where}`, { param: '<name>' })
}

async function newKey(fromPhrase: boolean): Promise<{ words: string | null; seed: Uint8Array }> {
  if (!fromPhrase) return { words: null, seed: randomBytes(SEED_BYTES) }
  const { newPhrase, seedOfPhrase } = await import('./recovery-phrase.ts')
  const words = newPhrase()
  return { words, seed: await seedOfPhrase(words, 0) }
}

async function store(name: string, seed: Uint8Array, keychain: boolean, ui: Asking): Promise<NamedWallet> {
  const passphrase = keychain
    ? await (await import('./keychain.ts')).storeInKeychain(name)
    : await newPassphrase(name, ui)
  const content = await sealedWallet(keychain ? 'keychain' : 'passphrase', seed, passphrase)
  seed.fill(0)
  return writeWallet(name, content)
}

async function commandContent({ address, command }: Extract<ImportedKey, { command: string }>): Promise<WalletContent> {
  if (!isAddress(address))
    throw usage('--address must be the public key that the program signs for', { param: '--address' })
  const { signerCommand } = await import('./signer-command.ts')
  return { version: 1, kind: 'command', address, command: signerCommand(command) }
}

async function ledgerContent(url: string): Promise<WalletContent> {
  const { ledgerSigner } = await import('./ledger/signer.ts')
  const { address } = await ledgerSigner(url, () => undefined)
  return { version: 1, kind: 'ledger', address, url }
}
