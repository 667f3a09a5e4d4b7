/** Images and metadata in the database: in pieces, seen once they are whole, found by every daemon of that database. */
import { describe, expect, it } from 'vitest'
import { housekeepingWorker } from '../../daemon/workers/housekeeping.ts'
import type { SettingName } from '../../src/settings/config.ts'
import type { Asset } from '../../src/storage/checked-content.ts'
import { ASSET_PIECE_BYTES } from '../../src/store/resources/assets.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { type Service, startService, temporaryFolder } from '../support/service.ts'
import { IMAGES, large, png } from './images.ts'
import { expectServed } from './served.ts'

const ENCRYPTION_KEY = '7'.repeat(64)
const postgres = await startPostgres()

async function contentOf(asset: Asset | null): Promise<Buffer | null> {
  if (asset === null) return null
  const pieces: Uint8Array[] = []
  for await (const piece of asset.pieces()) pieces.push(piece)
  return Buffer.concat(pieces)
}

const pieceSizes = async ({ services: { store } }: Service) =>
  (await store.db.selectFrom('asset_pieces').select('bytes').orderBy('cid').orderBy('n').execute()).map(
    ({ bytes }) => bytes.length,
  )

describe.each(['SQLite', 'PostgreSQL'])('asset storage on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = async (settings: Partial<Record<SettingName, unknown>> = {}, dataDir = temporaryFolder()) =>
    startService({
      dataDir,
      settings: {
        storage: 'database',
        ...(name === 'PostgreSQL' && !('missing' in postgres)
          ? { 'database-url': await postgres.createMigratedDatabase(), 'encryption-key': ENCRYPTION_KEY }
          : {}),
        ...settings,
      },
    })

  it.skipIf(missing)('stores an image in pieces, and serves it with the headers of a file', async () => {
    const service = await start()
    const bytes = large(3 * ASSET_PIECE_BYTES)
    const { cid } = await service.services.storage.put(bytes, 'image/png')
    const sizes = await pieceSizes(service)
    expect(sizes).toHaveLength(4)
    expect(sizes.slice(0, 3)).toEqual([ASSET_PIECE_BYTES, ASSET_PIECE_BYTES, ASSET_PIECE_BYTES])
    await service.services.storage.put(bytes, 'image/png')
    expect(await pieceSizes(service)).toEqual(sizes)
    await expectServed(service, { cid, bytes })
  })

  it.skipIf(missing)('hides an interrupted upload, and continues it when it is repeated, or removes it', async () => {
    const service = await start()
    const { store, storage } = service.services
    const bytes = large(2 * ASSET_PIECE_BYTES)
    const { cid } = await storage.put(bytes, 'image/png')
    const interrupt = () =>
      store.write(async (tx) => {
        await tx.updateTable('assets').set({ complete: 0, created_at: service.clock.now() }).execute()
        await tx.deleteFrom('asset_pieces').where('n', '>', 0).execute()
      })
    await interrupt()
    expect([await storage.has(cid), await storage.get(cid)]).toEqual([false, null])
    await storage.put(bytes, 'image/png')
    expect((await contentOf(await storage.get(cid)))?.equals(bytes)).toBe(true)

    const tick = () =>
      housekeepingWorker.tick({
        ...service.services,
        metrics: { clockFault() {} },
        signal: new AbortController().signal,
        stopping: new AbortController().signal,
      })
    await interrupt()
    await tick()
    expect(await pieceSizes(service)).toHaveLength(1)
    service.clock.advance(86_400_001)
    const other = await storage.put(png(), 'image/png')
    await tick()
    expect(await pieceSizes(service)).toEqual([png().length])
    expect(await storage.has(other.cid)).toBe(true)
    expect((await store.db.selectFrom('assets').select('cid').execute()).map((row) => row.cid)).toEqual([other.cid])
  })

  it.skipIf(missing)('does not serve damaged pieces, and repairs them with the same content', async () => {
    const { services } = await start()
    const { store, storage } = services
    const bytes = large(2 * ASSET_PIECE_BYTES)
    const { cid } = await storage.put(bytes, 'image/png')
    for (const damage of [
      () =>
        store.write((tx) =>
          tx
            .updateTable('asset_pieces')
            .set({ bytes: Buffer.from('<script>') })
            .where('n', '=', 1)
            .execute(),
        ),
      () => store.write((tx) => tx.deleteFrom('asset_pieces').where('n', '=', 2).execute()),
    ]) {
      await damage()
      await expect(storage.get(cid)).rejects.toThrow(`The asset ${cid} is damaged`)
      await storage.put(bytes, 'image/png')
      expect((await contentOf(await storage.get(cid)))?.equals(bytes)).toBe(true)
    }
  })

  it.skipIf(missing)('still serves what was stored before the setting was changed', async () => {
    const dataDir = temporaryFolder()
    const url = name === 'PostgreSQL' && !('missing' in postgres) ? await postgres.createMigratedDatabase() : undefined
    const same = { ...(url !== undefined && { 'database-url': url, 'encryption-key': ENCRYPTION_KEY }) }
    const [inFolder, inDatabase] = [
      await start({ ...same, storage: 'local' }, dataDir),
      await start({ ...same, storage: 'database' }, dataDir),
    ]
    const [image, gif] = [
      await inFolder.services.storage.put(png(), 'image/png'),
      await inDatabase.services.storage.put(IMAGES.gif, 'image/gif'),
    ]
    for (const { services } of [inFolder, inDatabase]) {
      expect((await contentOf(await services.storage.get(image.cid)))?.equals(png())).toBe(true)
      expect((await contentOf(await services.storage.get(gif.cid)))?.equals(IMAGES.gif)).toBe(true)
    }
    // A daemon of another machine has not the folder: what is launched again is put where the setting says.
    await inDatabase.services.storage.put(png(), 'image/png')
    expect(await inDatabase.services.store.db.selectFrom('assets').select('cid').execute()).toHaveLength(2)
  })
})
