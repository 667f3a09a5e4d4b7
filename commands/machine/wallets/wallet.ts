/** Gives the user's own keypair: its address, its signatures, and transactions decoded without a network call. */

import { explainTransactionError } from '../../../src/chain/errors/index.ts'
import { KNOWN_PROGRAMS } from '../../../src/chain/errors/programs.ts'
import { addressOfKey, openDeriver } from '../../../src/chain/programs/derived-addresses.ts'
import { decodeTransaction, namesIn } from '../../../src/chain/sending/transactions.ts'
import { keyPairFrom } from '../../../src/chain/signer/keypair-file.ts'
import { ApiError } from '../../../src/platform/errors.ts'
import { isSameButBlockhash } from '../../../src/solana/blockhashes.ts'
import type { DecodedMessage } from '../../../src/solana/decoded-message.ts'
import { type DecodedTransaction, isWritable, signatureOffset } from '../../../src/solana/messages.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { type KeyPair, keyPairOf, signatureHolds } from '../../../src/solana/signatures.ts'
import type { TransactionConfig } from '../../../src/solana/transaction-config.ts'
import type { MessageConfig, SignedTransaction, SigningKeys, TransactionContent, Wallet } from '../../signing/wallet.ts'
import { failure, usage } from '../../ui/problem.ts'
import { isWalletName } from '../../wallet/names.ts'
import { combineSignatures } from './combined-signatures.ts'
import { keypairPath, makeKeypair, readKeypair } from './keypair-file.ts'
import type { Asking } from './passphrases.ts'
import { signedTransaction } from './signed-transaction.ts'
import type { TransactionSigner } from './unlocking.ts'

/**
 * `configured` is the file or named wallet of the settings, for commands without one; `ui` asks for passphrases of
 * named wallets.
 */
export function createWallet(
  configured: () => Promise<string | undefined> = async () => undefined,
  ui: SigningUi = NOBODY,
): Wallet {
  const read = new Map<string, TransactionSigner>()
  const local = async (requested: string | undefined): Promise<TransactionSigner> => {
    const chosen = requested ?? (await configured())
    const isNamed = chosen !== undefined && isWalletName(chosen)
    const place = isNamed ? `wallet ${chosen}` : keypairPath(chosen)
    const signer = read.get(place) ?? (isNamed ? await walletSigner(chosen, ui) : readKeypair(place))
    read.set(place, signer)
    return signer
  }
  return {
    make: async (file) => makeKeypair(file),
    address: async (requested) => (await local(requested)).address,
    async derive(seed) {
      const { address, publicKey } = keyPairOf(seed)
      return { address, secretKey: [...seed, ...publicKey] }
    },
    async sign(
      transaction,
      { keypair, secretKeys = [], own = true, skipsOthers = false }: SigningKeys,
    ): Promise<SignedTransaction> {
      const returned = secretKeys.map((numbers) =>
        keyPairFrom(numbers, (what) => failure(`a secret key of the answer cannot be used: it ${what}`)),
      )
      return withSignatures(decodeTransaction(transaction), own ? await local(keypair) : undefined, {
        returned,
        skipsOthers,
      })
    },
    combine: async (copies) => combineSignatures(copies),
    async differsInBlockhashAlone(one, other) {
      return isSameButBlockhash(decodeTransaction(one), decodeTransaction(other))
    },
    async tokenAccounts(mint, tokenProgram, wallets) {
      const [{ PublicKey }, deriver] = await Promise.all([import('@solana/web3.js'), openDeriver()])
      const [token, program] = [new PublicKey(mint), new PublicKey(tokenProgram)]
      return wallets.map((wallet) => addressOfKey(deriver.tokenAccount(token, new PublicKey(wallet), program)))
    },
    async metadataAccount(mint) {
      const [{ PublicKey }, deriver] = await Promise.all([import('@solana/web3.js'), openDeriver()])
      const program = new PublicKey(PROGRAMS.tokenMetadata.id)
      const seeds = [Buffer.from('metadata'), program.toBytes(), new PublicKey(mint).toBytes()]
      return addressOfKey(deriver.find(seeds, program)[0])
    },
    async claimAddresses(mint, airdropCount, claimer) {
      const derived = await import('../../../src/chain/programs/merkle-distributor/addresses.ts')
      const distributor = await derived.distributorAddress({ mint, airdropCount })
      return {
        distributor,
        claimStatus: await derived.claimStatusAddress(distributor, claimer),
        vault: await derived.tokenAccountAddress(mint, distributor),
        tokenAccount: await derived.tokenAccountAddress(mint, claimer),
      }
    },
    decode: async (transaction) => contentOf(decodeTransaction(transaction)),
    async describe(transaction) {
      const { describedContent } = await import('./described-content.ts')
      const decoded = decodeTransaction(transaction)
      return describedContent(contentOf(decoded), decoded.message)
    },
    async explain(transaction, err, logs) {
      return explainTransactionError(err, { logs, ...contextOf(transaction) })
    },
  }
}

