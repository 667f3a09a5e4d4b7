/** Gives the user's own keypair: its address, its signatures, and transactions decoded without a network call. */

import { base58 } from '@scure/base'
import { explainTransactionError } from '../../../src/chain/errors/index.ts'
import { decodeTransaction, namesIn } from '../../../src/chain/sending/transactions.ts'
import { keyPairFrom } from '../../../src/chain/signer/keypair-file.ts'
import { ApiError } from '../../../src/platform/errors.ts'
import { isSameButBlockhash } from '../../../src/solana/blockhashes.ts'
import { feeOfMessage } from '../../../src/solana/fees.ts'
import { lifetimeOf } from '../../../src/solana/lifetimes.ts'
import { instructionsIn } from '../../../src/solana/message-instructions.ts'
import { type DecodedTransaction, signatureOffset } from '../../../src/solana/messages.ts'
import { associatedTokenAddress } from '../../../src/solana/program-addresses.ts'
import { isSignedAt, type KeyPair, keyPairOf, signatureHolds } from '../../../src/solana/signatures.ts'
import type { TransactionConfig } from '../../../src/solana/transaction-config.ts'
import type { MessageConfig, SignedTransaction, SigningKeys, TransactionContent, Wallet } from '../../signing/wallet.ts'
import { failure, usage } from '../../ui/problem.ts'
import { isDeviceUrl, isWalletName } from '../../wallet/names.ts'
import type { Asking } from '../passphrases.ts'
import { combineSignatures, signedTransaction } from './combined-signatures.ts'
import { keypairPath, makeKeypair, readKeypair } from './keypair-file.ts'
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
  /** The place of a signer, and its name if it is a wallet. */
  const placeOf = async (requested: string | undefined): Promise<{ place: string; name?: string }> => {
    const chosen = requested ?? (await configured())
    if (chosen === undefined || !isWalletName(chosen)) return { place: keypairPath(chosen) }
    return { place: `wallet ${chosen}`, name: chosen }
  }
  const local = async (requested: string | undefined): Promise<TransactionSigner> => {
    const { place, name } = await placeOf(requested)
    const signer = read.get(place) ?? (await (name === undefined ? signerAt(place, ui) : walletSigner(name, ui)))
    read.set(place, signer)
    return signer
  }
  return {
    make: async (file) => makeKeypair(file),
    address: async (requested) => (await local(requested)).address,
    async isDevice(requested) {
      const { place, name } = await placeOf(requested)
      if (name === undefined) return isDeviceUrl(place)
      const { readWallet } = await import('./wallet-files.ts')
      return readWallet(name).kind === 'ledger'
    },
    async signText(text, requested) {
      const { isTextSignedBy, offchainMessage, textFault } = await import('../../../src/solana/offchain-messages.ts')
      const fault = textFault(text)
      if (fault !== undefined) throw usage(`the text to sign ${fault}`)
      const { address, sign, signText } = await local(requested)
      const signature = await (signText?.(text) ?? sign(offchainMessage(text, address)))
      if (!isTextSignedBy(address, text, signature)) throw failure(`the signature of the text is not of ${address}`)
      return { address, signature: base58.encode(Uint8Array.from(signature)) }
    },
    async derive(seed) {
      const { address, publicKey } = keyPairOf(seed)
      return { address, secretKey: [...seed, ...publicKey] }
    },
    async sign(
      transaction,
      { keypair, secretKeys = [], own = true, skipsOthers = false, place, refresh }: SigningKeys,
    ): Promise<SignedTransaction> {
      const returned = secretKeys.map((numbers) =>
        keyPairFrom(numbers, (what) => failure(`a secret key of the answer cannot be used: it ${what}`)),
      )
      return withSignatures(decodeTransaction(transaction), own ? await local(keypair) : undefined, {
        returned,
        skipsOthers,
        place,
        refresh,
      })
    },
    combine: async (copies) => combineSignatures(copies),
    async differsInBlockhashAlone(one, other) {
      return isSameButBlockhash(decodeTransaction(one), decodeTransaction(other))
    },
    async tokenAccounts(mint, tokenProgram, wallets) {
      return wallets.map((wallet) => associatedTokenAddress(wallet, mint, tokenProgram))
    },
    async metadataAccount(mint) {
      const { metadataAddressOf } = await import('../../../src/chain/programs/tokens/metaplex.ts')
      return metadataAddressOf(mint)
    },
    async positionAddress(nftMint) {
      const { positionAddresses } = await import('../../../src/chain/programs/damm-v2/addresses.ts')
      return positionAddresses(nftMint).position
    },
    async claimAddresses(mint, airdropCount, claimer) {
      const derived = await import('../../../src/chain/programs/merkle-distributor/addresses.ts')
      const distributor = derived.distributorAddress({ mint, airdropCount })
      return {
        distributor,
        claimStatus: derived.claimStatusAddress(distributor, claimer),
        vault: derived.tokenAccountAddress(mint, distributor),
        tokenAccount: derived.tokenAccountAddress(mint, claimer),
      }
    },
    async lockAddress(base) {
      const { escrowAddress } = await import('../../../src/chain/programs/jupiter-lock/acts.ts')
      return escrowAddress(base)
    },
    async proposalDifference(asked) {
      return (await import('./proposal-check.ts')).proposalDifference(asked)
    },
    async actPaidBy(asked, act, member) {
      return (await import('./proposal-check.ts')).actPaidBy(asked, act, member)
    },
    async vaultMessage(asked, act) {
      return (await import('./proposal-check.ts')).vaultMessage(asked, act)
    },
    decode: async (transaction) => contentOf(decodeTransaction(transaction)),
    async describe(transaction, places) {
      const { describeMessage } = await import('../../../src/chain/instructions/describe.ts')
      const decoded = decodeTransaction(transaction)
      const { message } = decoded
      return {
        ...contentOf(decoded),
        fee: String(feeOfMessage(message)),
        nonce_account: lifetimeOf(message).nonceAccount,
        instructions: describeMessage(message, places),
      }
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

/** The signer of a keypair file or of the URL of a device. */
async function signerAt(place: string, ui: SigningUi): Promise<TransactionSigner> {
  if (!isDeviceUrl(place)) return readKeypair(place)
  const { ledgerSigner } = await import('./ledger/signer.ts')
  return ledgerSigner(place, ui.note)
}

/** Adds the signatures at their positions and leaves the message unchanged, but for a fresh blockhash of `refresh`. */
async function withSignatures(
  decoded: DecodedTransaction,
  own: TransactionSigner | undefined,
  { returned, skipsOthers, place, refresh }: Signatures,
): Promise<SignedTransaction> {
  const { message } = decoded
  const signers = message.keys.slice(0, message.signers)
  const stranger = returned.find(({ address }) => !signers.includes(address))
  if (stranger !== undefined && !skipsOthers)
    throw failure(`the answer holds the secret key of ${stranger.address}, which is not a signer`)
  if (own !== undefined && !signers.includes(own.address)) {
    throw usage(`${own.address} is not a signer of this transaction; its signers are ${signers.join(', ')}`, {
      param: '--keypair',
      next: 'give the keypair or wallet of one of them with -k',
    })
  }
  let signed = decoded
  const refreshed =
    refresh &&
    (async () => {
      const fresh = decodeTransaction(await refresh())
      if (!isSameButBlockhash(decoded, fresh)) throw failure('more than the blockhash was changed; nothing was signed')
      signed = fresh
      return fresh.messageBytes
    })
  // The person at a device comes first, because its blockhash may be replaced.
  const ownSignature = await own?.sign(decoded.messageBytes, { place, refresh: refreshed })
  const raw = Uint8Array.from(signed.raw)
  const put = (address: string, signature: Uint8Array) =>
    raw.set(signature, signatureOffset(raw, signers.indexOf(address)))
  for (const { address, sign } of returned) if (signers.includes(address)) put(address, sign(signed.messageBytes))
  if (own !== undefined && ownSignature !== undefined) put(own.address, ownSignature)
  return signedTransaction(raw)
}

interface Signatures extends Pick<SigningKeys, 'place' | 'refresh'> {
  returned: readonly KeyPair[]
  skipsOthers: boolean
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
  const { message, raw } = decoded
  return {
    version: message.version,
    signature: isSignedAt(decoded, 0) ? decoded.signature : null,
    fee_payer: message.keys[0] ?? '',
    recent_blockhash: message.recentBlockhash,
    size: raw.length,
    config: message.config && configOf(message.config),
    signers: message.keys.slice(0, message.signers).map((address, i) => ({
      address,
      signature: !isSignedAt(decoded, i) ? 'missing' : signatureHolds(decoded, i) ? 'valid' : 'invalid',
    })),
    instructions: instructionsIn(message),
  }
}

const configOf = (config: TransactionConfig): MessageConfig => ({
  priority_fee: config.priorityFeeLamports === null ? null : String(config.priorityFeeLamports),
  compute_unit_limit: config.computeUnitLimit,
  loaded_accounts_data_size_limit: config.loadedAccountsDataSizeLimit,
  heap_size: config.heapSize,
})
