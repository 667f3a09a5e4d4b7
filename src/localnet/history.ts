/** History of landed transactions in the journal, searchable by signature, address and slot. */
import { hash } from 'node:crypto'
import { base58 } from '@scure/base'
import type { Database } from 'better-sqlite3'
import { addressBytes } from '../solana/addresses.ts'
import { BLOCKHASH_SLOTS } from '../solana/constants.ts'
import type { InnerInstructions, TokenBalance, TransactionErrorJson } from '../solana/execution.ts'
import { decodeWireTransaction, messageBytesOf, signatureOffset } from '../solana/messages.ts'
import type { LandedTransaction, SignatureInfo, TransactionLanding } from './types.ts'

/** Number of transactions cached in memory for clients that poll a status. */
const RECENT = 256

export interface HistoryEntry {
  transaction: LandedTransaction
  /** Priority fee in micro-lamports per compute unit. */
  unitPrice: bigint
  /** Whether the message marks each account key as writable. */
  writable: boolean[]
}

/** Creates the prepared reads and writes of the history tables. */
export function openHistory(db: Database) {
  const insert = db.prepare(
    'INSERT INTO transactions (seq, signature, slot, place, block_time, unit_price, err, raw, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const mention = db.prepare('INSERT INTO mentions VALUES (?, ?, ?)')
  const bySignature = db.prepare<[Uint8Array], TransactionRow>('SELECT * FROM transactions WHERE signature = ?')
  const landing = db.prepare<[Uint8Array], Pick<TransactionRow, 'slot' | 'err'>>(
    'SELECT slot, err FROM transactions WHERE signature = ?',
  )
  const seqOf = db.prepare<[Uint8Array], number>('SELECT seq FROM transactions WHERE signature = ?').pluck()
  const bySlot = db.prepare<[number], TransactionRow>('SELECT * FROM transactions WHERE slot = ? ORDER BY seq')
  const slots = db
    .prepare<[number, number, number], number>(
      'SELECT DISTINCT slot FROM transactions WHERE slot BETWEEN ? AND ? ORDER BY slot LIMIT ?',
    )
    .pluck()
  const timeOf = db.prepare<[number], number>('SELECT block_time FROM transactions WHERE slot = ? LIMIT 1').pluck()
  const last = db.prepare<[], TransactionRow>('SELECT * FROM transactions ORDER BY seq DESC LIMIT 1')
  const mentionsOf = db.prepare<
    [Uint8Array, number, number, number],
    Pick<TransactionRow, 'signature' | 'slot' | 'err' | 'block_time'>
  >(
    `SELECT signature, slot, err, block_time FROM mentions JOIN transactions USING (seq)
     WHERE address = ? AND seq < ? AND seq > ? ORDER BY seq DESC LIMIT ?`,
  )
  const prices = db.prepare<[number], { slot: number; seq: number; unit_price: number }>(
    'SELECT slot, seq, unit_price FROM transactions WHERE slot > ? ORDER BY seq',
  )
  const writers = db
    .prepare<[Uint8Array, number], number>('SELECT seq FROM mentions WHERE address = ? AND seq >= ? AND writable = 1')
    .pluck()
  const recentMessages = db.prepare<[number], Pick<TransactionRow, 'slot' | 'raw'>>(
    'SELECT slot, raw FROM transactions WHERE slot >= ? ORDER BY seq',
  )
  const recent = new Map<string, LandedTransaction>()
  /** Slots by message hash for messages whose blockhash may still be valid, oldest first. */
  const messages = new Map<string, number>()
  const newest = last.get()
  let count = newest?.seq ?? 0
  for (const { slot, raw } of recentMessages.iterate((newest?.slot ?? 0) - BLOCKHASH_SLOTS))
    messages.set(messageHash(raw), slot)

  function noteMessage({ raw, slot }: LandedTransaction): void {
    messages.set(messageHash(raw), slot)
    for (const [message, at] of messages) {
      if (at >= slot - BLOCKHASH_SLOTS) break
      messages.delete(message)
    }
  }

  function remember(transaction: LandedTransaction): LandedTransaction {
    recent.delete(transaction.signature)
    recent.set(transaction.signature, transaction)
    const [oldest] = recent.keys()
    if (recent.size > RECENT && oldest !== undefined) recent.delete(oldest)
    return transaction
  }

  return {
    /** Inserts a transaction; the caller's database transaction commits it. */
    record({ transaction, unitPrice, writable }: HistoryEntry): void {
      const { slot, index, blockTime, err, raw, accountKeys } = transaction
      const seq = count + 1
      const error = err === null ? null : JSON.stringify(err)
      const price = Number(unitPrice > MAX_PRICE ? MAX_PRICE : unitPrice)
      insert.run(seq, signatureIn(raw), slot, index, blockTime, price, error, raw, encodeMeta(transaction))
      for (const [i, key] of accountKeys.entries()) mention.run(addressBytes(key), seq, writable[i] ? 1 : 0)
      count = seq
    },
    /** Caches a transaction once its record is durable. */
    remember(transaction: LandedTransaction): void {
      noteMessage(transaction)
      remember(transaction)
    },
    transactionCount: () => count,
    /** Restores the count after a write was rolled back. */
    recount(): void {
      count = last.get()?.seq ?? 0
    },
    lastTransaction(): LandedTransaction | null {
      const row = last.get()
      return row === undefined ? null : transactionFromRow(row)
    },
    /**
     * Whether the transaction landed. A message with other signatures counts as the same, as on a validator. One whose
     * blockhash is `usable` can only have landed since that slot, and all messages since then are in memory.
     */
    hasTransaction({ signature, raw }: Pick<LandedTransaction, 'signature' | 'raw'>, usable: boolean): boolean {
      if (recent.has(signature) || messages.has(messageHash(raw))) return true
      return !usable && seqOf.get(signatureIn(raw)) !== undefined
    },
    transaction(signature: string): LandedTransaction | null {
      const known = recent.get(signature)
      if (known !== undefined) return known
      const name = signatureBytes(signature)
      const row = name === null ? undefined : bySignature.get(name)
      return row === undefined ? null : remember(transactionFromRow(row))
    },
    /** Returns where a transaction landed and its error, without reading the rest of it. */
    landingOf(signature: string): TransactionLanding | null {
      const known = recent.get(signature)
      if (known !== undefined) return known
      const name = signatureBytes(signature)
      const row = name === null ? undefined : landing.get(name)
      return row === undefined ? null : { slot: row.slot, err: row.err === null ? null : JSON.parse(row.err) }
    },
    transactionsInSlot: (slot: number): LandedTransaction[] => bySlot.all(slot).map(transactionFromRow),
    slotsWithTransactions: (from: number, to: number, limit: number): number[] => slots.all(from, to, limit),
    blockTimeOf: (slot: number): number | null => timeOf.get(slot) ?? null,
    signaturesFor(
      address: string,
      { limit, before, until }: { limit: number; before?: string; until?: string },
    ): SignatureInfo[] {
      const place = (signature: string): number | undefined => {
        const name = signatureBytes(signature)
        return name === null ? undefined : seqOf.get(name)
      }
      const below = before === undefined ? Number.MAX_SAFE_INTEGER : place(before)
      if (below === undefined) return []
      const above = until === undefined ? 0 : (place(until) ?? 0)
      return mentionsOf.all(addressBytes(address), below, above, limit).map((row) => ({
        signature: base58.encode(row.signature),
        slot: row.slot,
        err: row.err === null ? null : JSON.parse(row.err),
        blockTime: row.block_time,
      }))
    },
    prioritizationFees(addresses: readonly string[], slot: number): { slot: number; prioritizationFee: number }[] {
      let rows = prices.all(slot - BLOCKHASH_SLOTS)
      const first = rows[0]?.seq
      if (first === undefined) return []
      for (const address of addresses) {
        const seqs = new Set(writers.all(addressBytes(address), first))
        rows = rows.filter(({ seq }) => seqs.has(seq))
      }
      const lowest = new Map<number, number>()
      for (const row of rows) lowest.set(row.slot, Math.min(row.unit_price, lowest.get(row.slot) ?? row.unit_price))
      return Array.from(lowest, ([at, prioritizationFee]) => ({ slot: at, prioritizationFee }))
    },
  }
}

/** Hashes of messages, because a send needs each several times. The bytes are never modified. */
const messageHashes = new WeakMap<Uint8Array, string>()

function messageHash(raw: Uint8Array): string {
  let known = messageHashes.get(raw)
  if (known === undefined) {
    known = hash('sha256', messageBytesOf(raw), 'base64')
    messageHashes.set(raw, known)
  }
  return known
}

/** The first signature of a decoded transaction, which identifies it. */
const signatureIn = (raw: Uint8Array): Uint8Array => raw.subarray(signatureOffset(raw, 0), signatureOffset(raw, 1))

const MAX_PRICE = BigInt(Number.MAX_SAFE_INTEGER)

function signatureBytes(signature: string): Uint8Array | null {
  try {
    return base58.decode(signature)
  } catch {
    return null
  }
}

// Converts landed transactions to rows of the journal and back; fields contained in the wire format are not stored
// twice.

interface TransactionRow {
  seq: number
  signature: Buffer
  slot: number
  place: number
  block_time: number
  unit_price: number
  err: string | null
  raw: Buffer
  meta: string
}

type TokenBalanceRow = [
  accountIndex: number,
  mint: string,
  owner: string,
  programId: string,
  amount: string,
  decimals: number,
]
type InnerRow = [programIdIndex: number, accounts: number[], data: string, stackHeight: number]

interface TransactionMeta {
  fee: string
  units: number
  logs: string[]
  pre: string[]
  post: string[]
  preTokens?: TokenBalanceRow[]
  postTokens?: TokenBalanceRow[]
  inner?: [index: number, instructions: InnerRow[]][]
  returned?: [programId: string, data: string]
  loaded?: { writable: string[]; readonly: string[] }
}

function encodeMeta(transaction: LandedTransaction): string {
  const { preTokenBalances, postTokenBalances, innerInstructions, returnData, loadedAddresses } = transaction
  const meta: TransactionMeta = {
    fee: transaction.fee.toString(),
    units: transaction.unitsConsumed,
    logs: transaction.logs,
    pre: transaction.preBalances.map(String),
    post: transaction.postBalances.map(String),
  }
  if (preTokenBalances.length > 0) meta.preTokens = preTokenBalances.map(toTokenRow)
  if (postTokenBalances.length > 0) meta.postTokens = postTokenBalances.map(toTokenRow)
  if (innerInstructions.length > 0) meta.inner = innerInstructions.map(toInnerRow)
  if (returnData !== null) meta.returned = [returnData.programId, toBase64(returnData.data)]
  if (loadedAddresses.writable.length + loadedAddresses.readonly.length > 0) meta.loaded = loadedAddresses
  return JSON.stringify(meta)
}

function transactionFromRow(row: TransactionRow): LandedTransaction {
  const meta: TransactionMeta = JSON.parse(row.meta)
  const err: TransactionErrorJson | null = row.err === null ? null : JSON.parse(row.err)
  const loadedAddresses = meta.loaded ?? { writable: [], readonly: [] }
  const { message } = decodeWireTransaction(row.raw)
  return {
    signature: base58.encode(row.signature),
    slot: row.slot,
    index: row.place,
    blockTime: row.block_time,
    raw: new Uint8Array(row.raw),
    err,
    fee: BigInt(meta.fee),
    unitsConsumed: meta.units,
    logs: meta.logs,
    accountKeys: [...message.keys, ...loadedAddresses.writable, ...loadedAddresses.readonly],
    loadedAddresses,
    preBalances: meta.pre.map(BigInt),
    postBalances: meta.post.map(BigInt),
    preTokenBalances: (meta.preTokens ?? []).map(fromTokenRow),
    postTokenBalances: (meta.postTokens ?? []).map(fromTokenRow),
    innerInstructions: (meta.inner ?? []).map(fromInnerRow),
    returnData:
      meta.returned === undefined ? null : { programId: meta.returned[0], data: fromBase64(meta.returned[1]) },
  }
}

function toTokenRow({ accountIndex, mint, owner, programId, amount, decimals }: TokenBalance): TokenBalanceRow {
  return [accountIndex, mint, owner, programId, amount.toString(), decimals]
}

function fromTokenRow([accountIndex, mint, owner, programId, amount, decimals]: TokenBalanceRow): TokenBalance {
  return { accountIndex, mint, owner, programId, amount: BigInt(amount), decimals }
}

function toInnerRow({ index, instructions }: InnerInstructions): [number, InnerRow[]] {
  return [
    index,
    instructions.map((inner) => [inner.programIdIndex, inner.accounts, toBase64(inner.data), inner.stackHeight]),
  ]
}

function fromInnerRow([index, instructions]: [number, InnerRow[]]): InnerInstructions {
  return {
    index,
    instructions: instructions.map(([programIdIndex, accounts, data, stackHeight]) => ({
      programIdIndex,
      accounts,
      data: fromBase64(data),
      stackHeight,
    })),
  }
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
