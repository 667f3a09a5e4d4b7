/** The embedded chain in nouns: what the runtime keeps and what the JSON-RPC side reads. */
import type { ChainAccount } from '../solana/accounts.ts'
import type { Commitment } from '../solana/constants.ts'
import type { Execution, TokenBalance, TransactionErrorJson } from '../solana/execution.ts'

/** A transaction that landed, with success or an error; kept for good. */
export interface LandedTransaction extends Execution {
  signature: string
  slot: number
  /** Place among the transactions of its slot. */
  index: number
  /** Unix seconds. */
  blockTime: number
  /** Wire format, as it was sent. */
  raw: Uint8Array
  /** Lamports, priority fee included. */
  fee: bigint
  /** Static keys, then loaded writable, then loaded readonly. */
  accountKeys: string[]
  loadedAddresses: { writable: string[]; readonly: string[] }
  preBalances: bigint[]
  postBalances: bigint[]
  preTokenBalances: TokenBalance[]
  postTokenBalances: TokenBalance[]
}

export interface SimulatedRun extends Execution {
  /** Accounts as they would be, by address; null where one would not exist. Only those asked for. */
  accounts: (ChainAccount | null)[]
  /** All writable accounts of the message before and after, by address. */
  replacementBlockhash: { blockhash: string; lastValidBlockHeight: number } | null
}

export interface SimulateOptions {
  sigVerify?: boolean
  replaceRecentBlockhash?: boolean
  /** Addresses whose state after the run is wanted. */
  accounts?: readonly string[]
}

export interface SignatureInfo {
  signature: string
  slot: number
  err: TransactionErrorJson | null
  blockTime: number
}

export type BundleOutcome =
  | { landed: true; slot: number; signatures: string[] }
  | { landed: false; signature: string; err: TransactionErrorJson; logs: string[] }

export interface LocalnetStatus {
  slot: number
  unixTimestamp: number
  transactionCount: number
  accountCount: number
  programs: { id: string; name: string; loaded: boolean }[]
  /** What could not be loaded from the program cache or the journal, a sentence each. */
  warnings: string[]
  dataDir: string
}

export type ChainListener = {
  landed?(transaction: LandedTransaction, changed: ReadonlyMap<string, ChainAccount | null>): void
}

/** The embedded chain. Every method but `close` is synchronous: state changes are durable when it returns. */
export interface LocalChain {
  readonly genesisHash: string
  /** Slot at a commitment; slots follow the clock, whether or not anybody asks. */
  slot(commitment?: Commitment): number
  /** Unix seconds. */
  unixTimestamp(): number
  blockTime(slot: number): number
  blockhashOf(slot: number): string
  latestBlockhash(commitment?: Commitment): { blockhash: string; lastValidBlockHeight: number }
  isBlockhashValid(blockhash: string): boolean
  /** Moves the clock ahead, slots included. */
  advance(seconds: number): void

  account(address: string): ChainAccount | null
  /** Accounts owned by a program, from an index; the caller filters. */
  accountsOwnedBy(program: string): Iterable<readonly [address: string, account: ChainAccount]>
  /** Token accounts (both token programs) of a wallet, from an index. */
  tokenAccountsOf(wallet: string): Iterable<readonly [address: string, account: ChainAccount]>
  /** Token accounts of a mint, from an index. */
  tokenAccountsOfMint(mint: string): Iterable<readonly [address: string, account: ChainAccount]>
  minimumBalance(space: number): bigint
  /** Lamports for a serialized message; null when its blockhash is not valid. */
  feeForMessage(message: Uint8Array): bigint | null

  /** Runs and lands a transaction; throws TransactionRefused where a validator would drop it. */
  send(raw: Uint8Array): LandedTransaction
  /** All land in one slot, in order, or none does. */
  sendBundle(raws: readonly Uint8Array[]): BundleOutcome
  /** Throws TransactionRefused for what cannot be decoded or run at all. */
  simulate(raw: Uint8Array, options?: SimulateOptions): SimulatedRun
  /** Lands a transfer from the faucet. Returns its signature. */
  airdrop(address: string, lamports: bigint): string
  /** Overwrites an account (genesis data, tests); durable. */
  setAccount(address: string, account: ChainAccount): void

  transaction(signature: string): LandedTransaction | null
  /** Newest first. */
  signaturesFor(address: string, options: { limit: number; before?: string; until?: string }): SignatureInfo[]
  transactionsInSlot(slot: number): LandedTransaction[]
  /** Slots with transactions, ascending, at most `limit`. */
  slotsWithTransactions(from: number, to: number, limit: number): number[]
  transactionCount(): number
  /** Micro-lamports per compute unit paid in the recent 150 slots, oldest first; only those that write-locked all addresses. */
  prioritizationFees(addresses: readonly string[]): { slot: number; prioritizationFee: number }[]

  subscribe(listener: ChainListener): () => void
  status(): LocalnetStatus
  close(): void
}

export interface LocalChainOptions {
  /** Folder of the journal (`chain.db`). */
  dataDir: string
  /** Folder with `<program id>.so` files and `accounts/<address>.json`. */
  programsDir: string
  /** Unix milliseconds; injected in tests. */
  now?: () => number
}
