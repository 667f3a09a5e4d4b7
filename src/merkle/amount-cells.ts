/**
 * Positions of one kind of amount in the text of a request's entries, until `decimals` is known, which may follow
 * them.
 */
import { type JsonScanner, QUOTE } from '../platform/json-scanner.ts'
import { MAX_U64 } from '../solana/u64.ts'
import { AMOUNT_STATUS, type AmountStatus, readAmount, readJsonNumber } from './amounts.ts'
import { quoted } from './errors.ts'

/** Counts an issue; its message is created only if the issue is stored. */
export type Refuse = (position: string, message: () => string) => void

type AmountField = 'amount' | 'amount_locked' | 'cap'

const KIND = { none: 0, text: 1, escapedText: 2, number: 3 } as const

export class AmountCells {
  private readonly scanner: JsonScanner
  private readonly refuse: Refuse
  private readonly field: AmountField
  private starts = new Uint32Array(0)
  private ends = new Uint32Array(0)
  private kinds = new Uint8Array(0)

  constructor(scanner: JsonScanner, refuse: Refuse, field: AmountField) {
    this.scanner = scanner
    this.refuse = refuse
    this.field = field
  }

  /** Makes room for the amounts of `capacity` entries. */
  makeRoom(capacity: number): void {
    const { starts, ends, kinds } = this
    this.starts = new Uint32Array(capacity)
    this.ends = new Uint32Array(capacity)
    this.kinds = new Uint8Array(capacity)
    this.starts.set(starts)
    this.ends.set(ends)
    this.kinds.set(kinds)
  }

  /** Stores the position of an entry's amount, which is at the cursor. */
  scan(entry: number): void {
    const { scanner } = this
    const start = scanner.position
    const byte = scanner.bytes[start] ?? 0
    if (byte === QUOTE) {
      const escaped = scanner.skipString()
      this.kinds[entry] = escaped ? KIND.escapedText : KIND.text
      this.starts[entry] = start + 1
      this.ends[entry] = scanner.position - 1
    } else if (this.field !== 'cap' && (byte === 45 || (byte >= 48 && byte <= 57))) {
      scanner.skipNumber()
      this.kinds[entry] = KIND.number
      this.starts[entry] = start
      this.ends[entry] = scanner.position
    } else {
      scanner.skipValue()
      this.kinds[entry] = KIND.none
      const more = this.field === 'cap' ? '' : ', or a number'
      this.refuse(this.position(entry), () => `must be a digit string of base units${more}`)
    }
  }

  /** Writes an entry's amount as u64 LE at `out[at]`; false if it has none or an invalid one, which is reported. */
  read(entry: number, decimals: number | undefined, out: Uint8Array, at: number): boolean {
    const { scanner } = this
    const kind = this.kinds[entry] ?? KIND.none
    if (kind === KIND.none) return false
    const [start, end] = [this.starts[entry] ?? 0, this.ends[entry] ?? 0]
    let status: AmountStatus
    if (kind === KIND.text) status = readAmount(scanner.bytes, start, end, undefined, out, at)
    else if (kind === KIND.number) status = readJsonNumber(scanner.bytes, start, end, decimals, out, at)
    else {
      const text = Buffer.from(scanner.value(start - 1, end + 1) as string)
      status = readAmount(text, 0, text.length, undefined, out, at)
    }
    if (status === AMOUNT_STATUS.ok) return true
    const isNumber = kind === KIND.number
    this.refuse(this.position(entry), () => amountFault(scanner.text(start, end), status, isNumber, decimals))
    return false
  }

  private position(entry: number): string {
    return `entries.${entry}.${this.field}`
  }
}

/** Explains why an amount of a request body is rejected, and what to send instead. */
function amountFault(text: string, status: AmountStatus, isNumber: boolean, decimals: number | undefined): string {
  const shown = quoted(text)
  if (status === AMOUNT_STATUS.overflow) {
    return `${shown} is more than a token account holds (u64, ${MAX_U64} base units)`
  }
  if (!isNumber) return `${shown} is not a digit string; a string holds base units, digits only`
  if (status === AMOUNT_STATUS.negative) return `${shown} is negative`
  if (status === AMOUNT_STATUS.unsafe) return `${shown} is past 2^53 - 1; send it as a digit string`
  if (decimals === undefined)
    return `${shown} is not an integer; send decimals to give whole tokens, or a digit string of base units`
  return `${shown} has more fractional digits than the token's ${decimals} decimals`
}
