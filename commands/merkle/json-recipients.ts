/** Reads recipients that are JSON: a list, or the file of a tree. */
import type { CsvOptions } from '../../src/merkle/csv.ts'
import { readWords } from '../../src/merkle/csv-columns.ts'
import { MerkleInputError, type MerkleIssue, quoted } from '../../src/merkle/errors.ts'
import { readJsonList } from '../../src/merkle/json-list.ts'
import { isTreeJson, readTreeFile } from '../../src/merkle/tree-files/read-tree-file.ts'
import { type CheckedTreeFile, checkTreeFile, type TreeFile } from '../../src/merkle/tree-files/tree-file.ts'
import { listNotes, sayDecisions } from '../lists/column-flags.ts'
import { readBytes } from '../ui/files.ts'
import type { Ui } from '../ui/ui.ts'
import { inputProblem, type Recipients, sayNotes } from './recipients.ts'

/**
 * A JSON list, or the leaves of a tree file; a tree of another tool must have the proofs and the root of its leaves.
 */
export async function jsonRecipients(
  bytes: Uint8Array,
  options: CsvOptions & { name: string },
  { ui, units }: { ui: Ui; units: (name: string) => Promise<number | undefined> },
): Promise<Recipients> {
  const { name } = options
  if (namingFaults(name, () => isTreeJson(bytes))) {
    const file = namingFaults(name, () => readTreeFile(bytes))
    if (file.format !== 'svc') requireWhole(name, checkTreeFile(file))
    const { list, jito } = file
    const none = {
      merged: 0,
      zeroAmounts: 0,
      decimals: undefined,
      ...listNotes({ read: {}, ignored: [], paidRows: 0 }),
    }
    return { list, hasDecimals: false, ...none, ...(jito === undefined ? {} : { jito }) }
  }
  const decimals = await units(name)
  const { isRaw, columns, paidRows, ...rows } = readJsonList(bytes, { ...options, decimals })
  const isScaled = !isRaw && decimals !== undefined
  await sayNotes(ui, name, [
    `JSON with amounts in ${isScaled ? `whole tokens of ${decimals} decimals` : 'raw units'}`,
    ...(isRaw ? ['each owner of a token account gets its amount; make sure that the file has all pages'] : []),
    ...(columns.ignored.length === 0
      ? []
      : [`not read: ${columns.ignored.map(quoted).join(', ')}; read: ${readWords(columns.read)}`]),
  ])
  sayDecisions(ui, name, { ...columns, paidRows })
  return { ...rows, hasDecimals: !isRaw, decimals, ...listNotes({ ...columns, paidRows }) }
}

/** Reads a tree file; throws a usage problem with one line for each fault of its form. */
export async function openTreeFile(file: string): Promise<TreeFile> {
  const bytes = await readBytes(file)
  return namingFaults(file === '-' ? 'stdin' : file, () => readTreeFile(bytes))
}

/** Throws the faults that `read` finds as a usage problem, with the file's name in each line. */
function namingFaults<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof MerkleInputError) throw inputProblem(inFile(name, error.issues, error.issueCount))
    throw error
  }
}

/** Throws a usage problem with a line for each node, or other field, that does not match the rest of the file. */
export function requireWhole(name: string, { faults, faultCount }: CheckedTreeFile): void {
  if (faultCount > 0) throw inputProblem(inFile(name, faults, faultCount))
}

/** The faults of a tree file, with its name before their position. */
const inFile = (name: string, issues: readonly MerkleIssue[], count: number) =>
  new MerkleInputError(
    issues.map(({ position, message }) => ({
      position: position === '' ? name : `${name}: ${position}`,
      message,
    })),
    count,
  )
