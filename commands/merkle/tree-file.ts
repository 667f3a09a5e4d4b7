/** Writes the file of `svc merkle build --out`: in its own form the tree's record and, for each leaf, wallet, amounts and proof. */

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { entryAt, MAX_STORED_LEAVES } from '../../src/merkle/entry-list.ts'
import { type MerkleTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { CATEGORY_FIELDS } from '../../src/merkle/tree-files/jito-reader.ts'
import { jitoTreeChunks } from '../../src/merkle/tree-files/jito-writer.ts'
import { streamflowCsvChunks } from '../../src/merkle/tree-files/streamflow.ts'
import type { JitoDetail, TreeFormat } from '../../src/merkle/tree-files/tree-file.ts'
import { replaceWith } from '../../src/platform/files.ts'
import { reason } from '../ui/files.ts'
import { failure } from '../ui/problem.ts'

const ROWS_A_CHUNK = 1000

/** Streams to a temporary file next to `file` and renames it, so that `file` is complete or unchanged. */
export async function writeTreeFile(file: string, chunks: Iterable<string>): Promise<void> {
  try {
    await replaceWith(file, async (draft) => {
      const stream = createWriteStream(draft, { flags: 'wx' })
      const done = finished(stream)
      done.catch(() => {})
      for (const chunk of chunks) {
        if (!stream.write(chunk)) await Promise.race([once(stream, 'drain'), done])
      }
      stream.end()
      await done
    })
  } catch (error) {
    throw failure(`${file} cannot be written: ${reason(error)}`)
  }
}

/** The name of a shard's file: `tree.json` of airdrop 3 is `tree.3.json`. */
export function shardFile(file: string, airdropCount: number): string {
  const dot = file.lastIndexOf('.')
  const at = dot > file.lastIndexOf('/') + 1 ? dot : file.length
  return `${file.slice(0, at)}.${airdropCount}${file.slice(at)}`
}

/** Yields the text of the file in the form of the tool that reads it. */
export function treeChunks(
  format: TreeFormat | undefined,
  tree: MerkleTree,
  record: TreeRecord,
  jito: JitoDetail | undefined,
): Iterable<string> {
  if (format === 'jito') return jitoTreeChunks(tree, jito)
  return format === 'streamflow' ? streamflowCsvChunks(tree.list) : svcTreeChunks(tree, record)
}

/** What a Jito file says about the leaves in one part of its list, so that the part is written unchanged. */
export function jitoPart(jito: JitoDetail, part: number): JitoDetail {
  const from = part * MAX_STORED_LEAVES * CATEGORY_FIELDS.length
  return { ...jito, amounts: jito.amounts.slice(from) }
}

/** Yields the text of the file in its own form. */
function* svcTreeChunks(tree: MerkleTree, record: TreeRecord): Generator<string> {
  const head = JSON.stringify({ format: 'svc-merkle-tree/1', ...record }, undefined, 2)
  yield `${head.slice(0, -2)},\n  "claims": [\n`
  const { count } = tree.list
  for (let from = 0; from < count; from += ROWS_A_CHUNK) {
    let rows = ''
    for (let i = from; i < Math.min(count, from + ROWS_A_CHUNK); i++) {
      const { wallet, amount, locked } = entryAt(tree.list, i)
      const amounts = { amount: String(amount), ...(tree.list.locked && { amount_locked: String(locked) }) }
      const claim = { index: i, wallet, ...amounts, proof: proofAt(tree, i).map(toHex) }
      rows += `    ${JSON.stringify(claim)}${i + 1 < count ? ',' : ''}\n`
    }
    yield rows
  }
  yield '  ]\n}\n'
}
