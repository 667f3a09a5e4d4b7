/** Builds everything that the store requires from raw bytes; the worker thread runs it and sends back the result. */
import type { CsvOptions } from './csv.ts'
import { bytesSource } from './csv-source.ts'
import { listHash, MAX_STORED_LEAVES, totalAmount, totalLocked } from './entry-list.ts'
import { readRecipientCsv, recipientTree } from './recipient-tree.ts'
import type { SettledRows } from './row-builder.ts'
import { type EncodedTree, encodeTree } from './stored-tree.ts'
import { toHex } from './tree.ts'
import { readTreeRequest } from './tree-request.ts'
import { unusableWallets, unusableWarnings } from './unusable-wallets.ts'

/** A validated list and its tree, without values that cannot be sent between threads. */
export interface BuiltTree {
  /** All fields of the request body except `entries`, as sent; empty for a CSV. */
  fields: Record<string, unknown>
  leafCount: number
  /** Merkle root in hex without a prefix. */
  root: string
  /** Sum of all amounts, locked ones included, in base units, which can exceed u64. */
  total: bigint
  /** Sum of the locked amounts in base units. */
  totalLocked: bigint
  /** SHA-256 of the canonical list in hex. */
  listHash: string
  merged: number
  zeroAmounts: number
  /** Unusual facts about the list, in sentences. */
  warnings: string[]
  /** Parts to store, see `blobsOf`; undefined when the request has `persist: false`. */
  encoded: EncodedTree | undefined
}

/** Builds from the raw body of POST /v2/merkle-trees. Throws MerkleInputError like `readTreeRequest`. */
export function buildFromRequest(body: Uint8Array): BuiltTree {
  const { fields, ...rows } = readTreeRequest(body)
  return treeOf(fields, rows, fields.persist !== false)
}

/** Builds from CSV bytes. Throws MerkleInputError like `readCsv`. */
export function buildFromCsv(bytes: Uint8Array, options: CsvOptions = {}): BuiltTree {
  return treeOf({}, readRecipientCsv(bytesSource(bytes), options), true)
}

function treeOf(fields: Record<string, unknown>, rows: SettledRows, encode: boolean): BuiltTree {
  const { list, merged, zeroAmounts } = rows
  const tree = recipientTree(list)
  return {
    fields,
    leafCount: list.count,
    root: toHex(tree.root),
    total: totalAmount(list),
    totalLocked: totalLocked(list),
    listHash: listHash(list),
    merged,
    zeroAmounts,
    warnings: unusableWarnings(unusableWallets(list, MAX_STORED_LEAVES)),
    encoded: encode ? encodeTree(tree) : undefined,
  }
}
