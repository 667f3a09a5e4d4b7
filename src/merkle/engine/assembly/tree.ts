/** Leaves and nodes of the tree, four at a time; the hashing is that of `hashLeaf` and `hashPair` in TypeScript. */
import { RECORD_BYTES } from './records'
import { BLOCK, compress, compressClosing, STATE, start, transpose } from './sha256'

const NODE_BYTES: usize = 32
/** Where unused lanes write if fewer than four messages are left. */
const DISCARDED: usize = memory.data(32, 16)
/** The left and the right children of four nodes, as words of four lanes. */
const CHILDREN: usize = memory.data(256, 16)

/** Reverses the byte order of each 32-bit word. */
function swapped(x: v128): v128 {
  return v128.shuffle<u8>(x, x, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
}

function splat(word: u32): v128 {
  return i32x4.splat(word)
}

function setWord(word: usize, value: v128): void {
  v128.store(BLOCK + 16 * word, value)
}

/** Loads sixteen big-endian bytes of each of four messages as four words of four lanes. */
function gather(to: usize, p0: usize, p1: usize, p2: usize, p3: usize): void {
  transpose(swapped(v128.load(p0)), swapped(v128.load(p1)), swapped(v128.load(p2)), swapped(v128.load(p3)), to)
}

/** Stores four words of four lanes as sixteen big-endian bytes of each of four messages. */
function scatter(from: usize, p0: usize, p1: usize, p2: usize, p3: usize): void {
  const x0 = v128.load(from, 0)
  const x1 = v128.load(from, 16)
  const x2 = v128.load(from, 32)
  const x3 = v128.load(from, 48)
  const a = v128.shuffle<u32>(x0, x1, 0, 4, 1, 5)
  const b = v128.shuffle<u32>(x0, x1, 2, 6, 3, 7)
  const c = v128.shuffle<u32>(x2, x3, 0, 4, 1, 5)
  const d = v128.shuffle<u32>(x2, x3, 2, 6, 3, 7)
  v128.store(p0, swapped(v128.shuffle<u64>(a, c, 0, 2)))
  v128.store(p1, swapped(v128.shuffle<u64>(a, c, 1, 3)))
  v128.store(p2, swapped(v128.shuffle<u64>(b, d, 0, 2)))
  v128.store(p3, swapped(v128.shuffle<u64>(b, d, 1, 3)))
}

/** Stores the four digests of the state; those beyond `to` are discarded. */
function storeDigests(nodes: usize, i: u32, to: u32): void {
  const p0 = nodes + NODE_BYTES * i
  const p1 = i + 1 < to ? p0 + NODE_BYTES : DISCARDED
  const p2 = i + 2 < to ? p0 + 2 * NODE_BYTES : DISCARDED
  const p3 = i + 3 < to ? p0 + 3 * NODE_BYTES : DISCARDED
  scatter(STATE, p0, p1, p2, p3)
  scatter(STATE + 64, p0 + 16, p1 + 16, p2 + 16, p3 + 16)
}

/** Hashes four records into their leaves. */
function hashFourLeaves(records: usize, nodes: usize, i: u32, to: u32): void {
  const p0 = records + RECORD_BYTES * i
  const p1 = i + 1 < to ? p0 + RECORD_BYTES : p0
  const p2 = i + 2 < to ? p0 + 2 * RECORD_BYTES : p0
  const p3 = i + 3 < to ? p0 + 3 * RECORD_BYTES : p0
  gather(BLOCK, p0, p1, p2, p3)
  gather(BLOCK + 64, p0 + 16, p1 + 16, p2 + 16, p3 + 16)
  // The last eight bytes are words 8 and 9; words 6 and 7 are loaded again with them, so that no byte after the record
  // is read.
  gather(BLOCK + 96, p0 + 24, p1 + 24, p2 + 24, p3 + 24)
  setWord(10, splat(0))
  setWord(11, splat(0))
  setWord(12, splat(0x80000000))
  setWord(13, splat(0))
  setWord(14, splat(0))
  setWord(15, splat(48 * 8))
  start()
  compress()
  let before = splat(0)
  for (let k: usize = 0; k < 8; k++) {
    const word = v128.load(STATE + 16 * k)
    setWord(k, v128.or(v128.shl<u32>(before, 24), v128.shr<u32>(word, 8)))
    before = word
  }
  setWord(8, v128.or(v128.shl<u32>(before, 24), splat(0x00800000)))
  for (let k: usize = 9; k < 15; k++) setWord(k, splat(0))
  setWord(15, splat(33 * 8))
  start()
  compress()
  storeDigests(nodes, i, to)
}

/** Writes the hashes of the records from number `from` to before `to`. */
export function hashLeaves(records: usize, nodes: usize, from: u32, to: u32): void {
  for (let i = from; i < to; i += 4) hashFourLeaves(records, nodes, i, to)
}

/** Mask of the lanes whose left child comes after the right one in byte order. */
function turnedLanes(): v128 {
  const left = v128.load(CHILDREN)
  const right = v128.load(CHILDREN, 128)
  let turned = v128.gt<u32>(left, right)
  let equal = v128.eq<u32>(left, right)
  for (let k: usize = 16; k < 128 && v128.any_true(equal); k += 16) {
    const a = v128.load(CHILDREN + k)
    const b = v128.load(CHILDREN + k, 128)
    turned = v128.or(turned, v128.and(equal, v128.gt<u32>(a, b)))
    equal = v128.and(equal, v128.eq<u32>(a, b))
  }
  return turned
}

/** Hashes four pairs of the level `below`, which has `count` nodes, into the nodes above them. */
function hashFourPairs(below: usize, above: usize, i: u32, to: u32, count: u32): void {
  const p0 = below + 2 * NODE_BYTES * i
  const p1 = i + 1 < to ? p0 + 2 * NODE_BYTES : p0
  const p2 = i + 2 < to ? p0 + 4 * NODE_BYTES : p0
  const p3 = i + 3 < to ? p0 + 6 * NODE_BYTES : p0
  // The last of an odd number of nodes pairs with itself.
  const end = below + NODE_BYTES * count
  const q0 = p0 + NODE_BYTES < end ? p0 + NODE_BYTES : p0
  const q1 = p1 + NODE_BYTES < end ? p1 + NODE_BYTES : p1
  const q2 = p2 + NODE_BYTES < end ? p2 + NODE_BYTES : p2
  const q3 = p3 + NODE_BYTES < end ? p3 + NODE_BYTES : p3
  gather(CHILDREN, p0, p1, p2, p3)
  gather(CHILDREN + 64, p0 + 16, p1 + 16, p2 + 16, p3 + 16)
  gather(CHILDREN + 128, q0, q1, q2, q3)
  gather(CHILDREN + 192, q0 + 16, q1 + 16, q2 + 16, q3 + 16)
  const turned = turnedLanes()
  let before = splat(0x01)
  for (let k: usize = 0; k < 8; k++) {
    const word = v128.bitselect(v128.load(CHILDREN + 16 * k, 128), v128.load(CHILDREN + 16 * k), turned)
    setWord(k, v128.or(v128.shl<u32>(before, 24), v128.shr<u32>(word, 8)))
    before = word
  }
  for (let k: usize = 0; k < 8; k++) {
    const word = v128.bitselect(v128.load(CHILDREN + 16 * k), v128.load(CHILDREN + 16 * k, 128), turned)
    setWord(k + 8, v128.or(v128.shl<u32>(before, 24), v128.shr<u32>(word, 8)))
    before = word
  }
  start()
  compress()
  compressClosing(before)
  storeDigests(above, i, to)
}

/** Writes the nodes from number `from` to before `to` above a level of `count` nodes. */
export function hashPairs(below: usize, above: usize, from: u32, to: u32, count: u32): void {
  for (let i = from; i < to; i += 4) hashFourPairs(below, above, i, to, count)
}
