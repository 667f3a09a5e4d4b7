/**
 * Streamflow's files of a tree: the CSV from which its service builds one, and the service's answer about claimants.
 */
import { type EntryList, entryAt, LOCKED_BYTES, listFromBytes, RECORD_BYTES } from '../entry-list.ts'
import { hashFromHex, hashLeaf, hashPair, NODE_BYTES, provenRoot, toHex } from '../tree.ts'
import { hashFromNumbers, readClaims } from './listed-claims.ts'
import type { TreeFile } from './tree-file.ts'

const ROWS_A_CHUNK = 1000

/**
 * Yields the CSV of a list with amounts in raw units. The tree has no category, so all rows have that of Streamflow's
 * examples.
 */
export function* streamflowCsvChunks(list: EntryList): Generator<string> {
  yield 'pubkey,amount_unlocked,amount_locked,category\n'
  for (let from = 0; from < list.count; from += ROWS_A_CHUNK) {
    let rows = ''
    for (let i = from; i < Math.min(list.count, from + ROWS_A_CHUNK); i++) {
      const { wallet, amount, locked } = entryAt(list, i)
      rows += `${wallet},${amount},${locked},Staker\n`
    }
    yield rows
  }
}

/**
 * Reads claimants from the service's answer: an array, or a page with `items`. If all have a proof, the leaves are put
 * into an order that gives their tree. Throws MerkleInputError that names the claimant.
 */
export function readStreamflowClaimants(value: unknown): TreeFile {
  const claims = Array.isArray(value) ? '' : 'items'
  const { list, proofs } = readClaims(claims === '' ? value : (value as { items?: unknown }).items, {
    claims,
    wallet: 'address',
    amount: 'amountUnlocked',
    locked: 'amountLocked',
    isLockedOptional: false,
    hash: hashFromNumbers,
    hashes: 'an array of 32 numbers from 0 to 255',
  })
  const nodes = claims === '' ? 'claimants' : claims
  const names = { root: 'proofs', count: 'count', total: 'total', nodes }
  const complete = proofs.filter((proof) => proof !== undefined)
  const isComplete = complete.length === list.count
  const order = isComplete ? leafOrder(list, complete) : undefined
  const root = isComplete ? commonRoot(list, complete) : undefined
  const file = { format: 'streamflow', root, names } as const
  if (order === undefined) return { ...file, list, proofOf: (index) => proofs[index] }
  return { ...file, list: orderedList(list, order), proofOf: (index) => proofs[order[index] ?? -1] }
}

/** The root to which most of the proofs lead, because an answer names none. */
function commonRoot(list: EntryList, proofs: readonly (readonly Uint8Array[])[]): Uint8Array | undefined {
  const roots = new Map<string, number>()
  for (const [i, proof] of proofs.entries()) {
    const root = toHex(provenRoot(list, i, proof))
    roots.set(root, (roots.get(root) ?? 0) + 1)
  }
  const [most] = [...roots].sort(([, a], [, b]) => b - a)
  return most && hashFromHex(most[0])
}

/** Leaves under one node of a level. */
interface Subtree {
  readonly leaves: readonly number[]
  readonly node: Buffer
}

/**
 * Returns the indexes of the leaves in such an order, that of the list if the tree allows it; undefined if the proofs
 * are not from one tree. The two children of a node are hashed sorted, so several orders have one root.
 */
function leafOrder(list: EntryList, proofs: readonly (readonly Uint8Array[])[]): readonly number[] | undefined {
  let level = Array.from({ length: list.count }, (_, i): Subtree => {
    const node = Buffer.alloc(NODE_BYTES)
    hashLeaf(list, i, node, 0)
    return { leaves: [i], node }
  })
  for (let depth = 0; level.length > 1; depth++) {
    const above = levelAbove(level, depth, proofs)
    if (above === undefined) return undefined
    level = above
  }
  return level[0]?.leaves
}

/** Joins each subtree with the sibling that its proof names; an incomplete subtree comes last. */
function levelAbove(
  level: readonly Subtree[],
  depth: number,
  proofs: readonly (readonly Uint8Array[])[],
): Subtree[] | undefined {
  const subtrees = new Map(level.map((subtree) => [subtree.node.toString('latin1'), subtree]))
  const above: Subtree[] = []
  let last: Subtree | undefined
  for (const subtree of level) {
    if (!subtrees.has(subtree.node.toString('latin1'))) continue
    const sibling = proofs[subtree.leaves[0] ?? 0]?.[depth]
    const other = sibling && subtrees.get(Buffer.from(sibling).toString('latin1'))
    if (other === undefined) return undefined
    subtrees.delete(subtree.node.toString('latin1'))
    subtrees.delete(other.node.toString('latin1'))
    const joined = join(subtree, other)
    if (joined.leaves.length === 2 ** (depth + 1)) above.push(joined)
    else if (last === undefined) last = joined
    else return undefined
  }
  return last === undefined ? above : [...above, last]
}

function join(a: Subtree, b: Subtree): Subtree {
  const node = Buffer.alloc(NODE_BYTES)
  hashPair(a.node, 0, b.node, 0, node, 0)
  if (a === b) return { leaves: a.leaves, node }
  const [first, second] = a.leaves.length >= b.leaves.length ? [a, b] : [b, a]
  return { leaves: [...first.leaves, ...second.leaves], node }
}

/** Returns the list with its leaves in this order. */
function orderedList(list: EntryList, order: readonly number[]): EntryList {
  const bytes = new Uint8Array(list.count * RECORD_BYTES)
  const column = list.locked && new Uint8Array(list.count * LOCKED_BYTES)
  order.forEach((from, to) => {
    bytes.set(list.bytes.subarray(from * RECORD_BYTES, (from + 1) * RECORD_BYTES), to * RECORD_BYTES)
    if (list.locked)
      column?.set(list.locked.subarray(from * LOCKED_BYTES, (from + 1) * LOCKED_BYTES), to * LOCKED_BYTES)
  })
  return listFromBytes(bytes, column)
}
