/** Reads a recipient list for the merkle commands: a CSV, or the file of a tree. */
import { closeSync, openSync, statSync } from 'node:fs'
import { MAX_DECIMALS } from '../../src/merkle/amounts.ts'
import type { ListForm } from '../../src/merkle/column-plan.ts'
import { readingNotes } from '../../src/merkle/csv-columns.ts'
import { bytesSource, type CsvSource, fileSource } from '../../src/merkle/csv-source.ts'
import type { EntryList } from '../../src/merkle/entry-list.ts'
import { issueLine, MerkleInputError } from '../../src/merkle/errors.ts'
import type { BuildProgress } from '../../src/merkle/progress.ts'
import { readRecipientCsv, recipientRoot, recipientTree } from '../../src/merkle/recipient-tree.ts'
import type { SettledRows } from '../../src/merkle/row-builder.ts'
import type { MerkleTree } from '../../src/merkle/tree.ts'
import type { JitoDetail } from '../../src/merkle/tree-files/tree-file.ts'
import { choiceOf, integer } from '../cli/command.ts'
import {
  type ColumnInputs,
  columnChoices,
  columnFlags,
  deciding,
  type ListNotes,
  listNotes,
  sayDecisions,
} from '../lists/column-flags.ts'
import { readBytes, unreadable } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'

/** The flags of every command that reads a CSV, which some have as `--list`. */
export const csvFlags = {
  decimals: integer("The token's decimals: amounts are whole tokens (without it, raw units)", {
    min: 0,
    max: MAX_DECIMALS,
    needs: ['list'],
  }),
  duplicates: {
    ...choiceOf(['reject', 'sum'], 'A wallet that appears twice (default reject)', {
      reject: 'an error that names its lines',
      sum: 'its amounts are added up',
    }),
    needs: ['list'],
  },
  ...columnFlags,
}
export interface CsvChoices extends ColumnInputs {
  decimals: number | undefined
  /** The mint that the rows must name, if a column names one. */
  mint?: string | undefined
  duplicates?: 'reject' | 'sum' | undefined
  /** What is read of a CSV, if it is not recipients with amounts. */
  form?: ListForm
  /** Decides the decimals of a list whose amounts may be whole tokens or raw units; asked before they are read. */
  units?: (name: string) => Promise<number | undefined>
}

/** A list with at most this many rows is read too fast for a progress bar. */
const PROGRESS_FROM = 50_000

export interface Recipients extends ListNotes, SettledRows {
  /** Whether --decimals applies to its amounts; those of a tree file are raw units. */
  hasDecimals: boolean
  /** The decimals that its amounts were read with; undefined for raw units. */
  decimals: number | undefined
  /** What a Jito file has besides the list; undefined for other files. */
  jito?: JitoDetail
}

/** Reads the recipients; throws a usage problem with one line `FILE:LINE:COLUMN: what` for each fault. */
export async function readRecipients(file: string, choices: CsvChoices, ui: Ui): Promise<Recipients> {
  const name = file === '-' ? 'stdin' : file
  const { duplicates, form, units = async () => choices.decimals } = choices
  const { source, close } = await openRecipients(file)
  const all = memoized(units)
  try {
    return await deciding(ui, columnChoices(choices), async (columns) => {
      const options = { name, duplicates: duplicates ?? 'reject', columns, onProgress: treeProgress(ui) } as const
      if (isJson(source)) {
        // A CSV, which most lists are, needs none of it.
        const { jsonRecipients } = await import('./json-recipients.ts')
        return jsonRecipients(source.all(), options, { ui, units: all })
      }
      const decimals = await all(name)
      const asked = { ...options, decimals, ...(form === undefined ? {} : { form }) }
      const { columns: found, comments, paidRows, ...rows } = readRecipientCsv(source, asked)
      await sayNotes(ui, name, readingNotes({ columns: found, comments, separator: rows.separator }))
      sayDecisions(ui, name, { ...found, paidRows })
      return { ...rows, hasDecimals: true, decimals, ...listNotes({ ...found, comments, paidRows }) }
    })
  } catch (error) {
    if (error instanceof MerkleInputError) throw inputProblem(error)
    throw error
  } finally {
    close()
    ui.clear()
  }
}

/** The units are asked once, however often the list is read. */
function memoized(units: (name: string) => Promise<number | undefined>) {
  let answer: Promise<number | undefined> | undefined
  return (name: string) => {
    answer ??= units(name)
    return answer
  }
}

/** Prints what a person should know about the list; with JSON it is in the answer. */
export async function sayNotes(ui: Ui, name: string, notes: readonly string[]): Promise<void> {
  if (notes.length > 0) await ui.preview(notes.map((note) => `${name}: ${note}`))
}

/** Opens a regular file to be read piece by piece; anything else is read whole. */
async function openRecipients(file: string): Promise<{ source: CsvSource; close(): void }> {
  if (file !== '-') {
    const attempt = <T>(step: () => T): T => {
      try {
        return step()
      } catch (error) {
        throw unreadable(file, error)
      }
    }
    // Opening anything else, such as a named pipe, could consume data that is then missing.
    if (!attempt(() => statSync(file)).isFile()) return { source: bytesSource(await readBytes(file)), close: () => {} }
    const fd = attempt(() => openSync(file, 'r'))
    const opened = fileSource(fd)
    if (opened !== undefined) {
      const read = (target: Uint8Array, at: number) => attempt(() => opened.read(target, at))
      return { source: { size: opened.size, read, all: () => attempt(opened.all) }, close: () => closeSync(fd) }
    }
    closeSync(fd)
  }
  return { source: bytesSource(await readBytes(file)), close: () => {} }
}

/** Hashes the tree, with a progress bar above 50,000 rows. */
export function hashTree(list: EntryList, ui: Ui): MerkleTree {
  try {
    return recipientTree(list, { onProgress: treeProgress(ui) })
  } finally {
    ui.clear()
  }
}

/** Hashes the tree only for its root, with the same progress bar. */
export function hashRoot(list: EntryList, ui: Ui): Uint8Array {
  try {
    return recipientRoot(list, { onProgress: treeProgress(ui) })
  } finally {
    ui.clear()
  }
}

function treeProgress(ui: Ui): BuildProgress {
  const bars = { read: ui.progress('Reading'), hash: ui.progress('Hashing') }
  return (done, total, stage) => {
    if (total > PROGRESS_FROM) bars[stage](done, total)
  }
}

/** The usage problem of an input, with its first hundred faults as lines and the count of all. */
export function inputProblem(error: MerkleInputError) {
  const lines = error.issues.map(issueLine)
  const hidden = error.issueCount - error.issues.length
  if (hidden > 0) lines.push(`… and ${hidden} more`)
  return usage(lines[0] ?? error.message, { lines, details: { issue_count: error.issueCount, issues: error.issues } })
}

/** Whether the file is JSON; a CSV never starts with a brace or a bracket. */
function isJson(source: CsvSource): boolean {
  const piece = new Uint8Array(4096)
  for (let at = 0; ; ) {
    const read = source.read(piece, at)
    const text = piece.subarray(at === 0 && piece[0] === 0xef ? 3 : 0, read)
    const first = text.find((byte) => byte > 32)
    if (read === 0 || first !== undefined) return first === 0x7b || first === 0x5b
    at += read
  }
}
