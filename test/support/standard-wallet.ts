/** A wallet by the Wallet Standard for pages in a browser: a script that signs with one key, as its options say. */
import type { Keypair } from '@solana/web3.js'

export interface StandardWalletOptions {
  name?: string
  features?: readonly ('solana:signTransaction' | 'solana:signAndSendTransaction' | 'solana:signMessage')[]
  versions?: readonly (number | 'legacy')[]
  /** Milliseconds after which it registers; at once, before the page, without. */
  late?: number
  /** Declines to sign that many times. */
  declines?: number
  /** Signs that many times only once the page's `approve()` is called. */
  holds?: number
  /** Addresses of accounts that it shows before its own. */
  others?: readonly string[]
}

/** Source of an init script. `window.sent` must be exposed for wallets that send. */
export function standardWallet(key: Keypair, options: StandardWalletOptions = {}): string {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), key.secretKey.subarray(0, 32)])
  const { name = 'Test Wallet', features = ['solana:signTransaction'], versions = ['legacy', 0], late = 0 } = options
  const given = {
    name,
    features,
    versions,
    late,
    declines: options.declines ?? 0,
    holds: options.holds ?? 0,
    others: options.others ?? [],
    address: key.publicKey.toBase58(),
    publicKey: [...key.publicKey.toBytes()],
    pkcs8: [...pkcs8],
  }
  return `(${inPage.toString()})(${JSON.stringify(given)})`
}

/** Runs in the page; it may use nothing of this module. */
function inPage(given: {
  name: string
  features: string[]
  versions: (number | string)[]
  late: number
  declines: number
  holds: number
  others: readonly string[]
  address: string
  publicKey: number[]
  pkcs8: number[]
}): void {
  // biome-ignore lint/suspicious/noExplicitAny: the window of a page, whose types this program does not have.
  const page = globalThis as any
  const chains = ['solana:mainnet', 'solana:devnet', 'solana:localnet']
  const key = crypto.subtle.importKey('pkcs8', Uint8Array.from(given.pkcs8), 'Ed25519', false, ['sign'])
  const account = Object.freeze({
    address: given.address,
    publicKey: Uint8Array.from(given.publicKey),
    chains,
    features: given.features,
  })
  const calls: object[] = []
  page.walletCalls = calls
  let left = given.declines
  let held = given.holds
  let accounts: (typeof account)[] = []
  const decideAbout = async (call: object) => {
    calls.push(call)
    if (held-- > 0) await new Promise<void>((approve) => Object.assign(page, { approve }))
    if (left-- > 0) throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
  }
  const sign = async (input: { transaction: Uint8Array; chain: string; account: unknown }) => {
    const out = new Uint8Array(input.transaction)
    const signers = out[0] as number
    const message = out.subarray(1 + 64 * signers)
    const version = (message[0] as number) & 128 ? (message[0] as number) & 127 : 'legacy'
    await decideAbout({ chain: input.chain, isOwnAccount: input.account === account, bytes: out.length, version })
    const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', await key, message))
    // The place of the key among the signers, whose keys stand after the header.
    const start = version === 'legacy' ? 4 : 5
    for (let place = 0; place < signers; place++) {
      const at = start + 32 * place
      if (given.publicKey.every((byte, n) => byte === message[at + n])) out.set(signature, 1 + 64 * place)
    }
    return { out, signature }
  }
  type Input = { transaction: Uint8Array; chain: string; account: unknown }
  const all: Record<string, object> = {
    'solana:signTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: given.versions,
      signTransaction: (...inputs: Input[]) =>
        Promise.all(inputs.map(async (input) => ({ signedTransaction: (await sign(input)).out }))),
    },
    'solana:signAndSendTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: given.versions,
      signAndSendTransaction: (...inputs: Input[]) =>
        Promise.all(
          inputs.map(async (input) => {
            const { out, signature } = await sign(input)
            await page.sent(btoa(Array.from(out, (byte) => String.fromCharCode(byte)).join('')))
            return { signature }
          }),
        ),
    },
  }
  all['solana:signMessage'] = {
    version: '1.0.0',
    signMessage: (...inputs: { account: unknown; message: Uint8Array }[]) =>
      Promise.all(
        inputs.map(async ({ account: by, message }) => {
          await decideAbout({ isOwnAccount: by === account, text: new TextDecoder().decode(message) })
          const signature = await crypto.subtle.sign('Ed25519', await key, Uint8Array.from(message))
          return { signedMessage: message, signature: new Uint8Array(signature) }
        }),
      ),
  }
  const wallet = {
    version: '1.0.0',
    name: given.name,
    icon: `data:image/svg+xml;base64,${btoa('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path fill="#64a" d="M0 0h1v1H0z"/></svg>')}`,
    chains,
    features: {
      'standard:connect': {
        version: '1.0.0',
        connect: async () => {
          accounts = [...given.others.map((address) => ({ ...account, address })), account]
          return { accounts }
        },
      },
      'standard:events': { version: '1.0.0', on: () => () => {} },
      ...Object.fromEntries(given.features.map((feature) => [feature, all[feature]])),
    },
    get accounts() {
      return accounts
    },
  }
  type Register = { register(each: typeof wallet): void }
  const callback = ({ register }: Register) => register(wallet)
  const start = () => {
    page.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }))
    page.addEventListener('wallet-standard:app-ready', (event: CustomEvent<Register>) => callback(event.detail))
  }
  if (given.late > 0) setTimeout(start, given.late)
  else start()
}
