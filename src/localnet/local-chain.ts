/** The embedded chain: reads use the runtime, the index and the journal; changes go through the ledger. */
import type { ChainAccount } from '../solana/accounts.ts'
import { addressBytes } from '../solana/addresses.ts'
import { solText } from '../solana/amounts.ts'
import { BLOCKHASH_SLOTS, type Commitment } from '../solana/constants.ts'
import { TransactionRefused } from '../solana/execution.ts'
import { feeOfMessage } from '../solana/fees.ts'
import { decodeMessage, decodeOnce } from '../solana/messages.ts'
import { CLOCK_SYSVAR, LOADERS } from '../solana/program-ids.ts'
import { entryOf } from './account-index.ts'
import { type Balances, balancesOf } from './balances.ts'
import { slotAtCommitment } from './chain-settings.ts'
import type { Tick } from './clock.ts'
import {
  type CheckedTransaction,
  checkTransaction,
  type ExecutionParts,
  feesOnlyOrRefused,
  isOverLoadLimit,
  loadedSizeOf,
  runAt,
} from './execution.ts'
import { notRun } from './fees-only.ts'
import type { ChainJournal } from './journal.ts'
import { type ChainParts, Ledger } from './ledger.ts'
import { nonceAccountOf, replaceBlockhash } from './nonces.ts'
import { wasExecuted } from './runtime.ts'
import type {
  BundleOutcome,
  ChainListener,
  LandedTransaction,
  LocalChain,
  LocalnetStatus,
  SignatureInfo,
  SimulatedRun,
  SimulateOptions,
  TransactionLanding,
} from './types.ts'

export class EmbeddedChain implements LocalChain {
  readonly genesisHash: string
  readonly #parts: ChainParts
  readonly #ledger: Ledger

  constructor(parts: ChainParts) {
    this.genesisHash = parts.genesisHash
    this.#parts = parts
    this.#ledger = new Ledger(parts)
  }

  slot(commitment: Commitment = 'processed'): number {
    const { clock, alpenglowSlot } = this.#parts
    return slotAtCommitment(clock.slot(), commitment, alpenglowSlot)
  }

  alpenglowSlot(): number | null {
    return this.#parts.alpenglowSlot
  }

