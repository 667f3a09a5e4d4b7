/** Recognizes by its fields which tool a tree file is from, and reads it. */
import { CLOSE_BRACE, COLON, COMMA, JsonScanner, OPEN_BRACE, OPEN_BRACKET } from '../../platform/json-scanner.ts'
import { refuseInput, refuseJson } from '../errors.ts'
import { hashFromHex } from '../tree.ts'
import { readJitoTree } from './jito-reader.ts'
import { readClaims } from './listed-claims.ts'
import { readStreamflowClaimants } from './streamflow.ts'
import type { TreeFile, TreeFormat } from './tree-file.ts'

/** The files that can be read, for a message about any other file. */
const TREE_FILES =
  'the file of `svc merkle build --out`, the merkle_tree.json of the Jito distributor, or claimants from the API of Streamflow'

/** Reads a tree file (UTF-8 JSON). Throws MerkleInputError that names the field or node. */
export function readTreeFile(bytes: Uint8Array): TreeFile {
  const format = formatOf(bytes) ?? refuseInput('', `is not a tree: expected ${TREE_FILES}`)
  if (format === 'jito') return readJitoTree(bytes)
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  return format === 'svc' ? readSvcTree(value as Record<string, unknown>) : readStreamflowClaimants(value)
}

/**
 * Whether the JSON is a tree, instead of a list of wallets and amounts. Throws like `readTreeFile` if it is not JSON.
 */
export function isTreeJson(bytes: Uint8Array): boolean {
  const format = formatOf(bytes)
  if (format !== 'streamflow') return format !== undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('"amountUnlocked"')
}

/** Fields of an object that only one format has. */
const FORMAT_OF_FIELD: Readonly<Record<string, TreeFormat>> = {
  merkle_root: 'jito',
  max_num_nodes: 'jito',
  max_total_claim: 'jito',
  tree_nodes: 'jito',
  claims: 'svc',
  items: 'streamflow',
}

/** Recognizes the format by the first field that only one format has, without reading a long file. */
function formatOf(bytes: Uint8Array): TreeFormat | undefined {
  const scanner = new JsonScanner(bytes, refuseJson)
  if (scanner.peek() === OPEN_BRACKET) {
    scanner.skipValue()
    scanner.expectEnd()
    return 'streamflow'
  }
  let format: TreeFormat | undefined
  scanner.expect(OPEN_BRACE)
  if (scanner.peek() !== CLOSE_BRACE) {
    do {
      scanner.peek()
      const start = scanner.position
      scanner.skipString()
      const name = scanner.value(start, scanner.position) as string
      if (Object.hasOwn(FORMAT_OF_FIELD, name)) format = FORMAT_OF_FIELD[name]
      scanner.expect(COLON)
      if (format === 'jito') return format
      scanner.peek()
      scanner.skipValue()
    } while (scanner.take(COMMA))
  }
  scanner.expect(CLOSE_BRACE)
  scanner.expectEnd()
  return format
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
    refuseInput('root', 'must be 32 bytes in hex')
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
