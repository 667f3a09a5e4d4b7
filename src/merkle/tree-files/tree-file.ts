/** A tree in the file of a tool, and the check that its leaves, proofs and root belong together. */
import { type EntryList, entryAt, totalAmount } from '../entry-list.ts'
import { MAX_ISSUES, type MerkleIssue } from '../errors.ts'
import { recipientTree } from '../recipient-tree.ts'
import { type MerkleTree, proofAt, provenRoot, toHex } from '../tree.ts'

/** Most siblings of a leaf: the distributor's trees have at most 2^32 leaves. */
export const MAX_SIBLINGS = 32

export type TreeFormat = 'svc' | 'jito' | 'streamflow'

/** Content of a file in Jito's form beyond the list, so that the file can be written again unchanged. */
export interface JitoDetail {
  /** The six amounts of each node in present files, or the two amounts of early files. */
  layout: 'categories' | 'plain'
  /** The six amounts of each node, in the order of the fields; only with `categories`. */
  amounts: readonly bigint[]
}

/** The content of a file; only its form is checked. */
export interface TreeFile {
  readonly format: TreeFormat
  /** The leaves in the order of the file, with distinct wallets. */
  readonly list: EntryList
  /** Merkle root of 32 bytes; undefined if the file names none. */
  readonly root: Uint8Array | undefined
  /** Number of leaves and sum of both amounts, if the file names them. */
  readonly count?: bigint
  readonly total?: bigint
  /** Names of its root, count, total, and of its array of nodes. */
  readonly names: { root: string; count: string; total: string; nodes: string }
  /** The siblings of a node in the file, leaf to root; undefined if it has none. */
  proofOf(index: number): Uint8Array[] | undefined
  readonly jito?: JitoDetail
}

export interface CheckedTreeFile {
  /** The tree of the leaves in the order of the file. */
  readonly tree: MerkleTree
  /** The first hundred mismatches, by field or node. */
  readonly faults: readonly MerkleIssue[]
  readonly faultCount: number
}

/** Hashes the leaves of a file, and compares its root, proofs, count and total with the result. */
export function checkTreeFile(file: TreeFile): CheckedTreeFile {
  const { list, names } = file
  const tree = recipientTree(list)
  const root = file.root ?? tree.root
  const faults: MerkleIssue[] = []
  let faultCount = 0
  const refuse = (position: string, message: () => string) => {
    faultCount++
    if (faults.length < MAX_ISSUES) faults.push({ position, message: message() })
  }
  if (file.count !== undefined && file.count !== BigInt(list.count))
    refuse(names.count, () => `is ${file.count}, the file has ${list.count} nodes`)
  const total = totalAmount(list)
  if (file.total !== undefined && file.total !== total)
    refuse(names.total, () => `is ${file.total}, its nodes add up to ${total}`)
  const isRoot = Buffer.compare(tree.root, root) === 0
  if (!isRoot)
    refuse(names.root, () => `${toHex(root)} is not the root of the nodes in this order, ${toHex(tree.root)}`)
  const wrong: number[] = []
  for (let i = 0; i < list.count; i++) {
    const proof = file.proofOf(i)
    const isRight = isRoot
      ? proof && sameProof(proof, proofAt(tree, i))
      : proof && provenRoot(list, i, proof).equals(root)
    if (isRight === false) wrong.push(i)
  }
  // If no proof leads to the root, only the root is wrong.
  const nodes = isRoot || wrong.length < list.count ? wrong : []
  for (const i of nodes) refuse(`${names.nodes}.${i}`, () => nodeFault(list, i, root))
  return { tree, faults, faultCount }
}

function nodeFault(list: EntryList, index: number, root: Uint8Array): string {
  const { wallet, amount, locked } = entryAt(list, index)
  return `the proof does not lead from ${wallet} with ${amount} and ${locked} locked to the root ${toHex(root)}`
}

function sameProof(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((sibling, d) => Buffer.compare(sibling, b[d] ?? sibling) === 0)
}