type SigningUi = Asking & { note(text: string): void }

const NOBODY: SigningUi = {
  interactive: false,
  askSecret: async () => {
    throw new Error('there is no terminal to ask on')
  },
  note: () => undefined,
}

/** Loaded on use, because most keys are files. */
async function walletSigner(name: string, ui: SigningUi): Promise<TransactionSigner> {
  const { namedSigner } = await import('./unlocking.ts')
  return namedSigner(name, ui)
}

/** Adds the signatures at their positions and leaves the message unchanged. */
async function withSignatures(
  decoded: DecodedTransaction,
  own: TransactionSigner | undefined,
  { returned, skipsOthers }: { returned: readonly KeyPair[]; skipsOthers: boolean },
): Promise<SignedTransaction> {
  const { message, messageBytes } = decoded
  const signers = message.keys.slice(0, message.signers)
  const raw = Uint8Array.from(decoded.raw)
  const put = async ({ address, sign }: TransactionSigner): Promise<boolean> => {
    const place = signers.indexOf(address)
    if (place >= 0) raw.set(await sign(messageBytes), signatureOffset(raw, place))
    return place >= 0
  }
  for (const pair of returned) {
    if (!(await put(pair)) && !skipsOthers)
      throw failure(`the answer holds the secret key of ${pair.address}, which is not a signer`)
  }
  if (own !== undefined && !(await put(own))) {
    throw usage(`${own.address} is not a signer of this transaction; its signers are ${signers.join(', ')}`, {
      param: '--keypair',
      next: 'give the keypair or wallet of one of them with -k',
    })
  }
  return signedTransaction(raw)
}

function contextOf(transaction: string) {
  try {
    return namesIn(decodeTransaction(transaction).message)
  } catch (error) {
    if (error instanceof ApiError) return {}
    throw error
  }
}

function contentOf(decoded: DecodedTransaction): TransactionContent {
  const { message, signatures, raw } = decoded
  const accounts = accountsInMessage(message)
  return {
    version: message.version,
    signature: isSigned(signatures[0]) ? decoded.signature : null,
    fee_payer: message.keys[0] ?? '',
    recent_blockhash: message.recentBlockhash,
    size: raw.length,
    config: message.config && configOf(message.config),
    signers: message.keys.slice(0, message.signers).map((address, i) => ({
      address,
      signature: !isSigned(signatures[i]) ? 'missing' : signatureHolds(decoded, i) ? 'valid' : 'invalid',
    })),
    instructions: message.instructions.map(({ programIdIndex, accounts: used, data }) => {
      const program = message.keys[programIdIndex] ?? ''
      return {
        program,
        name: Object.hasOwn(KNOWN_PROGRAMS, program) ? (KNOWN_PROGRAMS[program]?.name ?? null) : null,
        accounts: [...used].map((index) => accounts[index] ?? unreadable(index)),
        data: Buffer.from(data).toString('hex'),
      }
    }),
  }
}

const configOf = (config: TransactionConfig): MessageConfig => ({
  priority_fee: config.priorityFeeLamports === null ? null : String(config.priorityFeeLamports),
  compute_unit_limit: config.computeUnitLimit,
  loaded_accounts_data_size_limit: config.loadedAccountsDataSizeLimit,
  heap_size: config.heapSize,
})

function unreadable(index: number): never {
  throw new Error(`the transaction has no account ${index}`)
}

const isSigned = (signature: Uint8Array | undefined) => signature?.some((byte) => byte !== 0) === true

/**
 * The message's own accounts, then those of lookup tables, writable ones first, each as table and index, because the
 * tables are on chain.
 */
function accountsInMessage(message: DecodedMessage): TransactionContent['instructions'][number]['accounts'] {
  const lookedUp = (writable: boolean) =>
    message.lookups.flatMap((lookup) =>
      [...(writable ? lookup.writable : lookup.readonly)].map((place) => ({
        address: `${lookup.table}[${place}]`,
        signer: false,
        writable,
      })),
    )
  const own = message.keys.map((address, i) => ({
    address,
    signer: i < message.signers,
    writable: isWritable(message, 0, i),
  }))
  return [...own, ...lookedUp(true), ...lookedUp(false)]
}
