/** The folder of assets and GET /assets/{cid}: content-addressed, whole or not at all, served to everyone for good. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/context.ts'
import type { ApiError } from '../../src/platform/errors.ts'
import { loadConfig, type SettingName } from '../../src/settings/config.ts'
import type { Asset } from '../../src/storage/checked-content.ts'
import { metadataJson } from '../../src/storage/metadata.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { storeOptions } from '../../src/store/open.ts'
import { assetTable } from '../../src/store/resources/assets.ts'
import { opened } from '../store/databases.ts'
import { copyMigrated } from '../store/migrated.ts'
import { databaseSettings } from '../support/database.ts'
import { ORIGIN, startService, temporaryFolder } from '../support/service.ts'
import { IMAGES, png } from './images.ts'

async function storageIn(
  settings: Partial<Record<SettingName, unknown>> = {},
  cluster = 'embedded',
  folder = temporaryFolder(),
) {
  const flags = { 'data-dir': folder, ...(await databaseSettings(folder)), ...settings }
  const config = loadConfig({ flags, env: {}, cwd: folder })
  if (flags['database-url'] === undefined) await copyMigrated(folder)
  const store = await opened(storeOptions(config))
  return {
    storage: openStorage(config, { cluster, database: assetTable(store, systemClock) }),
    store,
    folder,
    files: () => readdirSync(join(folder, 'assets')),
  }
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it should have failed'),
    (error: ApiError) => ({ code: error.code, message: error.message }),
  )

async function contentOf(asset: Asset | null): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of asset!.pieces()) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** CIDv1, raw, sha2-256, base32 as RFC 4648 has it, made without the library. */
function expectedCid(bytes: Uint8Array): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  const all = Buffer.concat([Buffer.from([1, 0x55, 0x12, 32]), createHash('sha256').update(bytes).digest()])
  const bits = [...all].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return `b${bits
    .match(/.{1,5}/g)!
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')}`
}

describe('the asset folder', () => {
  it('names a file by the hash of its content and gives it back with its type', async () => {
    const { storage, files } = await storageIn()
    for (const [name, bytes] of Object.entries(IMAGES)) {
      const type = name === 'apng' ? 'png' : name.startsWith('webp') ? 'webp' : name
      const { cid, uri } = await storage.put(bytes, `image/${type}`)
      expect(cid).toBe(expectedCid(bytes))
      expect(uri).toBe(`http://127.0.0.1:8787/assets/${cid}`)
      const found = await storage.get(cid)
      expect([(await contentOf(found)).equals(bytes), found!.contentType]).toEqual([true, `image/${type}`])
    }
    const json = metadataJson({ name: 'A', symbol: 'A', imageUri: 'https://a.example/', imageType: 'image/png' })
    const { cid } = await storage.put(json, 'application/json')
    expect((await storage.get(cid))?.contentType).toBe('application/json')
    expect(files()).toHaveLength(Object.keys(IMAGES).length + 1)
  })

  it('keeps the same content once, even if it is stored at the same time', async () => {
    const { storage, files, folder } = await storageIn()
    const puts = await Promise.all(Array.from({ length: 8 }, () => storage.put(png(), 'image/png')))
    expect(new Set(puts.map(({ uri }) => uri)).size).toBe(1)
    expect(files()).toEqual([puts[0]!.cid])
    const written = statSync(join(folder, 'assets', puts[0]!.cid)).mtimeMs
    await storage.put(png(), 'image/png')
    expect(statSync(join(folder, 'assets', puts[0]!.cid)).mtimeMs).toBe(written)
  })

  it('does not serve a damaged file, and repairs it when the content is sent again', async () => {
    const { storage, folder } = await storageIn()
    const { cid } = await storage.put(png(), 'image/png')
    const file = join(folder, 'assets', cid)
    writeFileSync(file, readFileSync(file).subarray(0, 40))
    expect(await failureOf(storage.get(cid))).toEqual({
      code: 'internal_error',
      message: `The asset ${cid} is damaged: its bytes have changed; restore it from a backup`,
    })
    await storage.put(png(), 'image/png')
    expect((await storage.get(cid))?.length).toBe(png().length)
  })

  it.each([
    ['', '.', '..', '../operator.key', '/etc/passwd', 'bafkrei', '\0', `bafkrei${'a'.repeat(53)}`],
    // Another spelling, another codec, another version: the same bytes have one name only.
    [expectedCid(png()).toUpperCase(), `${expectedCid(png())}=`, `bafybei${'a'.repeat(52)}`, `Qm${'a'.repeat(44)}`],
  ])('accepts no other name', async (...names) => {
    const { storage } = await storageIn()
    await storage.put(png(), 'image/png')
    for (const name of names) expect(await storage.get(name)).toBeNull()
  })

  it('says why it cannot write', async () => {
    const { storage, folder } = await storageIn()
    writeFileSync(join(folder, 'assets'), 'in the way')
    expect(await failureOf(storage.put(png(), 'image/png'))).toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/^The asset folder cannot be (?:read: ENOTDIR|written: (?:EEXIST|ENOTDIR))/),
    })
  })
})

