/** Reads the merkle_tree.json of Jito's distributor: byte arrays, and amounts as exact u64. */

import {
  CLOSE_BRACKET,
  COMMA,
  eachElement,
  eachMember,
  JsonScanner,
  OPEN_BRACE,
  OPEN_BRACKET,
} from '../../platform/json-scanner.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { writeAmount } from '../amounts.ts'
import { keyToBase58 } from '../base58.ts'
import { LOCKED_BYTES, listFromBytes, RECORD_BYTES } from '../entry-list.ts'
import { fieldName } from '../entry-scanner.ts'
import { refuseInput, refuseJson } from '../errors.ts'
import { NODE_BYTES } from '../tree.ts'
import { type JitoDetail, MAX_SIBLINGS, type TreeFile } from './tree-file.ts'

/** Amounts of a node in the order of the file: unlocked and locked of each of three allocations. */
export const CATEGORY_FIELDS = [
  'total_unlocked_staker',
  'total_locked_staker',
  'total_unlocked_searcher',
  'total_locked_searcher',
  'total_unlocked_validator',
  'total_locked_validator',
] as const
/** Amounts of a node in early files. */
export const PLAIN_FIELDS = ['amount_unlocked', 'amount_locked'] as const

const NAMES = { root: 'merkle_root', count: 'max_num_nodes', total: 'max_total_claim', nodes: 'tree_nodes' }

/** Reads the file (UTF-8 JSON). Throws MerkleInputError for another form, naming the field or node. */
export function readJitoTree(bytes: Uint8Array): TreeFile {
  return new JitoReader(bytes).read()
}

class JitoReader {
  private readonly scanner: JsonScanner
  private readonly records: Uint8Array[] = []
  private readonly lockedAmounts: Uint8Array[] = []
  private readonly amounts: bigint[] = []
  /** Start of each node's proof in the text. */
  private readonly proofs: number[] = []
  private layout: JitoDetail['layout'] | undefined

  constructor(bytes: Uint8Array) {
    this.scanner = new JsonScanner(bytes, refuseJson)
  }

  read(): TreeFile {
    const { scanner } = this
    let root: Uint8Array | undefined
    let count: bigint | undefined
    let total: bigint | undefined
    let hasNodes = false
    this.eachField('', (name) => {
      if (name === NAMES.root) root = this.hash(name)
      else if (name === NAMES.count) count = this.u64(name)
      else if (name === NAMES.total) total = this.u64(name)
      else if (name === NAMES.nodes) {
        hasNodes = true
        eachElement(scanner, () => this.node())
      } else refuseInput(fieldName(name), 'is not a field of a tree of the distributor')
    })
    scanner.expectEnd()
    if (root === undefined) refuseInput(NAMES.root, 'is missing')
    if (count === undefined) refuseInput(NAMES.count, 'is missing')
    if (total === undefined) refuseInput(NAMES.total, 'is missing')
    if (!hasNodes) refuseInput(NAMES.nodes, 'is missing')
    if (this.records.length === 0) refuseInput(NAMES.nodes, 'is empty; a tree has at least one node')
    const list = listFromBytes(Buffer.concat(this.records), Buffer.concat(this.lockedAmounts))
    this.requireDistinct(list.bytes)
    const { layout = 'categories', amounts } = this
    const proofOf = (index: number) => this.proofAt(index)
    return { format: 'jito', list, root, count, total, names: NAMES, proofOf, jito: { layout, amounts } }
  }

  private node(): void {
    const { scanner } = this
    const at = `${NAMES.nodes}.${this.records.length}`
    const record = new Uint8Array(RECORD_BYTES)
    const values = new Map<string, bigint>()
    let hasClaimant = false
    let proof: number | undefined
    this.eachField(at, (name) => {
      if (name === 'claimant') {
        record.set(this.hash(`${at}.claimant`))
        hasClaimant = true
      } else if (name === 'proof') {
        scanner.peek()
        proof = scanner.position
        this.proof(`${at}.proof`)
      } else if (isAmountField(name)) values.set(name, this.u64(`${at}.${name}`))
      else refuseInput(`${at}.${fieldName(name)}`, 'is not a field of a node of the distributor')
    })
    if (!hasClaimant) refuseInput(`${at}.claimant`, 'is missing')
    if (proof === undefined) refuseInput(`${at}.proof`, 'is missing')
    const layout = values.has(PLAIN_FIELDS[0]) || values.has(PLAIN_FIELDS[1]) ? 'plain' : 'categories'
    this.layout ??= layout
    const fields = this.layout === 'plain' ? PLAIN_FIELDS : CATEGORY_FIELDS
    const sums = [0n, 0n]
    fields.forEach((field, i) => {
      const value = values.get(field)
      if (value === undefined) refuseInput(`${at}.${field}`, 'is missing')
      sums[i % 2] = (sums[i % 2] ?? 0n) + value
      if (fields === CATEGORY_FIELDS) this.amounts.push(value)
    })
    if (values.size !== fields.length) refuseInput(at, 'has the amounts of two kinds of nodes')
    const [amount = 0n, locked = 0n] = sums
    if (amount + locked > MAX_U64) refuseInput(at, `its amounts add up to ${amount + locked}, more than u64 holds`)
    writeAmount(record, 32, amount)
    const column = new Uint8Array(LOCKED_BYTES)
    writeAmount(column, 0, locked)
    this.records.push(record)
    this.lockedAmounts.push(column)
    this.proofs.push(proof)
  }

