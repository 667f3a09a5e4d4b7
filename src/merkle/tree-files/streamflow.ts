/**
 * Streamflow's files of a tree: the CSV from which its service builds one, and the service's answer about claimants.
 */
import { type EntryList, entryAt } from '../entry-list.ts'
import { hashFromHex, provenRoot, toHex } from '../tree.ts'
import { leafOrder, orderedList } from './leaf-order.ts'
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
