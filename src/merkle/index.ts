/** Recipient lists and their merkle trees: read CSV or JSON, build, prove, verify, compare, store. Pure functions over bytes. */
export { MAX_DECIMALS } from './amounts.ts'
export { keyFromBase58, keyToBase58, walletFault } from './base58.ts'
export { type CsvOptions, type CsvRows, readCsv } from './csv.ts'
export type { CsvColumns } from './csv-columns.ts'
export { diffLists, type ListDiff } from './diff.ts'
export {
  amountAt,
  type EntryList,
  entryAt,
  findWallet,
  type ListEntry,
  listFromBytes,
  listFromEntries,
  listHash,
  MAX_STORED_LEAVES,
  shardList,
  totalAmount,
  walletAt,
} from './entry-list.ts'
export { issueLine, LeafLayoutError, MAX_ISSUES, MerkleInputError, type MerkleIssue } from './errors.ts'
export type { BuildProgress } from './progress.ts'
export type { DuplicateMode, SettledRows } from './row-builder.ts'
export {
  type BlobKind,
  blobsOf,
  type EncodedTree,
  encodeTree,
  findInIndex,
  indexChunkOf,
  type LeafChunk,
  leafChunkOf,
  lookUpProof,
  openChunk,
  openHead,
  proofFromChunk,
  type ReadBlob,
  readStoredList,
  type StoredBlob,
  type StoredProof,
  type TreeHead,
} from './stored-tree.ts'
export { buildTree, hashFromHex, type MerkleTree, proofAt, toHex, verifyProof } from './tree.ts'
export { decodeTreeId, encodeTreeId, MAX_AIRDROP_COUNT } from './tree-id.ts'
export { readTreeRequest, TREE_REQUEST_FIELDS, type TreeRequest } from './tree-request.ts'
