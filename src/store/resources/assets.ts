/** Token images and metadata in the database, stored in pieces so that no commit or reader holds a whole image. */
import type { Store, Tx } from '../store.ts'

/** Bytes of a piece; an asset's last piece may be shorter. */
export const ASSET_PIECE_BYTES = 64 * 1024
/** Pieces that one commit writes. */
const PIECES_PER_COMMIT = 16
/** Identifiers that are read at once. */
const LISTED_ROWS = 1_000

interface AssetTable {
  /** Returns the length of a complete asset in bytes, or null. */
  lengthOf(cid: string): Promise<number | null>
  /** Reads the pieces in their order; a missing one ends them early. */
  pieces(cid: string): AsyncIterable<Uint8Array<ArrayBuffer>>
  /** Stores the asset, or repairs it. It becomes visible once every piece is stored. */
  write(cid: string, bytes: Uint8Array): Promise<void>
  /** The identifiers of all complete assets, sorted. */
  list(): AsyncIterable<string>
}

export function assetTable(store: Store, clock: { now(): number }): AssetTable {
  return {
    async lengthOf(cid) {
      const asset = store.db.selectFrom('assets').select('length').where('cid', '=', cid).where('complete', '=', 1)
      return (await asset.executeTakeFirst())?.length ?? null
    },

    async *pieces(cid) {
      for (let n = 0; ; n++) {
        const piece = store.db.selectFrom('asset_pieces').select('bytes').where('cid', '=', cid).where('n', '=', n)
        const row = await piece.executeTakeFirst()
        if (row === undefined) return
        yield new Uint8Array(row.bytes)
      }
    },

    async write(cid, bytes) {
      await store.write((tx) => beginAsset(tx, cid, bytes.byteLength, clock.now()))
      const count = Math.ceil(bytes.byteLength / ASSET_PIECE_BYTES)
      for (let n = 0; n < count; n += PIECES_PER_COMMIT) {
        await store.write((tx) => writePieces(tx, cid, bytes, n, Math.min(n + PIECES_PER_COMMIT, count)))
      }
      await store.write((tx) => completeAsset(tx, cid))
    },

    async *list() {
      let last = ''
      for (;;) {
        const page = store.db.selectFrom('assets').select('cid').where('complete', '=', 1).where('cid', '>', last)
        const rows = await page.orderBy('cid').limit(LISTED_ROWS).execute()
        for (const { cid } of rows) yield cid
        last = rows.at(-1)?.cid ?? ''
        if (rows.length < LISTED_ROWS) return
      }
    },
  }
}

/** Restarts the time of an interrupted earlier upload, so that it is not removed meanwhile. */
async function beginAsset(tx: Tx, cid: string, length: number, now: number): Promise<void> {
  await tx
    .insertInto('assets')
    .values({ cid, length, created_at: now })
    .onConflict((conflict) => conflict.column('cid').doUpdateSet({ created_at: now }).where('assets.complete', '=', 0))
    .execute()
}

async function writePieces(tx: Tx, cid: string, bytes: Uint8Array, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) {
    const part = bytes.subarray(n * ASSET_PIECE_BYTES, (n + 1) * ASSET_PIECE_BYTES)
    const piece = Buffer.from(part.buffer, part.byteOffset, part.byteLength)
    await tx
      .insertInto('asset_pieces')
      .values({ cid, n, bytes: piece })
      .onConflict((conflict) => conflict.columns(['cid', 'n']).doUpdateSet({ bytes: piece }))
      .execute()
  }
}

async function completeAsset(tx: Tx, cid: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('assets')
    .set({ complete: 1 })
    .where('cid', '=', cid)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Error(`the asset ${cid} was removed while it was written`)
}

/** Removes up to `limit` assets whose upload began before `before` and was not completed; returns their number. */
export async function pruneUnfinishedAssets(tx: Tx, before: number, limit: number): Promise<number> {
  const unfinished = await tx
    .selectFrom('assets')
    .select('cid')
    .where('complete', '=', 0)
    .where('created_at', '<', before)
    .limit(limit)
    .execute()
  for (const { cid } of unfinished) {
    const gone = tx.deleteFrom('assets').where('cid', '=', cid).where('complete', '=', 0)
    const { numDeletedRows } = await gone.where('created_at', '<', before).executeTakeFirstOrThrow()
    if (numDeletedRows > 0n) await tx.deleteFrom('asset_pieces').where('cid', '=', cid).execute()
  }
  return unfinished.length
}
