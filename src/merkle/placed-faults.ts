/**
 * Collects the faults of a list in a file by byte offset, and reports them as `FILE:LINE:COLUMN: what` in file order.
 */
import { keyToBase58 } from './base58.ts'
import { locate } from './csv-scanner.ts'
import { RECORD_BYTES } from './entry-list.ts'
import { MAX_ISSUES, MerkleInputError, type MerkleIssue } from './errors.ts'
import type { DuplicateFaults, RowBuilder } from './row-builder.ts'

interface RowFault {
  offset: number
  message: string
  /** Offset of the earlier row whose position ends the message. */
  earlier: number | undefined
}

/** Counts an error; its message is created only if the error is stored. */
export type RefuseAt = (offset: number, message: () => string, earlier?: number) => void

export class PlacedFaults {
  private readonly bytes: Uint8Array
  private readonly name: string
  private readonly faults: RowFault[] = []
  private readonly undecided: string[] = []
  private count = 0

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes
    this.name = name
  }

  refuse(offset: number, message: () => string, earlier?: number): void {
    this.count++
    if (this.faults.length < MAX_ISSUES) this.faults.push({ offset, message: message(), earlier })
  }

  /** Refuses a column; `undecided` is its name if a person may decide to leave it out. */
  refuseColumn(offset: number, message: () => string, undecided?: string): void {
    if (undecided !== undefined) this.undecided.push(undecided)
    this.refuse(offset, message)
  }

  /** The reports of `RowBuilder.settle` for rows whose sources are byte offsets. */
  ofDuplicates(rows: RowBuilder): DuplicateFaults {
    const wallet = (record: number) => keyToBase58(rows.bytes, record * RECORD_BYTES)
    return {
      repeated: (source, earlier, record) => {
        const round = rows.rounds?.[record]
        const way = round === undefined ? ' (remove a row or sum duplicates)' : ` in round ${round} (remove a row)`
        const message = () => `wallet ${wallet(record)} is listed twice${way}, first at`
        this.refuse(source, message, earlier)
      },
      miscased: (source, earlier, record) => {
        const message = () => `wallet ${wallet(record)} differs only in upper and lower case from the one at`
        this.refuse(source, message, earlier)
      },
      overflowed: (source, earlier, sum) => {
        const message = () => `the amounts of this wallet add up to ${sum}, more than u64 holds; it is first at`
        this.refuse(source, message, earlier)
      },
    }
  }

  throwIfAny(): void {
    if (this.count > 0) this.throw()
  }

  throw(): never {
    throw new MerkleInputError(this.placed(), this.count, this.undecided)
  }

  /** `3:5`, line and column. */
  placeOf(offset: number): string {
    const { line, column } = locate(this.bytes, [offset]).get(offset) ?? { line: 1, column: 1 }
    return `${line}:${column}`
  }

  /** Converts byte offsets to `NAME:LINE:COLUMN`, with one pass over the file. */
  private placed(): MerkleIssue[] {
    const { bytes, name, faults } = this
    const places = locate(
      bytes,
      faults.flatMap(({ offset, earlier }) => (earlier === undefined ? [offset] : [offset, earlier])),
    )
    const place = (offset: number) => {
      const { line, column } = places.get(offset) ?? { line: 1, column: 1 }
      return `${line}:${column}`
    }
    return faults
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, message, earlier }) => ({
        position: `${name}:${place(offset)}`,
        message: earlier === undefined ? message : `${message} ${place(earlier)}`,
      }))
  }
}
