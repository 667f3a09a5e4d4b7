/** From raw bytes to everything the store needs, in one call: what the worker thread does, and what it sends back. */
import { type CsvOptions, readCsv } from './csv.ts'
import { listHash, totalAmount } from './entry-list.ts'
import type { SettledRows } from './row-builder.ts'
import { type EncodedTree, encodeTree } from './stored-tree.ts'
import { buildTree, toHex } from './tree.ts'
import { readTreeRequest } from './tree-request.ts'

/** A validated list and its tree, free of anything that cannot cross threads. */
export interface BuiltTree {
  /** Every field of the request body but `entries`, as sent; empty for a CSV. */
  fields: Record<string, unknown>
  leafCount: number
  /** Hex, no prefix. */
  root: string
  /** Base units; can exceed u64. */
  total: bigint
  /** SHA-256 (hex) of the records in leaf order. */
  listHash: string
  merged: number
  zeroAmounts: number
  /** The blobs to store (`blobsOf`); absent when the request says `persist: false`. */
  encoded: EncodedTree | undefined
}

/** Builds from the raw body of POST /v2/merkle-trees; MerkleInputError as `readTreeRequest`. */
export function buildFromRequest(body: Uint8Array): BuiltTree {
  const { fields, ...rows } = readTreeRequest(body)
  return treeOf(fields, rows, fields.persist !== false)
}

/** Builds from CSV bytes; MerkleInputError as `readCsv`. */
export function buildFromCsv(bytes: Uint8Array, options: CsvOptions = {}): BuiltTree {
  return treeOf({}, readCsv(bytes, options), true)
}

function treeOf(fields: Record<string, unknown>, rows: SettledRows, encode: boolean): BuiltTree {
  const { list, merged, zeroAmounts } = rows
  const tree = buildTree(list)
  return {
    fields,
    leafCount: list.count,
    root: toHex(tree.root),
    total: totalAmount(list),
    listHash: listHash(list),
    merged,
    zeroAmounts,
    encoded: encode ? encodeTree(tree) : undefined,
  }
}
