/**
 * Changes of the embedded chain: each is executed, written to the journal and then reported to listeners, or the chain
 * stops.
 */

import type { ChainAccount } from '../solana/accounts.ts'
import { addressBytes } from '../solana/addresses.ts'
import type { ClusterSettings } from '../solana/cluster-settings.ts'
import { TransactionRefused } from '../solana/execution.ts'
import { decodeOnce, messageBytesOf } from '../solana/messages.ts'
import type { AccountIndex } from './account-index.ts'
import type { Blockhashes } from './blockhashes.ts'
import type { SlotClock, Tick } from './clock.ts'
import {
  type CheckedTransaction,
  checkTransaction,
  type ExecutedTransaction,
  type ExecutionParts,
  executeAndCommit,
} from './execution.ts'
import type { Faucet } from './faucet.ts'
import type { ChainJournal } from './journal.ts'
import type { Runtime } from './runtime.ts'
import type { BundleOutcome, ChainListener, LandedTransaction, LocalnetStatus } from './types.ts'

export interface ChainParts {
  journal: ChainJournal
  clock: SlotClock
  genesisHash: string
  blockhashes: Blockhashes
  runtime: Runtime
  index: AccountIndex
  faucet: Faucet
  /** Addresses of the accounts that exist at genesis. */
  genesis: ReadonlySet<string>
  /** The programs, and a sentence for each part of the program cache or the journal that could not be loaded. */
  report(): Pick<LocalnetStatus, 'programs' | 'warnings'>
  dataDir: string
  settings: ClusterSettings
  /** Slot of the block from which the chain changed to Alpenglow; null on Tower. */
  alpenglowSlot: number | null
}

/** The landed transactions of a group of works, and the accounts that are still to be written. */
interface Group {
  landed: ExecutedTransaction[]
  accounts: Map<string, ChainAccount | null>
}

export class Ledger {
  readonly execution: ExecutionParts
  readonly #parts: ChainParts
  readonly #listeners = new Set<ChainListener>()
  /** Reason why the chain no longer accepts calls; null while it is open. */
  #ended: string | null = null
  #place = { slot: -1, next: 0 }
  readonly #queue = new WorkQueue((works) => this.#runTogether(works))
  /** The group that runs now; null outside of one. */
  #group: Group | null = null

  constructor(parts: ChainParts) {
    const { journal, runtime, index, blockhashes } = parts
    this.#parts = parts
    this.execution = { runtime, index, blockhashes, hasTransaction: journal.hasTransaction }
    const last = journal.lastTransaction()
    if (last === null) return
    this.#place = { slot: last.slot, next: last.index + 1 }
  }

  advance(seconds: number): void {
    const { clock } = this.#parts
    const journal = this.journal
    clock.advance(seconds)
    this.#durably(() => this.#saveClock(journal))
  }

  send(raw: Uint8Array): LandedTransaction {
    const transaction = decodeOnce(raw)
    const tick = this.enterSlot()
    const { sigVerify } = this.#parts.runtime
    const checked = checkTransaction(this.execution, transaction, tick, { sigVerify })
    const landed = this.#land(this.execution, checked, tick, this.#placeIn(tick))
    this.#commitLanded([landed])
    return landed.transaction
  }

  /**
   * Runs `work`, such as a send, together with other work of this turn of the event loop. Settles as it does, once all
   * changes are durable in one write. If the write fails, the chain stops and each work rejects.
   */
  async together<T>(work: () => T): Promise<T> {
    this.assertOpen()
    return this.#queue.add(work)
  }

