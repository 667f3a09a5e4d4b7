/**
 * Reads the `entries` array of a request body. Wallets are decoded immediately, amounts only once `decimals` is known,
 * as it may follow.
 */
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  type JsonScanner,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../platform/json-scanner.ts'
import { MAX_U64 } from '../solana/u64.ts'
import { AmountCells, type Refuse } from './amount-cells.ts'
import { decodeKey, isLowerCased, walletFault } from './base58.ts'
import { LOCKED_BYTES, MAX_STORED_LEAVES, RECORD_BYTES } from './entry-list.ts'
import { quoted } from './errors.ts'
import { ROUND_FAULT, RowBuilder, roundOf } from './row-builder.ts'

/** The shortest entry with a valid wallet is `{"wallet":"…"}` with 32 characters. */
const LEAST_BYTES_WITH_WALLET = 45
const keyOf = (name: string) => Buffer.from(`"${name}"`)
const WALLET_KEY = keyOf('wallet')

/** What an entry has besides its wallet. */
interface EntryKind {
  readonly amount: 'amount' | 'cap'
  readonly amountKey: Uint8Array
  readonly other: 'amount_locked' | 'round'
  readonly otherKey: Uint8Array
}

/** The entries of a tree of recipients, and of the allowlist of a raise. */
export const RECIPIENT_ENTRY = kindOf('amount', 'amount_locked')
export const ALLOWANCE_ENTRY = kindOf('cap', 'round')

function kindOf(amount: EntryKind['amount'], other: EntryKind['other']): EntryKind {
  return { amount, amountKey: keyOf(amount), other, otherKey: keyOf(other) }
}

/**
 * Returns a client's field name in a form that is safe in a dotted position: escaped where it must be, never quoted.
 */
export function fieldName(name: string): string {
  return quoted(name).slice(1, -1)
}

export class EntryScanner {
  readonly rows: RowBuilder
  /** Number of entries in the array, including those beyond the limit. */
  count = 0
  private readonly scanner: JsonScanner
  private readonly refuse: Refuse
  private readonly kind: EntryKind
  /** The record of each entry, -1 if its wallet was rejected. */
  private records = new Int32Array(0)
  /** The base58 text of the wallet that was decoded last. */
  private wallet: { text: Uint8Array; start: number; end: number } = { text: new Uint8Array(0), start: 0, end: 0 }
  private readonly amounts: AmountCells
  /** Created with the first entry that has one. */
  private locked: AmountCells | undefined

  constructor(scanner: JsonScanner, refuse: Refuse, kind = RECIPIENT_ENTRY) {
    this.scanner = scanner
    this.refuse = refuse
    this.kind = kind
    this.amounts = new AmountCells(scanner, refuse, kind.amount)
    const wallets = Math.ceil(scanner.bytes.length / LEAST_BYTES_WITH_WALLET)
    // One additional record, for decoding a text that turns out not to be a wallet.
    this.rows = new RowBuilder(Math.min(MAX_STORED_LEAVES, wallets) + 1, { hasRounds: kind.other === 'round' })
    this.makeRoom(wallets)
  }

  /** Makes room for `entries`. There can be fifteen times as many of them as wallets, as in `[{},{}]`. */
  private makeRoom(entries: number): void {
    const capacity = Math.min(MAX_STORED_LEAVES, entries)
    const { records } = this
    this.records = new Int32Array(capacity).fill(-1, records.length)
    this.records.set(records)
    this.amounts.makeRoom(capacity)
    this.locked?.makeRoom(capacity)
  }

  /** Reads the array at the cursor. */
  scan(): void {
    const { scanner } = this
    scanner.expect(OPEN_BRACKET)
    if (scanner.take(CLOSE_BRACKET)) return
    do {
      // Entries beyond the limit are only counted, so that a huge body uses no further memory.
      if (this.count >= MAX_STORED_LEAVES) scanner.skipValue()
      else if (scanner.peek() === OPEN_BRACE) this.scanEntry()
      else {
        scanner.skipValue()
        const { amount, other } = this.kind
        this.refuse(`entries.${this.count}`, () => `must be an object { wallet, ${amount}, ${other}? }`)
      }
      this.count++
    } while (scanner.take(COMMA))
    scanner.expect(CLOSE_BRACKET)
  }

