/** Types of the embedded chain that the runtime side and the JSON-RPC side share. */
import type { ChainAccount } from '../solana/accounts.ts'
import type { ClusterSettings } from '../solana/cluster-settings.ts'
import type { Commitment, Consensus } from '../solana/constants.ts'
import type { Execution, TokenBalance, TransactionErrorJson } from '../solana/execution.ts'
import type { Balances } from './balances.ts'

/** A transaction that landed, with success or an error; it is stored permanently. */
export interface LandedTransaction extends Execution {
  signature: string
  slot: number
  /** Index among the transactions of its slot. */
  index: number
  /** Time of its slot in Unix seconds. */
  blockTime: number
  /** Wire format as it was sent. */
  raw: Uint8Array
  /** Lamports, priority fee included. */
  fee: bigint
  /** Addresses in the order of static, loaded writable and loaded readonly keys. */
  accountKeys: string[]
  loadedAddresses: { writable: string[]; readonly: string[] }
  preBalances: bigint[]
  postBalances: bigint[]
  preTokenBalances: TokenBalance[]
  postTokenBalances: TokenBalance[]
}

/** Where a transaction landed, and its error. */
export type TransactionLanding = Pick<LandedTransaction, 'slot' | 'err'>

export interface SimulatedRun extends Execution {
  /** States after the run of the requested accounts, in their order; null for accounts that would not exist. */
  accounts: (ChainAccount | null)[]
  /** The blockhash that replaced the message's own; null when it was not replaced. */
  replacementBlockhash: { blockhash: string; lastValidBlockHeight: number } | null
  /** Lamports, priority fee included; null when no fee would be charged, because the transaction cannot land. */
  fee: bigint | null
  /** Bytes of account data that were loaded, as SIMD-0186 counts them. */
  loadedDataSize: number
  /** Balances before and after the run, if they were requested. */
  balances: { before: Balances; after: Balances } | null
}

export interface SimulateOptions {
  sigVerify?: boolean
  replaceRecentBlockhash?: boolean
  /** Addresses whose state after the run is requested. */
  accounts?: readonly string[]
  /** Whether the balances before and after the run are requested; reading them takes as long as the run. */
  balances?: boolean
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
  /** One sentence for each part of the program cache or the journal that could not be loaded. */
  warnings: string[]
  dataDir: string
  settings: ClusterSettings
  alpenglowSlot: number | null
}

export type ChainListener = {
  landed?(transaction: LandedTransaction, changed: ReadonlyMap<string, ChainAccount | null>): void
}

/** The embedded chain. State changes are durable when a method returns, or when its promise resolves. */
export interface LocalChain {
  readonly genesisHash: string
  /** Returns the slot at a commitment; slots follow the clock even when there are no requests. */
  slot(commitment?: Commitment): number
  /** Slot of the block from which the chain changed to Alpenglow, which finalizes the next blocks; null on Tower. */
  alpenglowSlot(): number | null
  /** Returns the chain's time in Unix seconds. */
  unixTimestamp(): number
  /** Milliseconds of a slot now. */
  slotMs(): number
  blockTime(slot: number): number
  blockhashOf(slot: number): string
  latestBlockhash(commitment?: Commitment): { blockhash: string; lastValidBlockHeight: number }
  isBlockhashValid(blockhash: string): boolean
  /** Advances the clock and with it the slots. */
  advance(seconds: number): void

  account(address: string): ChainAccount | null
  /** Returns the accounts owned by a program from an index; the caller filters them. */
  accountsOwnedBy(program: string): Iterable<readonly [address: string, account: ChainAccount]>
  /** Returns a wallet's token accounts of both token programs from an index. */
  tokenAccountsOf(wallet: string): Iterable<readonly [address: string, account: ChainAccount]>
  /** Returns the token accounts of a mint from an index. */
  tokenAccountsOfMint(mint: string): Iterable<readonly [address: string, account: ChainAccount]>
  /** Returns the current balances of accounts. */
  balances(addresses: readonly string[]): Balances
  minimumBalance(space: number): bigint
  /** Returns the fee of a serialized message in lamports; null when its blockhash is not valid. */
  feeForMessage(message: Uint8Array): bigint | null

  /** Runs and lands a transaction. Throws TransactionRefused when a validator would drop it. */
  send(raw: Uint8Array): LandedTransaction
  /** Lands all transactions in one slot, in order, or none of them. */
  sendBundle(raws: readonly Uint8Array[]): BundleOutcome
  /**
   * Runs calls of the chain, such as a send, in one durable write with those of other requests. Settles as `work`
   * does, once the write is durable.
   */
  together<T>(work: () => T): Promise<T>
  /** Simulates a transaction. Throws TransactionRefused when it cannot be decoded or run. */
  simulate(raw: Uint8Array, options?: SimulateOptions): SimulatedRun
  /** Lands a transfer from the faucet. Returns its signature. */
  airdrop(address: string, lamports: bigint): string
  /** Overwrites an account durably; used for genesis data and tests. */
  setAccount(address: string, account: ChainAccount): void

  transaction(signature: string): LandedTransaction | null
  /** Returns where a transaction landed and its error, which is faster than reading all of it. */
  landingOf(signature: string): TransactionLanding | null
  /** Returns the transactions that mention an address, newest first. */
  signaturesFor(address: string, options: { limit: number; before?: string; until?: string }): SignatureInfo[]
  transactionsInSlot(slot: number): LandedTransaction[]
  /** Returns at most `limit` slots with transactions, in ascending order. */
  slotsWithTransactions(from: number, to: number, limit: number): number[]
  transactionCount(): number
  /**
   * Lowest priority fee per slot, in micro-lamports per compute unit, over the last 150 slots, oldest first; only
   * transactions that write-locked all addresses count.
   */
  prioritizationFees(addresses: readonly string[]): { slot: number; prioritizationFee: number }[]

  subscribe(listener: ChainListener): () => void
  /** Copies the journal as it is now to one file beside it, replacing an earlier copy, and returns the file's path. */
  copyJournal(): string
  status(): LocalnetStatus
  close(): void
}

export interface LocalChainOptions {
  /** Folder of the journal (`chain.db`); null for a chain in memory, which no other process can open. */
  dataDir: string | null
  /** Folder with `<program id>.so` files and `accounts/<address>.json`. */
  programsDir: string
  /** Current time in Unix milliseconds; injected in tests. */
  now?: () => number
  /** Settings instead of those of the program cache. */
  settings?: ClusterSettings
  /** Consensus instead of that of the settings. A chain on Alpenglow refuses Tower. */
  consensus?: Consensus | undefined
  /** Whether transactions need their signatures; true by default. */
  sigVerify?: boolean
}
