/** Finds the wallets of this browser by the Wallet Standard, connects one, and has it sign. */
import { equalBytes } from './bytes.ts'
import { foreignWords, PageFault } from './page-fault.ts'
import type { MessageVersion } from './planned-transaction.ts'
import { base58Of, keyOfAddress } from './program-addresses.ts'

interface StandardAccount {
  readonly address: string
  readonly features: readonly string[]
  readonly chains: readonly string[]
}

interface StandardWallet {
  readonly name: string
  readonly icon: string
  readonly chains: readonly string[]
  readonly accounts: readonly StandardAccount[]
  readonly features: Readonly<Record<string, unknown>>
}

interface SigningFeature {
  supportedTransactionVersions?: readonly (number | string)[]
  signTransaction?(input: object): Promise<readonly { signedTransaction: Uint8Array }[]>
  signAndSendTransaction?(input: object): Promise<readonly { signature: Uint8Array }[]>
}

/** A wallet in the form that the page shows. */
export interface PageWallet {
  name: string
  /** A data URL of a picture, or null. */
  icon: string | null
  connect(): Promise<ConnectedWallet>
}

export interface ConnectedWallet {
  name: string
  address: string
  version: MessageVersion
  /** Whether it returns the signed transaction, so that the page sends it. */
  canSign: boolean
  /** Signs as the signer with that index; the first one pays. */
  sign(transaction: Uint8Array, signer?: number): Promise<Uint8Array>
  /** Signs and sends through the wallet's own node; returns the signature in base58. */
  signAndSend(transaction: Uint8Array): Promise<string>
  disconnect(): Promise<void>
  /** Calls back when the wallet changes to another account, or withdraws its accounts (null). */
  onChange(changed: (address: string | null) => void): void
}

const SIGN = 'solana:signTransaction'
const SEND = 'solana:signAndSendTransaction'
const CONNECT = 'standard:connect'
const DISCONNECT = 'standard:disconnect'
const EVENTS = 'standard:events'
const MOST_WALLETS = 50

/**
 * Calls back with all usable wallets, at once and for each new one; wallets may load before or after the page.
 */
export function watchWallets(chain: string, changed: (wallets: readonly PageWallet[]) => void): void {
  const known = new Set<StandardWallet>()
  const tell = () => changed([...known].filter(isUsable).map((wallet) => pageWalletOf(wallet, chain)))
  const register = (...wallets: StandardWallet[]) => {
    for (const wallet of wallets) if (known.size < MOST_WALLETS) known.add(wallet)
    tell()
    return () => {
      for (const wallet of wallets) known.delete(wallet)
      tell()
    }
  }
  const api = Object.freeze({ register })
  window.addEventListener('wallet-standard:register-wallet', (event) => {
    const callback = (event as CustomEvent<unknown>).detail
    try {
      if (typeof callback === 'function') callback(api)
    } catch {
      // A wallet that fails to register is as if it were not there.
    }
  })
  tell()
  window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
}

const featureOf = (wallet: StandardWallet, name: string) => wallet.features[name] as SigningFeature | undefined
const signingFeature = (wallet: StandardWallet) => featureOf(wallet, SIGN) ?? featureOf(wallet, SEND)

function versionOf(wallet: StandardWallet): MessageVersion | null {
  const versions = signingFeature(wallet)?.supportedTransactionVersions ?? ['legacy']
  return versions.includes(0) ? 0 : versions.includes('legacy') ? 'legacy' : null
}

const isUsable = (wallet: StandardWallet) =>
  Boolean(wallet?.features?.[CONNECT]) &&
  versionOf(wallet) !== null &&
  (wallet.chains ?? []).some((chain) => chain.startsWith('solana:'))

function pageWalletOf(wallet: StandardWallet, chain: string): PageWallet {
  return {
    name: foreignWords(wallet.name, 40),
    icon: /^data:image\/(png|jpeg|webp|gif|svg\+xml)[;,]/.test(wallet.icon) ? wallet.icon : null,
    async connect() {
      const { connect } = wallet.features[CONNECT] as { connect(): Promise<{ accounts: readonly StandardAccount[] }> }
      const answer = await asked(() => connect())
      const account = accountOf(answer?.accounts ?? wallet.accounts)
      if (account === undefined) throw new PageFault('walletEmpty')
      return connectedWallet(wallet, account, chain)
    },
  }
}

const accountOf = (accounts: readonly StandardAccount[]) =>
  accounts.find(({ address }) => keyOfAddress(address) !== null)

/** Converts a wallet's error to a fault in words; a refusal by its owner is distinguished from a failure. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const { code, message, name } = Object(error) as { code?: unknown; message?: unknown; name?: unknown }
    const isRefusal = code === 4001 || /reject|denied|declin|cancel|closed/i.test(`${message} ${name}`)
    throw new PageFault(isRefusal ? 'walletRejected' : 'walletFailed', { words: foreignWords(message) || '?' })
  }
}

function connectedWallet(wallet: StandardWallet, account: StandardAccount, chain: string): ConnectedWallet {
  const [sign, send] = [featureOf(wallet, SIGN), featureOf(wallet, SEND)]
  return {
    name: foreignWords(wallet.name, 40),
    address: account.address,
    version: versionOf(wallet) ?? 'legacy',
    canSign: sign !== undefined,
    async sign(transaction, signer = 0) {
      const answer = await asked(async () => sign?.signTransaction?.({ account, transaction, chain }))
      const signed = answer?.[0]?.signedTransaction
      if (!(signed instanceof Uint8Array) && !ArrayBuffer.isView(signed)) throw new PageFault('walletUnsigned')
      const bytes = new Uint8Array(signed)
      if (bytes.length < 66 || equalBytes(signatureBytes(bytes, signer), new Uint8Array(64))) {
        throw new PageFault('walletUnsigned')
      }
      return bytes
    },
    async signAndSend(transaction) {
      const answer = await asked(async () => send?.signAndSendTransaction?.({ account, transaction, chain }))
      const signature = answer?.[0]?.signature
      if (signature?.length !== 64) throw new PageFault('walletUnsigned')
      return base58Of(new Uint8Array(signature))
    },
    async disconnect() {
      const feature = wallet.features[DISCONNECT] as { disconnect?(): Promise<void> } | undefined
      await feature?.disconnect?.().catch(() => {})
    },
    onChange(changed) {
      const feature = wallet.features[EVENTS] as
        | { on?(event: 'change', listener: (change: { accounts?: readonly StandardAccount[] }) => void): () => void }
        | undefined
      feature?.on?.('change', ({ accounts }) => {
        if (accounts === undefined) return
        const still = accounts.some(({ address }) => address === account.address)
        if (!still) changed(accountOf(accounts)?.address ?? null)
      })
    },
  }
}

/** The first signature of a transaction is the payer's, and identifies the transaction. */
const signatureBytes = (transaction: Uint8Array, signer = 0) => transaction.subarray(1 + 64 * signer, 65 + 64 * signer)

/** The identifying signature of a transaction, in base58. */
export const signatureOf = (transaction: Uint8Array): string => base58Of(signatureBytes(transaction))

/** The signed message of a transaction. */
export const messageOf = (transaction: Uint8Array): Uint8Array => transaction.subarray(1 + 64 * (transaction[0] ?? 1))
