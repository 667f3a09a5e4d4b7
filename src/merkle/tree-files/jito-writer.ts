/** Writes a tree as Jito's distributor does: serde_json's pretty form, without a line end at the end of the file. */
import { MAX_U64 } from '../../solana/u64.ts'
import { amountAt, lockedAt, totalAmount, walletAt } from '../entry-list.ts'
import { type MerkleTree, proofAt } from '../tree.ts'
import { CATEGORY_FIELDS, PLAIN_FIELDS } from './jito-reader.ts'
import type { JitoDetail } from './tree-file.ts'

const NODES_A_CHUNK = 100

/**
 * Yields the text of the file. Without a detail all amounts are written as `staker`; a claim does not distinguish the
 * fields. Throws RangeError if the sum of the amounts exceeds u64, because a distributor stores it as one u64.
 */
export function* jitoTreeChunks(tree: MerkleTree, detail?: JitoDetail): Generator<string> {
  const { list, root } = tree
  const total = totalAmount(list)
  if (total > MAX_U64) throw new RangeError(`the amounts add up to ${total}, more than a distributor's u64 holds`)
  yield `{\n  "merkle_root": ${byteArray(root, 2)},\n  "max_num_nodes": ${list.count},\n  "max_total_claim": ${total},\n  "tree_nodes": [\n`
  for (let from = 0; from < list.count; from += NODES_A_CHUNK) {
    let text = ''
    for (let i = from; i < Math.min(list.count, from + NODES_A_CHUNK); i++) {
      text += `${nodeText(tree, i, detail)}${i + 1 < list.count ? ',' : ''}\n`
    }
    yield text
  }
  yield '  ]\n}'
}

function nodeText(tree: MerkleTree, index: number, detail: JitoDetail | undefined): string {
  const { list } = tree
  const claimant = `      "claimant": ${byteArray(walletAt(list, index), 6)}`
  const siblings = proofAt(tree, index).map((sibling) => `        ${byteArray(sibling, 8)}`)
  const proof = `      "proof": ${siblings.length === 0 ? '[]' : `[\n${siblings.join(',\n')}\n      ]`}`
  const [unlocked, locked] = [amountAt(list, index), lockedAt(list, index)]
  const fieldsText = (names: readonly string[], values: readonly bigint[]) =>
    names.map((name, i) => `      "${name}": ${values[i]}`)
  const fields =
    detail?.layout === 'plain'
      ? [claimant, ...fieldsText(PLAIN_FIELDS, [unlocked, locked]), proof]
      : [claimant, proof, ...fieldsText(CATEGORY_FIELDS, categoriesOf(index, [unlocked, locked], detail))]
  return `    {\n${fields.join(',\n')}\n    }`
}

function categoriesOf(
  index: number,
  amounts: readonly [bigint, bigint],
  detail: JitoDetail | undefined,
): readonly bigint[] {
  const size = CATEGORY_FIELDS.length
  return detail?.amounts.slice(index * size, (index + 1) * size) ?? [...amounts, 0n, 0n, 0n, 0n]
}

/** An array of numbers, one per line, whose first line is already indented by `indent` spaces. */
function byteArray(bytes: Uint8Array, indent: number): string {
  const margin = ' '.repeat(indent)
  let text = '['
  for (let i = 0; i < bytes.length; i++) text += `${i === 0 ? '' : ','}\n${margin}  ${bytes[i]}`
  return `${text}\n${margin}]`
}
