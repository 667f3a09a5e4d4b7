/** Reads a recipient list for the merkle commands: a CSV, or the JSON of `svc merkle build --out`. */
import { closeSync, openSync, statSync } from 'node:fs'
import { MAX_DECIMALS } from '../../src/merkle/amounts.ts'
import { bytesSource, type CsvSource, fileSource } from '../../src/merkle/csv-source.ts'
import { takeStoredCode } from '../../src/merkle/engine/module.ts'
import { type EntryList, listFromEntries } from '../../src/merkle/entry-list.ts'
import { issueLine, MerkleInputError } from '../../src/merkle/errors.ts'
import type { BuildProgress } from '../../src/merkle/progress.ts'
import { readRecipientCsv, recipientRoot, recipientTree } from '../../src/merkle/recipient-tree.ts'
import type { MerkleTree } from '../../src/merkle/tree.ts'
import { choiceOf, integer } from '../command.ts'
import { readBytes, unreadable } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'

/** The flags of every command that reads a CSV. */
export const csvFlags = {
  decimals: integer("The token's decimals: amounts are whole tokens (without it, raw units)", {
    min: 0,
    max: MAX_DECIMALS,
  }),
  duplicates: choiceOf(['reject', 'sum'], 'A wallet that stands twice: an error (default), or summed'),
}
export interface CsvChoices {
  decimals: number | undefined
  duplicates: 'reject' | 'sum' | undefined
}

/** A list with at most this many rows is read too fast for a progress bar. */
const PROGRESS_FROM = 50_000

export interface Recipients {
  list: EntryList
  merged: number
  zeroAmounts: number
  /** Whether --decimals applies to its amounts; those of a tree file are raw units. */
  hasDecimals: boolean
}

/** Reads the recipients; throws a usage problem with one line `FILE:LINE:COLUMN: what` for each fault. */
export async function readRecipients(file: string, { decimals, duplicates }: CsvChoices, ui: Ui): Promise<Recipients> {
  takeStoredCode()
  const name = file === '-' ? 'stdin' : file
  const { source, close } = await openRecipients(file)
  try {
    if (isTreeFile(source)) return readTreeFile(source.all(), name)
    const options = { name, decimals, duplicates: duplicates ?? 'reject', onProgress: treeProgress(ui) } as const
    return { ...readRecipientCsv(source, options), hasDecimals: true }
  } catch (error) {
    if (error instanceof MerkleInputError) throw inputProblem(error)
    throw error
  } finally {
    close()
    ui.clear()
  }
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
    // Opening anything else, such as a named pipe, could take from it what is then missing.
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

/** Hashes the tree for its root alone, with the same progress bar. */
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
function inputProblem(error: MerkleInputError) {
  const lines = error.issues.map(issueLine)
  const hidden = error.issueCount - error.issues.length
  if (hidden > 0) lines.push(`… and ${hidden} more`)
  return usage(lines[0] ?? error.message, { lines, details: { issue_count: error.issueCount, issues: error.issues } })
}

/** Whether the file is a tree's JSON; a CSV never starts with a brace. */
function isTreeFile(source: CsvSource): boolean {
  const piece = new Uint8Array(4096)
  for (let at = 0; ; ) {
    const read = source.read(piece, at)
    const first = piece.subarray(0, read).find((byte) => byte > 32)
    if (read === 0 || first !== undefined) return first === 0x7b
    at += read
  }
}

const isRawAmount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,20}$/.test(value)

function readTreeFile(bytes: Uint8Array, name: string): Recipients {
  const wrong = (what: string) => usage(`${name}: ${what}; expected a CSV or the file of \`svc merkle build --out\``)
  let claims: unknown
  try {
    claims = JSON.parse(Buffer.from(bytes).toString('utf8')).claims
  } catch {
    throw wrong('it is not valid JSON')
  }
  if (!Array.isArray(claims) || claims.length === 0) throw wrong('it has no claims')
  const entries = claims.map((claim: { wallet?: unknown; amount?: unknown; amount_locked?: unknown } | null, i) => {
    const { wallet, amount, amount_locked = '0' } = claim ?? {}
    if (typeof wallet !== 'string' || !isRawAmount(amount)) throw wrong(`claims.${i} has no wallet and amount`)
    if (!isRawAmount(amount_locked)) throw wrong(`claims.${i}.amount_locked must be raw units, digits only`)
    return { wallet, amount: BigInt(amount), locked: BigInt(amount_locked) }
  })
  try {
    return { list: listFromEntries(entries), merged: 0, zeroAmounts: 0, hasDecimals: false }
  } catch (error) {
    if (error instanceof RangeError) throw wrong(error.message)
    throw error
  }
}
