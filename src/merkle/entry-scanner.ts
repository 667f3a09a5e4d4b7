/** Reads the `entries` array of a request body. Wallets are decoded immediately, amounts only once `decimals` is known, as it may follow. */
import { MAX_U64 } from '../solana/u64.ts'
import { AMOUNT_STATUS, type AmountStatus, readAmount, readJsonNumber } from './amounts.ts'
import { decodeKey, walletFault } from './base58.ts'
import { MAX_STORED_LEAVES, RECORD_BYTES } from './entry-list.ts'
import { quoted } from './errors.ts'
import type { JsonScanner } from './json-scanner.ts'
import { RowBuilder } from './row-builder.ts'

/** Counts an issue; its message is created only if the issue is stored. */
export type Refuse = (position: string, message: () => string) => void

const QUOTE = 34
/** The shortest entry with a valid wallet is `{"wallet":"…"}` with 32 characters. */
const LEAST_BYTES_WITH_WALLET = 45
const KIND = { none: 0, text: 1, escapedText: 2, number: 3 } as const
const WALLET_KEY = Uint8Array.from('"wallet"', (character) => character.charCodeAt(0))
const AMOUNT_KEY = Uint8Array.from('"amount"', (character) => character.charCodeAt(0))

/** Returns a client's field name in a form that is safe in a dotted position. */
export function fieldName(name: string): string {
  return /^[\w-]{1,60}$/.test(name) ? name : quoted(name)
}

export class EntryScanner {
  readonly rows: RowBuilder
  /** Number of entries in the array, including those beyond the limit. */
  count = 0
  private readonly scanner: JsonScanner
  private readonly refuse: Refuse
  // For each entry: its record (-1 if its wallet was rejected) and the position of its amount in the text.
  private records = new Int32Array(0)
  private starts = new Uint32Array(0)
  private ends = new Uint32Array(0)
  private kinds = new Uint8Array(0)

  constructor(scanner: JsonScanner, refuse: Refuse) {
    this.scanner = scanner
    this.refuse = refuse
    const wallets = Math.ceil(scanner.bytes.length / LEAST_BYTES_WITH_WALLET)
    // One more, into which a wallet is decoded before it turns out to be none.
    this.rows = new RowBuilder(Math.min(MAX_STORED_LEAVES, wallets) + 1)
    this.makeRoom(wallets)
  }

  /** Makes room for `entries`, of which there can be fifteen times as many as there are wallets, as in `[{},{}]`. */
  private makeRoom(entries: number): void {
    const capacity = Math.min(MAX_STORED_LEAVES, entries)
    const { records, starts, ends, kinds } = this
    this.records = new Int32Array(capacity).fill(-1, records.length)
    this.starts = new Uint32Array(capacity)
    this.ends = new Uint32Array(capacity)
    this.kinds = new Uint8Array(capacity)
    this.records.set(records)
    this.starts.set(starts)
    this.ends.set(ends)
    this.kinds.set(kinds)
  }

  /** Reads the array at the cursor. */
  scan(): void {
    const { scanner } = this
    scanner.expect(91)
    if (scanner.take(93)) return
    do {
      // Entries beyond the limit are only counted, so that a huge body uses no further memory.
      if (this.count >= MAX_STORED_LEAVES) scanner.skipValue()
      else if (scanner.peek() === 123) this.scanEntry()
      else {
        scanner.skipValue()
        this.refuse(`entries.${this.count}`, () => 'must be an object { wallet, amount }')
      }
      this.count++
    } while (scanner.take(44))
    scanner.expect(93)
  }

  /** Reads the amounts of all entries into their records. */
  readAmounts(decimals: number | undefined): void {
    const { scanner, rows, starts, ends, kinds } = this
    const spare = new Uint8Array(RECORD_BYTES)
    for (let i = 0; i < this.count && i < kinds.length; i++) {
      const kind = kinds[i] ?? 0
      if (kind === KIND.none) continue
      const record = this.records[i] ?? 0
      const out = record < 0 ? spare : rows.bytes
      const at = record < 0 ? 0 : record * RECORD_BYTES + 32
      const [start, end] = [starts[i] ?? 0, ends[i] ?? 0]
      let status: AmountStatus
      if (kind === KIND.text) status = readAmount(scanner.bytes, start, end, undefined, out, at)
      else if (kind === KIND.number) status = readJsonNumber(scanner.bytes, start, end, decimals, out, at)
      else {
        const text = Buffer.from(scanner.value(start - 1, end + 1) as string)
        status = readAmount(text, 0, text.length, undefined, out, at)
      }
      if (status === AMOUNT_STATUS.ok) continue
      this.refuse(`entries.${i}.amount`, () => amountFault(scanner.text(start, end), status, kind, decimals))
    }
  }

