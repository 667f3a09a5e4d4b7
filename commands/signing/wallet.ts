/** Declares the local keypair as commands use it, and the content of a locally decoded transaction. */
import type { DescribedInstruction } from '../../src/solana/described-instructions.ts'
import type { MessageInstruction } from '../../src/solana/message-instructions.ts'
import type { PlaceAddresses } from '../../src/solana/squads/index.ts'

/** The user's keypair, which never leaves this process or its device. Transactions are base64 of the wire format. */
export interface Wallet {
  /** Writes a new keypair file (0600); false if the file exists, which is not changed. */
  make(file: string): Promise<boolean>
  /**
   * The public key of the keypair file, or of the Solana CLI's by default. Throws a usage problem that names the file.
   */
  address(file?: string): Promise<string>
  /**
   * Whether a person confirms each signature on a device, which may take longer than a blockhash lasts. Opens no key and
   * no device. Throws a usage problem that names a wallet which is missing.
   */
  isDevice(keypair?: string): Promise<boolean>
  /**
   * Signs a text of printable ASCII, which can be no transaction, as `offchainMessage` of src/solana says; check it with
   * `isTextSignedBy`. Throws a usage problem for another text.
   */
  signText(text: string, keypair?: string): Promise<SignedText>
  /** The key pair of a secret 32-byte seed, for an account that the command creates. */
  derive(seed: Uint8Array): Promise<{ address: string; secretKey: number[] }>
  /** Adds signatures and changes nothing else. Throws a usage problem for a keypair that is not a signer. */
  sign(transaction: string, keys: SigningKeys): Promise<SignedTransaction>
  /**
   * Joins the signatures of several copies of one transaction. Throws a usage problem that names a copy that does not
   * match.
   */
  combine(copies: readonly NamedTransaction[]): Promise<SignedTransaction>
  /** Whether two transactions have the same message except for the 32 bytes of the blockhash. */
  differsInBlockhashAlone(one: string, other: string): Promise<boolean>
  /** The associated token accounts of the wallets, derived here without the API. */
  tokenAccounts(mint: string, tokenProgram: string, wallets: readonly string[]): Promise<string[]>
  /** The account of a mint's Metaplex metadata, derived here without the API. */
  metadataAccount(mint: string): Promise<string>
  /** The position in a DAMM v2 pool whose NFT this is, derived here without the API. */
  positionAddress(nftMint: string): Promise<string>
  /** The accounts of a wallet's claim from the airdrop of a mint and count, derived here without the API. */
  claimAddresses(mint: string, airdropCount: number, claimer: string): Promise<ClaimAddresses>
  /** The address of the lock of a base, derived here without the API. */
  lockAddress(base: string): Promise<string>
  /** Null if the transactions propose exactly these acts, or what differs. Needs no API. */
  proposalDifference(asked: ProposedActs): Promise<string | null>
  /** The message of an act of the vault, base58, without limits and blockhash: what Squads' app imports. */
  vaultMessage(asked: Pick<ProposedActs, 'multisig' | 'vault' | 'index'>, act: string): Promise<string>
  /** The act as its execution runs it to simulate it: a member pays the fee, and the vault signs. Base64. */
  actPaidBy(asked: Pick<ProposedActs, 'multisig' | 'vault' | 'index'>, act: string, member: string): Promise<string>
  decode(transaction: string): Promise<TransactionContent>
  /** Accounts of lookup tables are `TABLE[place]`, unless `places` has their addresses. */
  describe(transaction: string, places?: PlaceAddresses): Promise<DescribedContent>
  /** Explains the `err` of a simulation or of a status. */
  explain(transaction: string, err: unknown, logs: readonly string[] | null): Promise<Explanation>
}
/** The vault of a multisig in whose name a command acts. */
export interface ActingVault {
  multisig: string
  vaultIndex: number
  /** Address of the vault, derived here: it pays, signs and owns what the act makes. */
  vault: string
  /** Who proposes, signs the proposal and pays its rent. */
  member: string
  /** Whether what is approved has a guard of the vault. */
  guardInside?: true
}
/** Acts of a vault, and the transactions that should propose them, all base64. */
export interface ProposedActs extends ActingVault {
  /** Number of the first act in the multisig; the others follow it. */
  index: string
  acts: readonly string[]
  creations: readonly string[]
}
/** The accounts that a claim of a wallet names. */
export interface ClaimAddresses {
  distributor: string
  claimStatus: string
  vault: string
  /** The wallet's associated token account. */
  tokenAccount: string
}
export interface SigningKeys {
  keypair?: string | undefined
  /** Secret keys that the API made for this transaction, 64 integers each. */
  secretKeys?: readonly (readonly number[])[] | undefined
  /** Whether the user's keypair signs; false signs only with `secretKeys`. */
  own?: boolean
  /** Whether `secretKeys` that are not signers are skipped; otherwise they are a failure. */
  skipsOthers?: boolean
  /** Which of several transactions it is, such as `2 of 3`, for the person at a device. */
  place?: string | undefined
  /**
   * Returns the transaction with a fresh blockhash, and with the signatures of other keys. A device that can calls it
   * once the person has approved; that transaction is then signed and returned instead.
   */
  refresh?: (() => Promise<string>) | undefined
}
interface SignedText {
  address: string
  /** Base58 of 64 bytes. */
  signature: string
}
/** A transaction, and the file that it was read from. */
export interface NamedTransaction {
  name: string
  transaction: string
}
export interface SignedTransaction {
  transaction: string
  /** The first signature, which is the transaction's id; null until its fee payer has signed. */
  signature: string | null
  signed: string[]
  missing: string[]
}
export interface TransactionContent {
  version: 'legacy' | 0 | 1
  signature: string | null
  fee_payer: string
  recent_blockhash: string
  /** The size in bytes. */
  size: number
  /**
   * The budget that a transaction of version 1 sets in its message; null for others, which have instructions for it.
   */
  config: MessageConfig | null
  signers: { address: string; signature: 'valid' | 'missing' | 'invalid' }[]
  instructions: MessageInstruction[]
}
export interface MessageConfig {
  /** Lamports, as digits, for the whole transaction; null is 0. */
  priority_fee: string | null
  /** Compute units; null is 0, with which nothing runs. */
  compute_unit_limit: number | null
  /** Bytes of accounts; null is 0, with which nothing loads. */
  loaded_accounts_data_size_limit: number | null
  /** Bytes; null is 32 KiB. */
  heap_size: number | null
}
/** A transaction with what its bytes show of each instruction. */
export interface DescribedContent extends Omit<TransactionContent, 'instructions'> {
  /** Lamports, including the priority fee. */
  fee: string
  /** The account of a durable nonce; with one, the transaction does not expire. */
  nonce_account: string | null
  instructions: DescribedInstruction[]
}
export interface Explanation {
  program: string | null
  name: string
  message: string
  hint: string | null
}
