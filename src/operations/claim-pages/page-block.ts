/** One block of rows of a stored tree, as a claim page loads it. */
import { BLOCK_ROWS, blockCount, encodeBlock } from '../../claim-page/site/site-subject.ts'
import type { Context } from '../../context.ts'
import { CHUNK_LEAVES, leafChunkOf, proofFromChunk, readChunk } from '../../merkle/stored-tree.ts'
import type { Row } from '../../store/schema.ts'
import { withRow } from '../merkle-trees/open-tree.ts'

/** Returns null for a block that the tree does not have. */
export function readBlock(
  context: Pick<Context, 'store'>,
  row: Row<'merkle_trees'>,
  block: number,
): Promise<Buffer | null> {
  return withRow(context, row, async ({ head, read }) => {
    if (block >= blockCount(head.count)) return null
    const first = block * BLOCK_ROWS
    const chunk = await readChunk(head, leafChunkOf(first), read)
    const { proof } = proofFromChunk(head, chunk, first)
    return encodeBlock(chunk.list, first % CHUNK_LEAVES, proof, head.hasLocked)
  })
}