  private scanEntry(): void {
    const { scanner, rows, count } = this
    if (count >= this.kinds.length) this.makeRoom(2 * count + 1)
    let wallet = false
    let amount = false
    let decoded = false
    scanner.expect(123)
    if (!scanner.take(125)) {
      do {
        scanner.peek()
        const keyStart = scanner.position
        const escaped = scanner.skipString()
        const keyEnd = scanner.position
        scanner.expect(58)
        scanner.peek()
        if (this.keyIs(keyStart, keyEnd, escaped, WALLET_KEY)) {
          if (wallet) this.refuse(`entries.${count}.wallet`, () => 'is sent twice')
          wallet = true
          decoded = this.scanWallet()
        } else if (this.keyIs(keyStart, keyEnd, escaped, AMOUNT_KEY)) {
          if (amount) this.refuse(`entries.${count}.amount`, () => 'is sent twice')
          amount = true
          this.scanAmount()
        } else {
          scanner.skipValue()
          const name = () => fieldName(scanner.value(keyStart, keyEnd) as string)
          this.refuse(`entries.${count}.${name()}`, () => 'is not a field of an entry, which has wallet and amount')
        }
      } while (scanner.take(44))
      scanner.expect(125)
    }
    if (!wallet) this.refuse(`entries.${count}.wallet`, () => 'is required')
    if (!amount) this.refuse(`entries.${count}.amount`, () => 'is required')
    if (!decoded) return
    this.records[count] = rows.count
    rows.append(count)
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
    if (!escaped && decodeKey(scanner.bytes, start + 1, end - 1, rows.bytes, rows.at)) return true
    const text = scanner.value(start, end) as string
    if (escaped) {
      const plain = Buffer.from(text)
      if (decodeKey(plain, 0, plain.length, rows.bytes, rows.at)) return true
    }
    this.refuse(`entries.${count}.wallet`, () => walletFault(text))
    return false
  }

  /** Stores the position of the amount at the cursor. */
  private scanAmount(): void {
    const { scanner, count } = this
    const start = scanner.position
    const byte = scanner.bytes[start] ?? 0
    if (byte === QUOTE) {
      const escaped = scanner.skipString()
      this.kinds[count] = escaped ? KIND.escapedText : KIND.text
      this.starts[count] = start + 1
      this.ends[count] = scanner.position - 1
    } else if (byte === 45 || (byte >= 48 && byte <= 57)) {
      scanner.skipNumber()
      this.kinds[count] = KIND.number
      this.starts[count] = start
      this.ends[count] = scanner.position
    } else {
      scanner.skipValue()
      this.kinds[count] = KIND.none
      this.refuse(`entries.${count}.amount`, () => 'must be a digit string of base units, or a number')
    }
  }

  private keyIs(start: number, end: number, escaped: boolean, key: Uint8Array): boolean {
    const { scanner } = this
    if (escaped) return JSON.stringify(scanner.value(start, end)) === Buffer.from(key).toString()
    if (end - start !== key.length) return false
    for (let i = 1; i < key.length; i++) if (scanner.bytes[start + i] !== key[i]) return false
    return true
  }
}

/** Explains why an amount of a request body is rejected, and what to send instead. */
function amountFault(text: string, status: AmountStatus, kind: number, decimals: number | undefined): string {
  const shown = quoted(text)
  if (status === AMOUNT_STATUS.overflow) {
    return `${shown} is more than a token account holds (u64, ${MAX_U64} base units)`
  }
  if (kind !== KIND.number) return `${shown} is no digit string; a string holds base units, digits only`
  if (status === AMOUNT_STATUS.negative) return `${shown} is negative`
  if (status === AMOUNT_STATUS.unsafe) return `${shown} is past 2^53 - 1; send it as a digit string`
  if (decimals === undefined)
    return `${shown} is no integer; send decimals to give whole tokens, or a digit string of base units`
  return `${shown} has more fractional digits than the token's ${decimals} decimals`
}
