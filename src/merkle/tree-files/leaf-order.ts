/** Finds an order of leaves that gives the tree of their proofs. */
import { type EntryList, LOCKED_BYTES, listFromBytes, RECORD_BYTES } from '../entry-list.ts'
import { hashLeaf, hashPair, NODE_BYTES } from '../tree.ts'

/** Leaves under one node of a level. */
interface Subtree {
  readonly leaves: readonly number[]
  readonly node: Buffer
}

/**
 * Returns the indexes of the leaves in such an order, that of the list if the tree allows it; undefined if the proofs
 * are not from one tree. The two children of a node are hashed sorted, so several orders have one root.
 */
export function leafOrder(list: EntryList, proofs: readonly (readonly Uint8Array[])[]): readonly number[] | undefined {
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
export function orderedList(list: EntryList, order: readonly number[]): EntryList {
  const bytes = new Uint8Array(list.count * RECORD_BYTES)
  const column = list.locked && new Uint8Array(list.count * LOCKED_BYTES)
  order.forEach((from, to) => {
    bytes.set(list.bytes.subarray(from * RECORD_BYTES, (from + 1) * RECORD_BYTES), to * RECORD_BYTES)
    if (list.locked)
      column?.set(list.locked.subarray(from * LOCKED_BYTES, (from + 1) * LOCKED_BYTES), to * LOCKED_BYTES)
  })
  return listFromBytes(bytes, column)
}