  /** Iterates over the object at the cursor, whose fields may be in any order, each once. */
  private eachField(at: string, field: (name: string) => void): void {
    const { scanner } = this
    const seen = new Set<string>()
    if (scanner.peek() !== OPEN_BRACE) refuseInput(at, 'must be an object')
    eachMember(scanner, (name) => {
      if (seen.has(name)) refuseInput(at === '' ? fieldName(name) : `${at}.${fieldName(name)}`, 'is there twice')
      seen.add(name)
      field(name)
    })
  }

  /** Skips the proof at the cursor, an array of hashes. */
  private proof(at: string): Uint8Array[] {
    const { scanner } = this
    const siblings: Uint8Array[] = []
    if (scanner.peek() !== OPEN_BRACKET)
      refuseInput(at, 'must be an array of hashes; a tree is written with its proofs')
    eachElement(scanner, () => {
      if (siblings.length === MAX_SIBLINGS) refuseInput(at, `has more than ${MAX_SIBLINGS} hashes`)
      siblings.push(this.hash(`${at}.${siblings.length}`))
    })
    return siblings
  }

  private proofAt(index: number): Uint8Array[] {
    this.scanner.position = this.proofs[index] ?? 0
    return this.proof(`${NAMES.nodes}.${index}.proof`)
  }

  /** Reads an array of 32 bytes at the cursor. */
  private hash(at: string): Uint8Array {
    const { scanner } = this
    if (!scanner.take(OPEN_BRACKET)) this.noHash(at, scanner.position)
    const out = new Uint8Array(NODE_BYTES)
    const { bytes } = scanner
    let p = scanner.position
    for (let i = 0; i < NODE_BYTES; i++) {
      if (i > 0) {
        p = afterSpace(bytes, p)
        if (bytes[p++] !== COMMA) this.noHash(at, p - 1)
      }
      p = afterSpace(bytes, p)
      const start = p
      let value = 0
      for (; p < start + 3; p++) {
        const digit = (bytes[p] ?? 0) - 48
        if (!(digit >= 0 && digit <= 9)) break
        value = value * 10 + digit
      }
      if (p === start || value > 255 || (bytes[start] === 48 && p > start + 1)) this.noHash(at, start)
      out[i] = value
    }
    scanner.position = p
    if (!scanner.take(CLOSE_BRACKET)) this.noHash(at, scanner.position)
    return out
  }

  /** A file that ends here is not JSON; otherwise the value is not a hash. */
  private noHash(at: string, position: number): never {
    const { scanner } = this
    scanner.position = position
    if (position >= scanner.bytes.length) scanner.fail('expected a number of a hash')
    return refuseInput(at, 'must be an array of 32 numbers from 0 to 255')
  }

  private u64(at: string): bigint {
    const { scanner } = this
    const { start, end } = scanner.cell()
    const text = end - start > 20 ? '' : scanner.text(start, end)
    if (!/^\d+$/.test(text) || BigInt(text) > MAX_U64)
      refuseInput(at, `must be a whole number of raw units, at most ${MAX_U64}`)
    return BigInt(text)
  }

  private requireDistinct(records: Uint8Array): void {
    const places = new Map<string, number>()
    for (let i = 0; i < this.records.length; i++) {
      const wallet = keyToBase58(records, i * RECORD_BYTES)
      const earlier = places.get(wallet)
      if (earlier !== undefined) {
        refuseInput(`${NAMES.nodes}.${i}.claimant`, `${wallet} is already at ${NAMES.nodes}.${earlier}`)
      }
      places.set(wallet, i)
    }
  }
}

const isAmountField = (name: string) =>
  (CATEGORY_FIELDS as readonly string[]).includes(name) || (PLAIN_FIELDS as readonly string[]).includes(name)

/** The next byte that is not white space of JSON. Most of a long file are such bytes. */
function afterSpace(bytes: Uint8Array, from: number): number {
  let p = from
  while (bytes[p] === 32 || bytes[p] === 10 || bytes[p] === 13 || bytes[p] === 9) p++
  return p
}