  #runTogether(works: Iterable<() => void>): void {
    const group: Group = { landed: [], accounts: new Map() }
    try {
      this.#durably(() => {
        this.#group = group
        for (const run of works) {
          run()
          // The results of the works before it are not durable then, and must not be reported.
          this.assertOpen()
        }
        for (const [address, account] of group.accounts) this.#saveAccount(address, account)
      })
    } finally {
      this.#group = null
    }
    for (const landing of group.landed) this.#notify(landing)
  }

  sendBundle(raws: readonly Uint8Array[]): BundleOutcome {
    const transactions = raws.map((raw) => decodeOnce(raw))
    const tick = this.enterSlot()
    const before = new Map<string, ChainAccount | null>()
    const landed: ExecutedTransaction[] = []
    const hasTransaction: ExecutionParts['hasTransaction'] = (candidate, usable) =>
      landed.some(({ transaction }) => isSameMessage(transaction.raw, candidate.raw)) ||
      this.execution.hasTransaction(candidate, usable)
    for (const transaction of transactions) {
      try {
        const parts = { ...this.execution, hasTransaction }
        const checked = checkTransaction(parts, transaction, tick, { sigVerify: true })
        this.#snapshot(checked, before)
        const run = this.#land(parts, checked, tick, this.#placeIn(tick) + landed.length)
        landed.push(run)
        const { err, logs } = run.transaction
        if (err === null) continue
        this.#undo(before)
        return { landed: false, signature: transaction.signature, err, logs }
      } catch (error) {
        this.#undo(before)
        if (!(error instanceof TransactionRefused)) throw error
        const logs = error.execution?.logs ?? []
        return { landed: false, signature: transaction.signature, err: error.err, logs }
      }
    }
    this.#commitLanded(landed)
    return { landed: true, slot: tick.slot, signatures: transactions.map(({ signature }) => signature) }
  }

  setAccount(address: string, account: ChainAccount): void {
    const { runtime, index } = this.#parts
    this.assertOpen()
    addressBytes(address)
    runtime.set(address, account)
    const stored = runtime.get(address)
    index.update(address, stored)
    this.#durably(() => this.#keepAccount(address, stored))
  }

  subscribe(listener: ChainListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    if (this.#ended === CHAIN_CLOSED) return
    const { journal } = this.#parts
    // Their senders have no answer yet.
    this.#queue.flush()
    try {
      if (this.#ended === null) journal.commit(() => this.#saveClock(journal))
    } finally {
      this.#ended = CHAIN_CLOSED
      this.#listeners.clear()
      journal.close()
    }
  }

  /** The journal; throws once the chain has stopped or is closed. */
  get journal(): ChainJournal {
    this.assertOpen()
    return this.#parts.journal
  }

  assertOpen(): void {
    if (this.#ended !== null) throw new Error(this.#ended)
  }

  /** Returns slot and time for a run that starts now, and advances the runtime to it. */
  enterSlot(): Tick {
    this.assertOpen()
    const tick = this.#parts.clock.tick()
    this.#parts.runtime.enter(tick)
    return tick
  }

  #placeIn({ slot }: Tick): number {
    if (this.#place.slot !== slot) this.#place = { slot, next: 0 }
    return this.#place.next
  }

  /** Commits landed transactions to the journal, and only then notifies listeners. */
  #commitLanded(landed: readonly ExecutedTransaction[]): void {
    const journal = this.journal
    this.#durably(() => {
      const accounts = new Map<string, ChainAccount | null>()
      for (const landing of landed) {
        journal.record(landing)
        for (const [address, account] of landing.changed) accounts.set(address, account)
      }
      for (const [address, account] of accounts) this.#keepAccount(address, account)
    })
    this.#place.next += landed.length
    for (const landing of landed) {
      journal.remember(landing.transaction)
      if (this.#group === null) this.#notify(landing)
      else this.#group.landed.push(landing)
    }
  }

  #notify({ transaction, changed }: ExecutedTransaction): void {
    for (const listener of this.#listeners) callListener(listener, transaction, changed)
  }

  #land(...run: Parameters<typeof executeAndCommit>): ExecutedTransaction {
    try {
      return executeAndCommit(...run)
    } catch (error) {
      throw error instanceof TransactionRefused ? error : this.#stop('a transaction could not be recorded', error)
    }
  }

  /** Runs a write in one database transaction (the group's, if one runs). A failure stops the chain. */
  #durably(write: () => void): void {
    const { journal } = this
    try {
      if (this.#group === null) journal.commit(write)
      else write()
    } catch (error) {
      throw this.#stop('its journal could not be written', error)
    }
  }

  /** Stops the chain, because the runtime or the clock is ahead of the journal and no change may build on it. */
  #stop(what: string, cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause)
    this.#ended ??= `The embedded chain in ${this.#parts.dataDir} stopped: ${what} (${reason}); open it again`
    return new Error(this.#ended, { cause })
  }

  /** Writes an account; within a group its last state is written once, at the end. */
  #keepAccount(address: string, account: ChainAccount | null): void {
    if (this.#group === null) this.#saveAccount(address, account)
    else this.#group.accounts.set(address, account)
  }

  #saveAccount(address: string, account: ChainAccount | null): void {
    const { journal } = this.#parts
    if (account === null && !this.#parts.genesis.has(address)) journal.dropAccount(address)
    else journal.saveAccount(address, account)
  }

  #saveClock(journal: ChainJournal): void {
    const { clock } = this.#parts
    clock.ms()
    journal.saveSetting('clock', JSON.stringify(clock.state()))
  }

  #snapshot({ accountKeys, writable }: CheckedTransaction, before: Map<string, ChainAccount | null>): void {
    for (const [i, key] of accountKeys.entries()) {
      if (writable[i] && !before.has(key)) before.set(key, this.#parts.runtime.get(key))
    }
  }

  #undo(before: ReadonlyMap<string, ChainAccount | null>): void {
    const { runtime, index } = this.#parts
    // Programs are restored last, because the runtime loads them from their data accounts.
    const accounts = [...before].sort(([, a], [, b]) => Number(a?.executable ?? false) - Number(b?.executable ?? false))
    for (const [address, account] of accounts) {
      const now = runtime.get(address)
      if (isSameAccount(now, account)) continue
      runtime.set(address, account)
      index.update(address, account)
    }
  }
}

