/** Images and metadata in a bucket: the same answers as from a folder, and compared with their hash before they are sent. */

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Config, loadConfig, type SettingName } from '../../src/settings/config.ts'
import type { AssetBackend } from '../../src/storage/backend.ts'
import type { Asset } from '../../src/storage/checked-content.ts'
import { bucketBackend } from '../../src/storage/s3.ts'
import { type BucketPlace, bucketPlace } from '../../src/storage/s3-settings.ts'
import { inSoak } from '../support/runs.ts'
import { startS3 } from '../support/s3-server.ts'
import { type Service, startService, temporaryFolder } from '../support/service.ts'
import { IMAGES, large, png } from './images.ts'
import { expectServed } from './served.ts'

/** Bytes that `large` has beside the content that it is asked for. */
const PNG_FRAME = large(0).length

type Settings = Partial<Record<SettingName, string | number>>

/** A server of the operator's choice, which CI has not: `SVC_TEST_S3_ENDPOINT` and its like lead to it. */
const { SVC_TEST_S3_ENDPOINT: endpoint, SVC_TEST_S3_REGION: region = 'us-east-1' } = process.env
const real = (): Settings => ({
  storage: 's3',
  's3.endpoint': endpoint ?? '',
  's3.region': region,
  's3.bucket': process.env.SVC_TEST_S3_BUCKET ?? '',
  's3.access-key-id': process.env.SVC_TEST_S3_ACCESS_KEY_ID ?? '',
  's3.secret-access-key': process.env.SVC_TEST_S3_SECRET_ACCESS_KEY ?? '',
  's3.prefix': `svc-test/${randomBytes(6).toString('hex')}`,
})

const PLACES: [name: string, missing: boolean, open: () => Promise<Settings>][] = [
  ['the strict server', false, async () => (await startS3()).settings],
  ['the strict server, below a prefix', false, async () => (await startS3({ prefix: 'svc/assets' })).settings],
  ['the server of SVC_TEST_S3_ENDPOINT', endpoint === undefined, async () => real()],
]

async function contentOf(asset: Asset | null): Promise<Buffer | null> {
  if (asset === null) return null
  const pieces: Uint8Array[] = []
  for await (const piece of asset.pieces()) pieces.push(piece)
  return Buffer.concat(pieces)
}

function placeOf(config: Config): BucketPlace {
  const place = bucketPlace(config)
  if (place === null) throw new Error('no bucket is set')
  return place
}

/** Writes whatever it is given, also what does not belong to the name. */
const rawBucket = ({ services }: Service): AssetBackend => bucketBackend(placeOf(services.config))

async function listed(bucket: AssetBackend): Promise<string[]> {
  const cids: string[] = []
  for await (const cid of bucket.list()) cids.push(cid)
  return cids
}

describe.each(inSoak ? PLACES : PLACES.filter(([name]) => !name.includes('prefix')))(
  'asset storage in a bucket of %s',
  {
    tags: 'sampled',
  },
  (_, missing, open) => {
    const start = async (settings: Settings = {}, dataDir = temporaryFolder()) =>
      startService({ dataDir, settings: { ...(await open()), ...settings } })

    it.skipIf(missing)('stores an image once, and serves it with the headers of a file', async () => {
      const service = await start()
      const { storage } = service.services
      const bytes = large(1_000_000)
      expect(await storage.has((await storage.locate(bytes)).cid)).toBe(false)
      const { cid } = await storage.put(bytes, 'image/png')
      expect((await storage.put(bytes, 'image/png')).cid).toBe(cid)
      expect([await storage.has(cid), await listed(rawBucket(service))]).toEqual([true, [cid]])
      await expectServed(service, { cid, bytes, reads: 3 })
    })

    it.skipIf(missing)('answers 404 for missing content, and returns every image and JSON with its type', async () => {
      const service = await start()
      const { storage } = service.services
      const absent = await storage.locate(png())
      expect((await service.request('GET', `/assets/${absent.cid}`, { key: null })).status).toBe(404)
      const contents: [Uint8Array, string][] = [
        [IMAGES.gif, 'image/gif'],
        [IMAGES.jpeg, 'image/jpeg'],
        [Buffer.from('{"name":"A"}'), 'application/json'],
        // Exactly one, and exactly two requests' worth of bytes.
        [large(256 * 1024 - PNG_FRAME), 'image/png'],
        [large(512 * 1024 - PNG_FRAME), 'image/png'],
      ]
      for (const [bytes, type] of contents) {
        const { cid } = await storage.put(bytes, type)
        const found = await storage.get(cid)
        expect([found?.contentType, found?.length]).toEqual([type, bytes.length])
        expect((await contentOf(found))?.equals(bytes)).toBe(true)
      }
    })

    it.skipIf(missing)('does not serve damaged content, and repairs it with the same content', async () => {
      const service = await start()
      const { storage } = service.services
      const bytes = large(600_000)
      const { cid } = await storage.put(bytes, 'image/png')
      const raw = rawBucket(service)
      for (const damage of [large(600_001), Buffer.concat([bytes.subarray(0, 599_999), Buffer.from('x')]), png()]) {
        await storage.get(cid)
        await raw.write(cid, damage)
        await expect(storage.get(cid)).rejects.toThrow(`The asset ${cid} is damaged`)
        await storage.put(bytes, 'image/png')
        expect((await contentOf(await storage.get(cid)))?.equals(bytes)).toBe(true)
      }
    })

    it.skipIf(missing)('still serves what was stored before the setting was changed', async () => {
      const dataDir = temporaryFolder()
      const bucket = await open()
      const at = (storage: string) => startService({ dataDir, settings: { ...bucket, storage } })
      const [folder, database, s3] = [await at('local'), await at('database'), await at('s3')]
      const [image, gif, json] = [
        await folder.services.storage.put(png(), 'image/png'),
        await database.services.storage.put(IMAGES.gif, 'image/gif'),
        await s3.services.storage.put(Buffer.from('{}'), 'application/json'),
      ]
      for (const { services } of [folder, database, s3]) {
        expect((await contentOf(await services.storage.get(image.cid)))?.equals(png())).toBe(true)
        expect((await contentOf(await services.storage.get(gif.cid)))?.equals(IMAGES.gif)).toBe(true)
        expect((await contentOf(await services.storage.get(json.cid)))?.toString()).toBe('{}')
      }
      await s3.services.storage.put(png(), 'image/png')
      expect((await listed(rawBucket(s3))).sort()).toEqual([image.cid, json.cid].sort())
    })
  },
)