  unixTimestamp(): number {
    return Math.floor(this.#parts.clock.ms() / 1000)
  }

  slotMs(): number {
    return this.#parts.clock.slotMs
  }

  blockTime(slot: number): number {
    return this.#journal.blockTimeOf(slot) ?? this.#parts.clock.startOf(slot)
  }

  blockhashOf(slot: number): string {
    return this.#parts.blockhashes.text(slot)
  }

  latestBlockhash(commitment: Commitment = 'processed'): { blockhash: string; lastValidBlockHeight: number } {
    this.#ledger.assertOpen()
    const slot = this.slot(commitment)
    return { blockhash: this.blockhashOf(slot), lastValidBlockHeight: slot + BLOCKHASH_SLOTS }
  }

  isBlockhashValid(blockhash: string): boolean {
    return this.#parts.blockhashes.slotOf(blockhash, this.slot()) !== null
  }

  advance(seconds: number): void {
    this.#ledger.advance(seconds)
  }

  account(address: string): ChainAccount | null {
    this.#ledger.assertOpen()
    // The runtime sets its clock only when a transaction runs, so a read between runs has to update it first.
    if (address === CLOCK_SYSVAR) this.#ledger.enterSlot()
    return this.#parts.runtime.get(address)
  }

  accountsOwnedBy(program: string): Iterable<readonly [string, ChainAccount]> {
    if (LOADERS.some((loader) => loader === program)) this.#parts.runtime.loadAll()
    return this.#existing(this.#parts.index.ownedBy(program))
  }

  tokenAccountsOf(wallet: string): Iterable<readonly [string, ChainAccount]> {
    return this.#existing(this.#parts.index.ofWallet(wallet))
  }

  tokenAccountsOfMint(mint: string): Iterable<readonly [string, ChainAccount]> {
    return this.#existing(this.#parts.index.ofMint(mint))
  }

  balances(addresses: readonly string[]): Balances {
    this.#ledger.assertOpen()
    return balancesOf(addresses, (address) => this.#parts.index.get(address))
  }

  minimumBalance(space: number): bigint {
    return this.#parts.runtime.minimumBalance(space)
  }

  feeForMessage(bytes: Uint8Array): bigint | null {
    const message = decodeMessage(bytes)
    const usable =
      this.isBlockhashValid(message.recentBlockhash) ||
      nonceAccountOf(message, (address) => this.account(address)) !== null
    return usable ? feeOfMessage(message) : null
  }

  send(raw: Uint8Array): LandedTransaction {
    return this.#ledger.send(raw)
  }

  sendBundle(raws: readonly Uint8Array[]): BundleOutcome {
    return this.#ledger.sendBundle(raws)
  }

  together<T>(work: () => T): Promise<T> {
    return this.#ledger.together(work)
  }

  simulate(raw: Uint8Array, options: SimulateOptions = {}): SimulatedRun {
    const tick = this.#ledger.enterSlot()
    return simulate(this.#ledger.execution, raw, tick, options, this.latestBlockhash())
  }

  airdrop(address: string, lamports: bigint): string {
    addressBytes(address)
    const { index, faucet } = this.#parts
    const balance = index.get(faucet.address)?.lamports ?? 0n
    const held = index.get(address)
    const least = held === undefined ? this.minimumBalance(0) : 1n
    if (lamports < least) {
      throw new RangeError(
        `An airdrop to ${address} must be at least ${solText(least)}${held === undefined ? ', the rent of a new account' : ''}, got ${solText(lamports)}`,
      )
    }
    if (lamports + 5000n + this.minimumBalance(0) > balance) {
      throw new RangeError(
        `The faucet has ${solText(balance)} left, which is not enough for an airdrop of ${solText(lamports)}`,
      )
    }
    const { blockhash } = this.latestBlockhash()
    const landed = this.send(faucet.transfer(address, lamports, blockhash, this.transactionCount()))
    if (landed.err !== null) throw new TransactionRefused(landed.err, landed)
    return landed.signature
  }

  setAccount(address: string, account: ChainAccount): void {
    this.#ledger.setAccount(address, account)
  }

  transaction(signature: string): LandedTransaction | null {
    return this.#journal.transaction(signature)
  }

  landingOf(signature: string): TransactionLanding | null {
    return this.#journal.landingOf(signature)
  }

  signaturesFor(address: string, options: { limit: number; before?: string; until?: string }): SignatureInfo[] {
    return this.#journal.signaturesFor(address, options)
  }

  transactionsInSlot(slot: number): LandedTransaction[] {
    return this.#journal.transactionsInSlot(slot)
  }

  slotsWithTransactions(from: number, to: number, limit: number): number[] {
    return this.#journal.slotsWithTransactions(from, to, limit)
  }

  transactionCount(): number {
    return this.#journal.transactionCount()
  }

  prioritizationFees(addresses: readonly string[]): { slot: number; prioritizationFee: number }[] {
    return this.#journal.prioritizationFees(addresses, this.slot())
  }

  subscribe(listener: ChainListener): () => void {
    return this.#ledger.subscribe(listener)
  }

  copyJournal(): string {
    return this.#journal.copy()
  }

  status(): LocalnetStatus {
    const { index, report, dataDir, settings, alpenglowSlot } = this.#parts
    // The programs that are loaded for the report add accounts.
    const { programs, warnings } = report()
    return {
      slot: this.slot(),
      unixTimestamp: this.unixTimestamp(),
      transactionCount: this.transactionCount(),
      accountCount: index.size,
      programs,
      warnings,
      dataDir,
      settings,
      alpenglowSlot,
    }
  }

  close(): void {
    this.#ledger.close()
  }

  /** The journal; throws once the chain has stopped or is closed. */
  get #journal(): ChainJournal {
    return this.#ledger.journal
  }

  *#existing(addresses: readonly string[]): Iterable<readonly [string, ChainAccount]> {
    for (const address of addresses) {
      const account = this.account(address)
      if (account !== null) yield [address, account]
    }
  }
}

/** Simulates at the slot that the runtime has entered. Throws TransactionRefused when the transaction cannot be run. */
function simulate(
  parts: ExecutionParts,
  raw: Uint8Array,
  tick: Tick,
  { sigVerify = false, replaceRecentBlockhash = false, accounts = [], balances = false }: SimulateOptions,
  latest: { blockhash: string; lastValidBlockHeight: number },
): SimulatedRun {
  const { runtime, index } = parts
  const original = decodeOnce(raw)
  const transaction = replaceRecentBlockhash ? replaceBlockhash(original, latest.blockhash) : original
  const checked = checkTransaction(parts, transaction, tick, { sigVerify, anyBlockhash: replaceRecentBlockhash })
  runtime.load(checked.accountKeys)
  const loadedDataSize = loadedSizeOf(parts, checked)
  const { execution: run, after } = isOverLoadLimit(checked, () => loadedDataSize)
    ? { execution: notRun('MaxLoadedAccountsDataSizeExceeded'), after: () => new Map<string, ChainAccount>() }
    : runAt(parts, checked, tick.slot, sigVerify, (run, verifies) => runtime.simulate(run, verifies))
  const execution = wasExecuted(run) ? run : feesOnlyOrRefused(parts, checked, run, sigVerify)
  const failed = execution.err !== null
  // Reading the accounts takes as long as the run, so it is done only on request.
  const states = failed || (accounts.length === 0 && !balances) ? new Map<string, ChainAccount>() : after()
  const written = new Set(checked.accountKeys.filter((_, i) => checked.writable[i]))
  const stateOf = (address: string): ChainAccount | null => {
    const state = written.has(address) ? (states.get(address) ?? null) : runtime.get(address)
    return state === null || state.lamports === 0n ? null : state
  }
  const fee = feeOfMessage(transaction.message)
  const entry = (address: string) => index.get(address)
  const entryAfter = (address: string) => {
    if (!written.has(address)) return entry(address)
    const state = stateOf(address)
    return state === null ? undefined : entryOf(state)
  }
  return {
    ...execution,
    // A validator returns no accounts for a failed run.
    accounts: accounts.map((address) => (failed ? null : stateOf(address))),
    replacementBlockhash: replaceRecentBlockhash ? latest : null,
    fee,
    loadedDataSize,
    balances: balances ? movedBalances(checked, failed ? fee : null, entry, entryAfter) : null,
  }
}

type EntryReader = Parameters<typeof balancesOf>[1]

/** Balances before and after a run; one that failed only pays `failureFee`. */
function movedBalances(
  { accountKeys }: CheckedTransaction,
  failureFee: bigint | null,
  entry: EntryReader,
  entryAfter: EntryReader,
): { before: Balances; after: Balances } {
  const before = balancesOf(accountKeys, entry)
  if (failureFee === null) return { before, after: balancesOf(accountKeys, entryAfter) }
  const lamports = before.lamports.map((held, i) => (i === 0 ? held - failureFee : held))
  return { before, after: { lamports, tokens: before.tokens } }
}
