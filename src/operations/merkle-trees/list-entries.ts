/** Lists the wallets and amounts of a stored tree in leaf order. Every chunk read is checked against the root. */
import type { Api, MerkleEntry } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { entryAt } from '../../merkle/entry-list.ts'
import { CHUNK_LEAVES, type LeafChunk, leafChunkOf, readChunk } from '../../merkle/stored-tree.ts'
import { decodeCursor, encodeCursor } from '../../store/queries/paging.ts'
import { withTree } from './open-tree.ts'

type ListEntriesRoute = Api['merkleTrees']['entries']

export function listEntries(
  context: Context,
  { id, limit, cursor }: Input<ListEntriesRoute>,
): Promise<Result<ListEntriesRoute>> {
  return withTree(context, id, async ({ row, head, read }) => {
    // The root is part of the name, so that a cursor of a replaced tree cannot continue in the other list.
    const list = `merkle_entries:${id}:${row.root}`
    const from = cursor === undefined ? 0 : decodeCursor(list, cursor)
    const to = Math.min(from + limit, head.count)
    const items: MerkleEntry[] = []
    let chunk: LeafChunk | undefined
    for (let index = from; index < to; index++) {
      const n = leafChunkOf(index)
      if (chunk?.n !== n) chunk = await readChunk(head, n, read)
      const { wallet, amount, locked } = entryAt(chunk.list, index - n * CHUNK_LEAVES)
      items.push({ wallet, amount: amount.toString(), amount_locked: locked.toString() })
    }
    return { items, next_cursor: to < head.count ? encodeCursor(list, to) : null }
  })
}