describe('a bucket', () => {
  it('has each object under its prefix, with its own type and lifetime', async () => {
    const server = await startS3({ prefix: 'svc/assets/' })
    const { services } = await startService({ settings: server.settings })
    const { cid } = await services.storage.put(png(), 'image/png')
    expect(server.keys()).toEqual([`svc/assets/${cid}`])
    expect(server.contentType(`svc/assets/${cid}`)).toBe('image/png')
    expect(server.read(`svc/assets/${cid}`).equals(png())).toBe(true)
  })

  it('is listed over several pages, without other objects', async () => {
    const server = await startS3({ prefix: 'a', pageSize: 2 })
    const service = await startService({ settings: server.settings })
    const { storage } = service.services
    const cids = await Promise.all(
      [1, 2, 3, 4, 5].map(async (n) => (await storage.put(Buffer.from(`{"n":${n}}`), 'application/json')).cid),
    )
    for (const stranger of ['a/notes.txt', `other/${cids[0]}`, `a/b/${cids[0]}`]) server.write(stranger, png())
    expect(await listed(rawBucket(service))).toEqual(cids.sort())
  })

  it('is read once for each answer, after a first comparison with the hash', async () => {
    const server = await startS3()
    const { storage } = (await startService({ settings: server.settings })).services
    const bytes = large(1_000_000)
    const { cid } = await storage.put(bytes, 'image/png')
    const requestsOf = async () => {
      server.requests.length = 0
      await contentOf(await storage.get(cid))
      return server.requests.length
    }
    // Four ranges; the first one is not read again.
    expect([await requestsOf(), await requestsOf(), await requestsOf()]).toEqual([7, 4, 4])
    // Another version of the object is compared anew.
    server.write(cid, large(1_000_001))
    await expect(storage.get(cid)).rejects.toThrow('is damaged')
  })

  it('takes a session token with its key', async () => {
    const key = {
      accessKeyId: 'ASIATEMPORARY',
      secretAccessKey: 'S3TOPSECRET',
      sessionToken: 'S3TOKEN',
      region: 'auto',
    }
    const { services } = await startService({ settings: (await startS3({ key })).settings })
    const { cid } = await services.storage.put(png(), 'image/png')
    expect(await services.storage.has(cid)).toBe(true)
  })

  it('may be in the host name, or below a path', () => {
    const base = {
      storage: 's3',
      's3.bucket': 'launches',
      's3.access-key-id': 'A',
      's3.secret-access-key': 'B',
    } as const
    const at = (settings: Settings) => {
      const { origin, path, prefix } = placeOf(loadConfig({ flags: { ...base, ...settings }, env: {}, cwd: '/' }))
      return `${origin}${path}${prefix}`
    }
    expect(at({ 's3.region': 'eu-west-1' })).toBe('https://launches.s3.eu-west-1.amazonaws.com/')
    expect(at({ 's3.region': 'cn-north-1' })).toBe('https://launches.s3.cn-north-1.amazonaws.com.cn/')
    expect(at({ 's3.addressing-style': 'path' })).toBe('https://s3.us-east-1.amazonaws.com/launches/')
    expect(at({ 's3.endpoint': 'http://10.0.0.9:9000' })).toBe('http://10.0.0.9:9000/launches/')
    expect(at({ 's3.endpoint': 'https://x.example.com/storage/v1/s3/', 's3.prefix': 'a/b' })).toBe(
      'https://x.example.com/storage/v1/s3/launches/a/b/',
    )
    expect(at({ 's3.endpoint': 'https://r2.example.com', 's3.addressing-style': 'virtual', 's3.prefix': 'a/' })).toBe(
      'https://launches.r2.example.com/a/',
    )
  })
})