describe('the address of an asset', () => {
  const uriOf = async (settings: Partial<Record<SettingName, unknown>>, cluster = 'embedded') => {
    const { storage } = await storageIn(settings, cluster)
    await storage.check()
    return (await storage.put(png(), 'image/png')).uri.replace(/\/assets\/bafkrei[a-z2-7]{52}$/, '')
  }

  it('is the daemon of the embedded chain, from its settings or its real port', async () => {
    expect(await uriOf({})).toBe('http://127.0.0.1:8787')
    expect(await uriOf({ host: '0.0.0.0', port: 9000 })).toBe('http://127.0.0.1:9000')
    expect(await uriOf({ host: '::1', port: 9000 })).toBe('http://[::1]:9000')
    const { storage, folder } = await storageIn({ port: 0 })
    expect(await failureOf(storage.check())).toMatchObject({
      message: expect.stringContaining('set port or public-url'),
    })
    writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ pid: 1, url: 'http://127.0.0.1:41234' }))
    expect((await storage.put(png(), 'image/png')).uri).toMatch(/^http:\/\/127\.0\.0\.1:41234\/assets\/bafkrei/)
  })

  it('is the public one if it is set, below its path', async () => {
    expect(await uriOf({ 'public-url': 'https://api.example.com/' }, 'mainnet-beta')).toBe('https://api.example.com')
    expect(await uriOf({ 'public-url': 'https://example.com/svc/' }, 'devnet')).toBe('https://example.com/svc')
    expect(await uriOf({ 'public-url': 'http://10.0.0.1:80/' })).toBe('http://10.0.0.1')
  })

  it.each([
    [undefined, /^public-url is not set: .*on chain forever; set it to the public https address/],
    ['http://api.example.com', /^public-url is not https/],
    ['https://localhost', /which others cannot reach/],
    ['https://svc', /which others cannot reach/],
    ['https://svc.local', /which others cannot reach/],
    ['https://127.0.0.1', /which others cannot reach/],
    ['https://192.168.1.5:8443', /which others cannot reach/],
    ['https://[::1]', /which others cannot reach/],
    ['https://[fd00::1]', /which others cannot reach/],
    ['https://[::ffff:10.0.0.1]', /which others cannot reach/],
    ['https://user:pass@example.com', /has a user name/],
    ['https://example.com/?a=1', /has a user name, a query or a fragment/],
    ['ftp://example.com', /is not a URL/],
    ['example.com', /is not a URL/],
    [`https://example.com/${'a'.repeat(140)}`, /URIs of \d+ characters, but a token has room for 200/],
  ])('must be public on another cluster: public-url %s is refused before anything is written', async (url, message) => {
    for (const cluster of ['mainnet-beta', 'devnet', 'localhost', 'custom']) {
      const { storage, folder } = await storageIn(url === undefined ? {} : { 'public-url': url }, cluster)
      for (const failure of [await failureOf(storage.check()), await failureOf(storage.put(png(), 'image/png'))]) {
        expect(failure).toEqual({ code: 'internal_error', message: expect.stringMatching(message) })
        expect(failure.message).not.toContain('pass')
      }
      expect(existsSync(join(folder, 'assets'))).toBe(false)
    }
  })
})