const CHAIN_CLOSED = 'The embedded chain was closed'

/** Errors of a listener are only reported, because the transaction has already landed. */
function callListener(listener: ChainListener, ...update: Parameters<NonNullable<ChainListener['landed']>>): void {
  try {
    listener.landed?.(...update)
  } catch (error) {
    process.emitWarning(`A listener of the embedded chain failed: ${error instanceof Error ? error.message : error}`)
  }
}

const isSameMessage = (a: Uint8Array, b: Uint8Array) => Buffer.compare(messageBytesOf(a), messageBytesOf(b)) === 0

function isSameAccount(a: ChainAccount | null, b: ChainAccount | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    Buffer.compare(a.data, b.data) === 0
  )
}

/** Most works of one write; more would block the event loop. */
const MAX_TOGETHER = 64

interface Waiting {
  run(): void
  settle(): void
  reject(error: unknown): void
}

class WorkQueue {
  readonly #write: (runAll: Iterable<() => void>) => void
  #waiting: Waiting[] = []

  /** `write` runs every given work, and returns once their changes are durable. */
  constructor(write: (works: Iterable<() => void>) => void) {
    this.#write = write
  }

  /**
   * Runs `work` before the next turn of the event loop, after all work that was added before. Settles as `work` does,
   * once
   * its changes are durable; rejects when they could not be written.
   */
  add<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let settle = () => {}
      const run = () => {
        try {
          const result = work()
          settle = () => resolve(result)
        } catch (error) {
          settle = () => reject(error)
        }
      }
      this.#waiting.push({ run, settle: () => settle(), reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#next())
    })
  }

  /** Runs all waiting work. */
  flush(): void {
    while (this.#waiting.length > 0) this.#writeSome()
  }

  #next(): void {
    if (this.#waiting.length > 0) this.#writeSome()
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
  }

  #writeSome(): void {
    const together = this.#waiting.splice(0, MAX_TOGETHER)
    try {
      this.#write(together.map(({ run }) => run))
    } catch (error) {
      for (const { reject } of together) reject(error)
      return
    }
    for (const { settle } of together) settle()
  }
}
