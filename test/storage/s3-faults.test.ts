/** A bucket that cannot be used: what a request waits for, what it repeats, what is said, and which settings are refused. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLog } from '../../daemon/log.ts'
import type { ApiError } from '../../src/platform/errors.ts'
import { loadConfig, SETTINGS, type Setting, type SettingName } from '../../src/settings/config.ts'
import { bucketBackend, MOST_OBJECT_BYTES } from '../../src/storage/s3.ts'
import { bucketPlace } from '../../src/storage/s3-settings.ts'
import { type S3Server, startS3 } from '../support/s3-server.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { large, png } from './images.ts'

const MINUTE_MS = 60_000

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it should have failed'),
    (error: ApiError) => ({ message: error.message, retryAfter: error.retryAfter ?? null }),
  )

async function serviceAt(server: S3Server, settings: Partial<Record<SettingName, unknown>> = {}) {
  return startService({ settings: { ...server.settings, ...settings } })
}

describe('a bucket that is unavailable for a moment', () => {
  it.each(['busy', 'broken', 'refuses'] as const)('gets repeated requests of an upload (%s)', async (trouble) => {
    const server = await startS3()
    const { services } = await serviceAt(server)
    server.trouble(trouble, 2, 'PUT')
    const { cid } = await services.storage.put(png(), 'image/png')
    expect(server.read(cid).equals(png())).toBe(true)
  })

  it.each(['busy', 'broken', 'refuses', 'cut'] as const)('gets repeated requests of a reader (%s)', async (trouble) => {
    const server = await startS3()
    const { services, request } = await serviceAt(server)
    const { cid } = await services.storage.put(large(600_000), 'image/png')
    server.trouble(trouble, 2, 'GET')
    expect((await request('GET', `/assets/${cid}`, { key: null })).status).toBe(200)
  })

  it('is given up after three attempts, with a retry time, and nothing is acknowledged', async () => {
    const server = await startS3()
    const { services, request } = await serviceAt(server)
    const { cid } = await services.storage.put(png(), 'image/png')
    for (const trouble of ['busy', 'broken', 'refuses', 'cut'] as const) {
      server.trouble(trouble, Number.POSITIVE_INFINITY, 'GET')
      const answer = await request('GET', `/assets/${cid}`, { key: null })
      expect([trouble, answer.status, answer.headers.get('retry-after'), answer.json.error.message]).toEqual([
        trouble,
        500,
        '5',
        expect.stringMatching(/^The storage is temporarily unavailable: the bucket launches at 127\.0\.0\.1:\d+ /),
      ])
    }
    server.trouble('busy', 3, 'PUT')
    expect(await failureOf(services.storage.put(large(10), 'image/png'))).toMatchObject({ retryAfter: 5 })
    expect(server.keys()).toEqual([cid])
  })

  it('is waited for up to s3.timeout-ms', async () => {
    const server = await startS3()
    const { services } = await serviceAt(server, { 's3.timeout-ms': 300 })
    for (const method of ['GET', 'PUT'] as const) {
      server.trouble('hangs', 1, method)
      const failure = await failureOf(services.storage.put(png(), 'image/png'))
      expect(failure).toEqual({
        message: expect.stringContaining('gave no complete answer within 0.3 s: try again, or raise s3.timeout-ms'),
        retryAfter: 5,
      })
    }
    expect((await services.storage.put(png(), 'image/png')).cid).toMatch(/^bafkrei/)
  })

  it('does not delay a process that stops', async () => {
    const server = await startS3()
    const { services } = await serviceAt(server)
    server.trouble('hangs', 1)
    const failing = failureOf(services.storage.get((await services.storage.locate(png())).cid))
    services.end()
    expect((await failing).message).toContain('the service is shutting down')
  })

  it('does not stop the serving of content from another place', async () => {
    const dataDir = temporaryFolder()
    const inFolder = await startService({ dataDir })
    const { cid } = await inFolder.services.storage.put(png(), 'image/png')
    const server = await startS3()
    const { request } = await startService({ dataDir, settings: server.settings })
    await server.close()
    expect((await request('GET', `/assets/${cid}`, { key: null })).status).toBe(200)
    const other = await inFolder.services.storage.locate(large(10))
    const missing = await request('GET', `/assets/${other.cid}`, { key: null })
    expect([missing.status, missing.headers.get('retry-after')]).toEqual([500, '5'])
    expect(missing.json.error.message).toMatch(/refuses connections: is the server running\? check s3\.endpoint$/)
  })
})

describe('a bucket that refuses', () => {
  it.each<[string, RegExp, (server: S3Server) => Partial<Record<SettingName, unknown>> | undefined]>([
    ['an unknown key', /does not know the key of s3\.access-key-id/, () => ({ 's3.access-key-id': 'AKIAOTHER' })],
    [
      'a wrong secret',
      /s3\.secret-access-key is not the secret of s3\.access-key-id/,
      () => ({
        's3.secret-access-key': 'WRONGSECRET',
      }),
    ],
    ['another region', /is in another region: correct s3\.region/, () => ({ 's3.region': 'us-west-2' })],
    [
      'a bucket that is not there',
      /does not exist: create it, or correct s3\.bucket/,
      () => ({ 's3.bucket': 'others' }),
    ],
    [
      'a clock that is behind',
      /which is 20 minutes behind its own: set this clock/,
      (server) => {
        server.setClock(20 * MINUTE_MS)
        return undefined
      },
    ],
    [
      'reading',
      /does not allow the key of s3\.access-key-id to use s3:GetObject/,
      (server) => {
        server.deny('s3:GetObject')
        return undefined
      },
    ],
    [
      'writing',
      /does not allow the key of s3\.access-key-id to use s3:PutObject/,
      (server) => {
        server.deny('s3:PutObject')
        return undefined
      },
    ],
    [
      'and leads elsewhere',
      /redirects to another place, and redirects are not followed: correct s3\.region \(eu-central-1\)/,
      (server) => {
        server.trouble('redirects')
        return undefined
      },
    ],
    [
      'as no server of S3',
      /is not at s3\.endpoint/,
      (server) => {
        server.trouble('no S3')
        return undefined
      },
    ],
  ])('because of %s has a message with the setting and without secrets, and no retry', async (_, message, prepare) => {
    const server = await startS3()
    const { services } = await serviceAt(server, prepare(server))
    const failure = await failureOf(services.storage.put(png(), 'image/png'))
    expect(failure).toEqual({ message: expect.stringMatching(message), retryAfter: null })
    expect(failure.message).not.toMatch(/SECRET/)
    expect(server.keys()).toEqual([])
  })

  it('puts no secret into the log, and in production its message has only a retry time', async () => {
    const server = await startS3()
    const lines: string[] = []
    const keep = (line: string) => void lines.push(line)
    const config = loadConfig({ flags: server.settings, env: {}, cwd: '/' })
    const log = createLog(config, { write: keep, writeSoon: keep, flush() {}, dropped: () => 0 })
    const { services, request } = await startService({ settings: server.settings, production: true, log })
    const { cid } = await services.storage.locate(png())
    server.trouble('busy')
    const answer = await request('GET', `/assets/${cid}`, { key: null })
    expect([answer.status, answer.json.error.message, answer.headers.get('retry-after')]).toEqual([
      500,
      'Something went wrong',
      '5',
    ])
    expect(lines.join('\n')).toContain('answered 503 SlowDown')
    expect(lines.join('\n')).not.toMatch(/S3TOPSECRET|AWS4-HMAC|Signature=/)
  })
})

describe('a bucket with wrong answers', () => {
  it('never leads to a complete answer for a client', async () => {
    const server = await startS3()
    const { services, request } = await serviceAt(server)
    const { cid } = await services.storage.put(large(600_000), 'image/png')
    for (const times of [1, 2, 3]) {
      server.trouble('other content', times, 'GET')
      const answer = await request('GET', `/assets/${cid}`, { key: null })
      expect([answer.status, answer.json.error.message]).toEqual([500, expect.stringContaining('is damaged')])
      server.trouble('busy', 0)
    }
    expect((await request('GET', `/assets/${cid}`, { key: null })).status).toBe(200)
    // From here on it is read once, and what turns out wrong at its end is cut off before that.
    server.trouble('other content', 1, 'GET')
    const asset = services.storage.get(cid).then(async (found) => {
      const pieces: Uint8Array[] = []
      for await (const piece of found?.pieces() ?? []) pieces.push(piece)
      return pieces
    })
    await expect(asset).rejects.toThrow('is damaged')
  })
})

describe('an object that changes', () => {
  const stored = async () => {
    const server = await startS3()
    const service = await serviceAt(server)
    const bytes = large(600_000)
    const { cid } = await service.services.storage.put(bytes, 'image/png')
    return { server, ...service, bytes, cid }
  }

  it('between comparison and sending breaks the answer off before a wrong byte, whatever its ETag', async () => {
    const { server, services, bytes, cid } = await stored()
    const asset = await services.storage.get(cid)
    server.trouble('other content', 1, 'GET')
    const pieces: Uint8Array[] = []
    const reading = (async () => {
      for await (const piece of asset?.pieces() ?? []) pieces.push(piece)
    })()
    await expect(reading).rejects.toThrow('is damaged')
    expect(Buffer.concat(pieces).equals(bytes.subarray(0, 262_144))).toBe(true)
  })

  it('with another ETag and the same content is read on, also with ETags that no condition can name', async () => {
    const { server, request, cid } = await stored()
    let version = 0
    for (const change of [() => `"${version++}"`, (etag: string) => `W/${etag}`, () => '"\u00e9"']) {
      server.setTags(change)
      expect((await request('GET', `/assets/${cid}`, { key: null })).status).toBe(200)
    }
  })

  it('is compared again if its ETag is too long to be stored', async () => {
    const { server, request, cid } = await stored()
    server.setTags(() => `"${'a'.repeat(2_000)}"`)
    for (let read = 0; read < 2; read++) {
      server.requests.length = 0
      expect((await request('GET', `/assets/${cid}`, { key: null })).status).toBe(200)
      expect(server.requests).toHaveLength(5)
    }
  })

  it('into one longer than any image counts as damaged, and is not read to its end', async () => {
    const { server, request, cid } = await stored()
    server.trouble('endless', Number.POSITIVE_INFINITY, 'GET')
    const answer = await request('GET', `/assets/${cid}`, { key: null })
    expect([answer.status, answer.json.error.message]).toEqual([500, expect.stringContaining('is damaged')])
    expect(MOST_OBJECT_BYTES).toBe(SETTINGS['image-max-bytes'].max)
  })
})

describe('an endless list', () => {
  it.each(['same page', 'half list'] as const)(
    'is an error, neither a partial list nor an endless loop (%s)',
    async (trouble) => {
      const server = await startS3()
      const { services } = await serviceAt(server)
      const place = bucketPlace(services.config)
      if (place === null) throw new Error('no bucket is set')
      server.trouble(trouble)
      const listing = (async () => {
        for await (const _ of bucketBackend(place).list()) expect.unreachable()
      })()
      await expect(listing).rejects.toThrow('does not say where its list continues (ListObjectsV2)')
    },
  )
})

describe('the settings of the bucket', () => {
  const NEEDED = {
    storage: 's3',
    's3.bucket': 'launches',
    's3.access-key-id': 'AKIATESTKEY',
    's3.secret-access-key': 'S3TOPSECRET',
  }
  const fault = (settings: Partial<Record<SettingName, unknown>>) => {
    try {
      bucketPlace(loadConfig({ flags: { ...NEEDED, ...settings }, env: {}, cwd: '/' }))
    } catch (error) {
      return (error as Error).message
    }
    return null
  }

  it('are required by name, and only if a bucket is used', () => {
    for (const name of ['s3.bucket', 's3.access-key-id', 's3.secret-access-key'] as const) {
      const variable = `SVC_${name.toUpperCase().replaceAll(/[.-]/g, '_')}`
      expect(fault({ [name]: undefined })).toBe(`${name} is missing, and storage is s3; set ${variable}`)
    }
    expect(fault({ storage: 'local', 's3.access-key-id': undefined })).toMatch(/is missing, and s3\.bucket is set/)
    expect(bucketPlace(loadConfig({ env: {}, cwd: '/' }))).toBeNull()
    expect(fault({})).toBeNull()
  })

  it.each<[SettingName, string, RegExp]>([
    ['s3.endpoint', 'minio:9000', /s3\.endpoint .*must be an http or https URL/],
    ['s3.endpoint', 'https://user:S3TOPSECRET@minio', /s3\.endpoint must be a plain URL/],
    ['s3.endpoint', 'https://minio/?a=1', /s3\.endpoint must be a plain URL/],
    ['s3.bucket', 'Upper', /s3\.bucket .*must be 3 to 63 lower-case letters/],
    ['s3.bucket', 'a/../b', /s3\.bucket .*must be 3 to 63 lower-case letters/],
    ['s3.prefix', '/assets', /s3\.prefix .*must be letters, digits/],
    ['s3.prefix', 'a/../b', /s3\.prefix .*must be letters, digits/],
    ['s3.prefix', '..', /s3\.prefix .*must be letters, digits/],
    ['s3.prefix', 'a b', /s3\.prefix .*must be letters, digits/],
    ['s3.region', 'eu central', /s3\.region .*must be a region/],
    ['s3.addressing-style', 'host', /s3\.addressing-style .*must be one of path, virtual/],
    ['s3.access-key-id', 'A/B', /s3\.access-key-id .*must be one word/],
    ['s3.secret-access-key', 'S3TOP SECRET', /s3\.secret-access-key .*must be one word$/],
    ['s3.timeout-ms', '1', /s3\.timeout-ms .*must be a whole number from 100/],
  ])('are checked at the start: %s may not be %j', (name, value, message) => {
    expect(fault({ [name]: value })).toMatch(message)
    expect(fault({ [name]: value })).not.toContain('SECRET')
  })

  it('are checked together', () => {
    expect(fault({ 's3.endpoint': 'http://minio:9000', 's3.session-token': 'T' })).toMatch(/must be an https URL/)
    expect(fault({ 's3.endpoint': 'http://10.0.0.9', 's3.addressing-style': 'virtual' })).toMatch(
      /the name of a bucket cannot precede an IP address; set SVC_S3_ADDRESSING_STYLE$/,
    )
    expect(fault({ 's3.bucket': 'a.b' })).toMatch(/no certificate matches a bucket with a dot/)
    expect(fault({ 's3.bucket': 'a.b', 's3.addressing-style': 'path' })).toBeNull()
  })

  it('come only from the operator: not from a project file, but secrets from files too', () => {
    const names = (Object.keys(SETTINGS) as SettingName[]).filter((name) => name.startsWith('s3.'))
    expect(names.length).toBeGreaterThan(7)
    expect(names.filter((name) => (SETTINGS[name] as Setting).project === true)).toEqual([])
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'secret'), 'FROMAFILE\n', { mode: 0o600 })
    const { 's3.secret-access-key': _, ...flags } = NEEDED
    const env = { SVC_S3_SECRET_ACCESS_KEY_FILE: join(folder, 'secret') }
    const config = loadConfig({ flags, env, cwd: folder })
    expect(bucketPlace(config)?.credentials.secretAccessKey).toBe('FROMAFILE')
  })
})