  /** Reads the amounts of all entries into their records. */
  readAmounts(decimals: number | undefined): void {
    const { rows, amounts, locked, records } = this
    const spare = new Uint8Array(RECORD_BYTES)
    const lockedAmount = new Uint8Array(LOCKED_BYTES)
    for (let i = 0; i < this.count && i < records.length; i++) {
      const record = records[i] ?? 0
      const isKept = record >= 0
      const isRead = amounts.read(i, decimals, isKept ? rows.bytes : spare, isKept ? record * RECORD_BYTES + 32 : 0)
      if (!locked?.read(i, decimals, lockedAmount, 0) || !isRead || !isKept) continue
      if (rows.lock(record, lockedAmount)) continue
      this.refuse(
        `entries.${i}.amount_locked`,
        () => `exceeds, with the amount, what a token account holds (u64, ${MAX_U64} base units)`,
      )
    }
  }

  private scanEntry(): void {
    const { scanner, rows, count, kind } = this
    if (count >= this.records.length) this.makeRoom(2 * count + 1)
    let wallet = false
    let amount = false
    let other = false
    let decoded = false
    let round = 1
    scanner.expect(OPEN_BRACE)
    if (!scanner.take(CLOSE_BRACE)) {
      do {
        scanner.peek()
        const keyStart = scanner.position
        const escaped = scanner.skipString()
        const keyEnd = scanner.position
        scanner.expect(COLON)
        scanner.peek()
        if (this.keyIs(keyStart, keyEnd, escaped, WALLET_KEY)) {
          if (wallet) this.refuse(`entries.${count}.wallet`, () => 'is sent twice')
          wallet = true
          decoded = this.scanWallet()
        } else if (this.keyIs(keyStart, keyEnd, escaped, kind.amountKey)) {
          if (amount) this.refuse(`entries.${count}.${kind.amount}`, () => 'is sent twice')
          amount = true
          this.amounts.scan(count)
        } else if (this.keyIs(keyStart, keyEnd, escaped, kind.otherKey)) {
          if (other) this.refuse(`entries.${count}.${kind.other}`, () => 'is sent twice')
          other = true
          if (kind.other === 'round') round = this.scanRound()
          else this.lockedCells().scan(count)
        } else {
          scanner.skipValue()
          const name = () => fieldName(scanner.value(keyStart, keyEnd) as string)
          this.refuse(
            `entries.${count}.${name()}`,
            () => `is not a field of an entry, which has wallet, ${kind.amount} and ${kind.other}`,
          )
        }
      } while (scanner.take(COMMA))
      scanner.expect(CLOSE_BRACE)
    }
    if (!wallet) this.refuse(`entries.${count}.wallet`, () => 'is required')
    if (!amount) this.refuse(`entries.${count}.${kind.amount}`, () => 'is required')
    if (!decoded) return
    this.records[count] = rows.count
    if (rows.rounds !== undefined) rows.rounds[rows.count] = round
    rows.append(count, this.wallet.text, this.wallet.start, this.wallet.end)
  }

  /** Reads the wallet at the cursor into the next record; false, with an issue, when it is invalid. */
  private scanWallet(): boolean {
    const { scanner, rows, count } = this
    const start = scanner.position
    if (scanner.bytes[start] !== QUOTE) {
      scanner.skipValue()
      this.refuse(`entries.${count}.wallet`, () => 'must be a string, the base58 address')
      return false
    }
    const escaped = scanner.skipString()
    const end = scanner.position
    const text = () => scanner.value(start, end) as string
    if (!escaped) this.wallet = { text: scanner.bytes, start: start + 1, end: end - 1 }
    else {
      const plain = Buffer.from(text())
      this.wallet = { text: plain, start: 0, end: plain.length }
    }
    const { wallet } = this
    const isKey = decodeKey(wallet.text, wallet.start, wallet.end, rows.bytes, rows.at)
    if (isKey && !isLowerCased(wallet.text, wallet.start, wallet.end)) return true
    this.refuse(`entries.${count}.wallet`, () => walletFault(text()))
    return false
  }

  /** Reads the round at the cursor; 1, with an issue, if it is none. */
  private scanRound(): number {
    const { scanner } = this
    const { start, end } = scanner.cell()
    const round = roundOf(scanner.text(start, end))
    if (round === undefined)
      this.refuse(`entries.${this.count}.round`, () => `${quoted(scanner.text(start, end))} ${ROUND_FAULT}`)
    return round ?? 1
  }

  private lockedCells(): AmountCells {
    if (this.locked === undefined) {
      this.locked = new AmountCells(this.scanner, this.refuse, 'amount_locked')
      this.locked.makeRoom(this.records.length)
    }
    return this.locked
  }

  private keyIs(start: number, end: number, escaped: boolean, key: Uint8Array): boolean {
    const { scanner } = this
    if (escaped) return JSON.stringify(scanner.value(start, end)) === Buffer.from(key).toString()
    if (end - start !== key.length) return false
    for (let i = 1; i < key.length; i++) if (scanner.bytes[start + i] !== key[i]) return false
    return true
  }
}
