/** Tells by its fields which tool a tree file is from, and reads it. */
import { MerkleInputError } from '../errors.ts'
import { eachMember, JsonScanner } from '../json-scanner.ts'
import { hashFromHex } from '../tree.ts'
import { readJitoTree } from './jito-reader.ts'
import { readClaims } from './listed-claims.ts'
import { readStreamflowClaimants } from './streamflow.ts'
import type { TreeFile } from './tree-file.ts'

/** What is read, for a message about another file. */
export const TREE_FILES =
  'the file of `svc merkle build --out`, the merkle_tree.json of the Jito distributor, or claimants as Streamflow answers them'

/** Reads a tree file (UTF-8 JSON). Throws MerkleInputError that names the field or node. */
export function readTreeFile(bytes: Uint8Array): TreeFile {
  const names = fieldsOf(bytes)
  if (names.includes('tree_nodes') || names.includes('merkle_root')) return readJitoTree(bytes)
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  if (Array.isArray(value) || names.includes('items')) return readStreamflowClaimants(value)
  if (names.includes('claims')) return readSvcTree(value as Record<string, unknown>)
  throw new MerkleInputError([{ position: '', message: `is no tree: expected ${TREE_FILES}` }])
}

/** The names of the fields of an object; none for an array. Throws for what is not JSON. */
function fieldsOf(bytes: Uint8Array): string[] {
  const scanner = new JsonScanner(bytes)
  const names: string[] = []
  if (scanner.peek() === 123) {
    eachMember(
      scanner,
      () => {},
      (name) => {
        names.push(name)
        scanner.peek()
        scanner.skipValue()
      },
    )
  } else scanner.skipValue()
  scanner.expectEnd()
  return names
}

function readSvcTree(value: Record<string, unknown>): TreeFile {
  const { list, proofs } = readClaims(value.claims, {
    claims: 'claims',
    wallet: 'wallet',
    amount: 'amount',
    locked: 'amount_locked',
    isLockedOptional: true,
    hash: (text) => (typeof text === 'string' ? hashFromHex(text) : undefined),
    hashes: '32 bytes in hex',
  })
  const { root, leaf_count, total } = value
  const named = typeof root === 'string' ? hashFromHex(root) : undefined
  if (root !== undefined && named === undefined) {
    throw new MerkleInputError([{ position: 'root', message: 'must be 32 bytes in hex' }])
  }
  return {
    format: 'svc',
    list,
    root: named,
    ...(Number.isSafeInteger(leaf_count) ? { count: BigInt(leaf_count as number) } : {}),
    ...(typeof total === 'string' && /^\d{1,40}$/.test(total) ? { total: BigInt(total) } : {}),
    names: { root: 'root', count: 'leaf_count', total: 'total', nodes: 'claims' },
    proofOf: (index) => proofs[index],
  }
}
