/** `svc merkle verify --tree`: whether leaves, proofs, sums and root of a tree's file match. */

import { listHash, totalAmount, totalLocked } from '../../src/merkle/entry-list.ts'
import { issueLine } from '../../src/merkle/errors.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { type CheckedTreeFile, checkTreeFile, type TreeFile } from '../../src/merkle/tree-files/tree-file.ts'
import { listWarnings } from '../../src/merkle/unusable-wallets.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { readHash } from './built-record.ts'
import { openTreeFile } from './json-recipients.ts'

/** What a list or a tree is compared with. */
export interface Against {
  root: string | undefined
  id: string | undefined
}

export async function verifyTreeFile(name: string, against: Against, session: Session): Promise<CommandOutcome> {
  const stored = against.id === undefined ? null : (await session.client.merkleTrees.get({ id: against.id })).data
  const given = against.root ?? stored?.root
  const expected = given === undefined ? undefined : toHex(readHash(given, '--root'))
  const file = await openTreeFile(name)
  requireRoot(name, file, expected)
  const checked = checkTreeFile(file)
  const warnings = listWarnings(file.list)
  for (const warning of warnings) session.ui.warn(warning)
  const warned = warnings.length === 0 ? {} : { warnings }
  const data = { ...treeFileRecord(file, checked), expected: expected ?? null, ...warned }
  const isExpected = expected === undefined || data.root === expected
  const valid = checked.faultCount === 0 && isExpected
  const lines = checked.faults.map((fault) => `  ${issueLine(fault)}`)
  if (checked.faultCount > lines.length) lines.push(`  … and ${checked.faultCount - lines.length} more`)
  const of = `${name} (${file.format}, ${counted(data.leaf_count, 'leaf', 'leaves')})`
  const no = isExpected
    ? `No: ${of} does not hold together.`
    : `No: ${of} has the root ${data.root}, expected ${expected}.`
  const yes = `Yes: ${of} has the root ${data.root}, and all of its proofs lead to it; its canonical list has the SHA-256 ${data.list_sha256}.`
  return {
    data: { valid, ...data, faults: checked.faults, fault_count: checked.faultCount },
    text: valid ? yes : [no, ...lines].join('\n'),
    exitCode: valid ? EXIT.done : EXIT.failed,
  }
}

/** Throws a usage problem for a file whose leaves could have any root, unless one is expected. */
export function requireRoot(name: string, { root }: TreeFile, expected: string | undefined): void {
  if (root !== undefined || expected !== undefined) return
  throw usage(`${name} names no root, and not every claimant has a proof`, {
    param: '--root',
    next: 'give the root of the distributor with --root',
  })
}

/** The result for a tree's file; its root is that of its leaves in their order. */
export function treeFileRecord({ format, list }: TreeFile, { tree }: CheckedTreeFile) {
  return {
    format,
    root: toHex(tree.root),
    leaf_count: list.count,
    total: String(totalAmount(list)),
    total_locked: String(totalLocked(list)),
    list_sha256: listHash(list),
  }
}