describe('GET /assets/{cid}', () => {
  it('serves the bytes to everyone, with only their true type, cacheable forever', async () => {
    const { app, services } = await startService()
    const { cid } = await services.storage.put(IMAGES.webpAlpha, 'image/webp')
    const get = (init?: RequestInit) => app.fetch(new Request(`${ORIGIN}/assets/${cid}`, init))
    const response = await get({ headers: { 'x-request-id': 'mine' } })
    expect(response.status).toBe(200)
    expect(Buffer.from(await response.arrayBuffer()).equals(IMAGES.webpAlpha)).toBe(true)
    expect(Object.fromEntries(response.headers)).toEqual({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(IMAGES.webpAlpha.length),
      'content-security-policy': "default-src 'none'; sandbox",
      'content-type': 'image/webp',
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"${cid}"`,
      'x-content-type-options': 'nosniff',
      'x-request-id': 'mine',
    })
    const head = await get({ method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('content-length')]).toEqual([
      200,
      '',
      String(IMAGES.webpAlpha.length),
    ])
  })

  it('answers 304 to a client that has it', async () => {
    const { app, services } = await startService()
    const { cid } = await services.storage.put(png(), 'image/png')
    const ask = async (tag: string) => {
      const response = await app.fetch(new Request(`${ORIGIN}/assets/${cid}`, { headers: { 'if-none-match': tag } }))
      return [response.status, (await response.arrayBuffer()).byteLength, response.headers.get('etag')]
    }
    for (const tag of [`"${cid}"`, `W/"${cid}"`, `"other", "${cid}"`, '*'])
      expect(await ask(tag)).toEqual([304, 0, `"${cid}"`])
    for (const tag of ['"other"', cid, '', `"${cid}`]) expect(await ask(tag)).toEqual([200, png().length, `"${cid}"`])
  })

  it('answers 404 in the envelope for anything missing, whatever its name', async () => {
    const { request, services, dataDir } = await startService()
    await services.storage.put(png(), 'image/png')
    const names = [
      expectedCid(new Uint8Array(1)),
      'x',
      '..%2foperator.key',
      '%2e%2e%2foperator.key',
      '..%5coperator.key',
      `%2e%2e%2f%2e%2e%2f${dataDir.slice(1).replaceAll('/', '%2f')}%2foperator.key`,
      `.%2f${expectedCid(png())}`,
      `${expectedCid(png())}%00`,
      `${expectedCid(png())}.png`,
      expectedCid(png()).toUpperCase(),
      '%ff',
      'a'.repeat(5000),
    ]
    for (const name of names) {
      const { status, json, headers, text } = await request('GET', `/assets/${name}`, {
        key: null,
        headers: { 'x-request-id': 'r1' },
      })
      expect([name, status, json?.error.code, json?.meta]).toEqual([name, 404, 'not_found', { request_id: 'r1' }])
      expect([headers.get('x-request-id'), headers.get('cache-control')]).toEqual(['r1', 'no-store'])
      expect(text).not.toContain('svc_')
    }
  })

  it('refuses an invalid request id, and any method but GET and HEAD', async () => {
    const { request, services } = await startService()
    const { cid } = await services.storage.put(png(), 'image/png')
    const bad = await request('GET', `/assets/${cid}`, { key: null, headers: { 'x-request-id': 'a b' } })
    expect([bad.status, bad.json.error.param]).toEqual([400, 'X-Request-Id'])
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect((await request(method, `/assets/${cid}`)).status).toBe(404)
    }
  })

  it('does not serve a damaged file, and says nothing of the folder', async () => {
    const { request, services, dataDir } = await startService()
    const { cid } = await services.storage.put(png(), 'image/png')
    writeFileSync(join(dataDir, 'assets', cid), '<script>')
    const { status, json, text, headers } = await request('GET', `/assets/${cid}`, { key: null })
    expect([status, json.error.code, headers.get('cache-control')]).toEqual([500, 'internal_error', 'no-store'])
    expect(text).not.toContain(dataDir)
  })

  it('does not affect the files of the documentation page', async () => {
    const { request } = await startService()
    expect((await request('GET', '/assets/docs/page.css', { key: null })).headers.get('content-type')).toMatch(/css/)
    expect((await request('GET', '/assets/docs', { key: null })).status).toBe(404)
  })
})
