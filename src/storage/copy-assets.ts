/** Copies all assets to one of their places, and compares them with the hash in their names. */
import type { AssetBackend } from './backend.ts'
import { damagedAsset } from './checked-content.ts'

interface CopiedAssets {
  /** Identifiers that the other places list. */
  found: number
  copied: number
  /** Assets that the target already has undamaged. */
  present: number
  /** Identifiers whose correct content no place has. */
  damaged: string[]
}

/** Assets in memory at a time. */
const COPIES_AT_A_TIME = 4

/**
 * Copies assets that the target lacks or has damaged, and removes nothing. A repeated copy continues where the last
 * one ended. Throws internal_error if a place cannot be read or written.
 */
export async function copyAssetsInto(
  target: AssetBackend,
  sources: readonly AssetBackend[],
  onProgress: (done: number, total: number) => void,
): Promise<CopiedAssets> {
  const cids = new Set<string>()
  for (const source of sources) for await (const cid of source.list()) cids.add(cid)
  const result: CopiedAssets = { found: cids.size, copied: 0, present: 0, damaged: [] }
  const remaining = cids.values()
  let [done, isFailed] = [0, false]
  const copyOnes = async () => {
    for (const cid of remaining) {
      if (isFailed) return
      const outcome = await copyAsset(cid, target, sources)
      if (outcome === 'damaged') result.damaged.push(cid)
      else result[outcome]++
      onProgress(++done, cids.size)
    }
  }
  // The first failure is thrown only after every copy has ended, because the caller then closes the places.
  const ended = await Promise.allSettled(
    Array.from({ length: COPIES_AT_A_TIME }, () =>
      copyOnes().catch((error) => {
        isFailed = true
        throw error
      }),
    ),
  )
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  result.damaged.sort()
  return result
}

async function copyAsset(
  cid: string,
  target: AssetBackend,
  sources: readonly AssetBackend[],
): Promise<'copied' | 'present' | 'damaged'> {
  const there = await target.read(cid)
  if (there !== null && there !== 'damaged') return 'present'
  for (const source of sources) {
    const found = await source.read(cid)
    if (found === null || found === 'damaged') continue
    const pieces: Uint8Array[] = []
    for await (const piece of found.pieces()) pieces.push(piece)
    await target.write(cid, Buffer.concat(pieces))
    const written = await target.read(cid)
    if (written === null || written === 'damaged') throw damagedAsset(cid)
    return 'copied'
  }
  return 'damaged'
}
