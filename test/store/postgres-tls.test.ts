/** TLS to a real PostgreSQL server: who is trusted, who is refused, and what the refusal says. */
import { chmodSync, copyFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { postgresSettings } from '../../src/store/postgres/settings.ts'
import type { TlsSettings } from '../../src/store/postgres/tls.ts'
import { tlsVersion } from '../../src/store/postgres/tls-version.ts'
import { makeAuthority, withoutOpenssl } from '../support/certificates.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { gate } from '../workers/frame-setting.ts'
import { opened, temporaryFolder } from './databases.ts'
import { type LaunchedPostgres, launchPostgres } from './postgres-launch.ts'

const folder = makeSharedFolder('svc-')
const PASSWORD = 's3cret-of-the-role'
const missing = withoutOpenssl()
const tls = missing === undefined ? await startTlsServer() : { missing }

async function startTlsServer() {
  const authority = makeAuthority(folder, 'authority')
  const stranger = makeAuthority(folder, 'stranger')
  const server = authority.sign('server', 'IP:127.0.0.1')
  const client = authority.sign('client')
  const launched = await launchPostgres({
    files: {
      'server.pem': server.cert,
      'server.key': server.key,
      'authority.pem': authority.cert,
      'hba.conf': [
        'host all svc 127.0.0.1/32 scram-sha-256',
        'hostssl all encrypted 127.0.0.1/32 scram-sha-256',
        'hostssl all certified 127.0.0.1/32 scram-sha-256 clientcert=verify-ca',
      ].join('\n'),
    },
    settings: {
      ssl: 'on',
      ssl_cert_file: 'HOME/server.pem',
      ssl_key_file: 'HOME/server.key',
      ssl_ca_file: 'HOME/authority.pem',
      hba_file: 'HOME/hba.conf',
    },
  })
  if ('missing' in launched) return launched
  const admin = new pg.Client({ connectionString: launched.url })
  await admin.connect()
  for (const role of ['encrypted', 'certified']) {
    await admin.query(`create role ${role} login password '${PASSWORD}'`)
    await admin.query(`create database of_${role} owner ${role}`)
  }
  await admin.query('create database plain')
  await admin.end()
  return { launched, authority, stranger, client }
}

function urlOf(launched: LaunchedPostgres, role: 'encrypted' | 'certified', query = ''): URL {
  const url = new URL(`/of_${role}${query}`, launched.url)
  url.username = role
  url.password = PASSWORD
  return url
}

afterAll(() => rmSync(folder, { recursive: true }))

describe.skipIf('missing' in tls)('TLS to PostgreSQL', () => {
  if ('missing' in tls) return test(`cannot be tried here (${tls.missing})`, () => {})
  const { launched, authority, stranger, client } = tls
  afterAll(() => launched.stop())

  const optionsOf = (url: URL, settings: TlsSettings) => ({
    dataDir: temporaryFolder(),
    databaseUrl: url.href,
    postgres: { ...postgresSettings(), tls: settings },
  })
  const versionFor = async (url: URL, settings: TlsSettings) => tlsVersion((await opened(optionsOf(url, settings))).db)
  /** The message of the refusal, which may hold no password. */
  async function refusal(url: URL, settings: TlsSettings): Promise<string> {
    const error = await openStore(optionsOf(url, settings)).then(
      (store) => store.close().then(() => expect.fail('it opened')),
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ code: 'internal_error' })
    expect(JSON.stringify([error.message, error.stack])).not.toContain(PASSWORD)
    return error.message
  }
  const encrypted = (query = '') => urlOf(launched, 'encrypted', query)
  const byName = () => Object.assign(encrypted(), { hostname: 'localhost' })

  test('is verified with the configured authority, by setting or by URL, and reads and writes use it', async () => {
    expect(await versionFor(encrypted(), { sslrootcert: authority.certFile })).toMatch(/^TLSv1\.[23]$/)
    expect(await versionFor(encrypted(), { sslmode: 'verify-full', sslrootcert: authority.certFile })).toMatch(/^TLS/)
    const inUrl = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(authority.certFile)}`
    expect(await versionFor(encrypted(inUrl), {})).toMatch(/^TLS/)
  })

  test('accepts a certificate that is mounted as a link', async () => {
    const link = join(temporaryFolder(), 'ca.crt')
    symlinkSync(authority.certFile, link)
    expect(await versionFor(encrypted(), { sslrootcert: link })).toMatch(/^TLS/)
  })

  test('refuses a server with a certificate of another authority, and says what to set', async () => {
    for (const sslmode of ['verify-full', 'verify-ca']) {
      const said = await refusal(encrypted(), { sslmode, sslrootcert: stranger.certFile })
      expect(said).toMatch(/certificate.*set postgres\.sslrootcert to the authority/)
    }
    expect(await refusal(encrypted(), { sslmode: 'verify-full' })).toContain('postgres.sslrootcert')
  })

  test('refuses a server with a certificate of another host, except in verify-ca', async () => {
    const said = await refusal(byName(), { sslmode: 'verify-full', sslrootcert: authority.certFile })
    expect(said).toMatch(/altnames.*set postgres\.sslmode to verify-ca/)
    expect(await versionFor(byName(), { sslmode: 'verify-ca', sslrootcert: authority.certFile })).toMatch(/^TLS/)
  })

  test('is unverified only in no-verify: require in a URL means verify-full', async () => {
    expect(await versionFor(encrypted(), { sslmode: 'no-verify' })).toMatch(/^TLS/)
    for (const sslmode of ['require', 'prefer', 'verify-full']) {
      expect(await refusal(encrypted(`?sslmode=${sslmode}`), {})).toContain('postgres.sslrootcert')
    }
    expect(await versionFor(encrypted('?sslmode=require&uselibpqcompat=true'), {})).toMatch(/^TLS/)
    expect(await versionFor(encrypted('?sslmode=require'), { sslmode: 'no-verify' })).toMatch(/^TLS/)
  })

  test('is requested with an explanation if the server requires it, and unused if the URL says so', async () => {
    expect(await refusal(encrypted(), {})).toMatch(/no encryption.*set postgres\.sslmode to verify-full/)
    expect(await refusal(encrypted('?sslmode=disable'), {})).toContain('no encryption')
    const plain = new URL('/plain', launched.url)
    expect(await versionFor(plain, { sslmode: 'disable' })).toBe(null)
  })

  test('presents a client certificate, whose key must be private', async () => {
    const url = () => urlOf(launched, 'certified')
    const ca = { sslrootcert: authority.certFile }
    expect(await refusal(url(), ca)).toMatch(/client certificate.*postgres\.sslcert and postgres\.sslkey/)
    const own = { ...ca, sslcert: client.certFile, sslkey: client.keyFile }
    const store = await opened(optionsOf(url(), own))
    expect(await tlsVersion(store.db)).toMatch(/^TLS/)
    const heard: (string | null)[] = []
    await store.wakeups.listen((name) => heard.push(name), { debug() {}, info() {}, warn() {}, error() {} })
    expect(heard, 'the connection for wake-ups shows it too').toEqual([null])
    const open = join(temporaryFolder(), 'open.key')
    copyFileSync(client.keyFile, open)
    chmodSync(open, 0o644)
    expect(await refusal(url(), { ...own, sslkey: open })).toMatch(
      /postgres\.sslkey: .*can be read by others.*chmod 600/,
    )
  })

  test('names the setting of an unusable file', async () => {
    const [absent, empty] = [join(temporaryFolder(), 'absent.pem'), join(temporaryFolder(), 'empty.pem')]
    writeFileSync(empty, 'no certificate\n')
    const locked = join(temporaryFolder(), 'locked.key')
    writeFileSync(locked, '-----BEGIN ENCRYPTED PRIVATE KEY-----\n', { mode: 0o600 })
    const ca = { sslrootcert: authority.certFile }
    expect(await refusal(encrypted(), { sslrootcert: absent })).toContain(
      `postgres.sslrootcert: ${absent} cannot be read`,
    )
    expect(await refusal(encrypted(), { sslrootcert: empty })).toContain(
      `postgres.sslrootcert: ${empty} is not a PEM file`,
    )
    expect(await refusal(encrypted(), { sslrootcert: folder })).toContain('is not a file')
    const large = join(temporaryFolder(), 'large.pem')
    writeFileSync(large, `-----BEGIN CERTIFICATE-----\n${'x'.repeat(1_048_576)}`)
    expect(await refusal(encrypted(), { sslrootcert: large })).toContain(
      'has more than 1048576 bytes: check what it is',
    )
    // A device says that it has no bytes, and never ends.
    expect(await refusal(encrypted(), { sslrootcert: '/dev/zero' })).toContain('is not a file')
    expect(await refusal(encrypted(), { ...ca, sslcert: client.certFile })).toContain('set together')
    expect(await refusal(encrypted(), { ...ca, sslcert: client.certFile, sslkey: locked })).toContain('passphrase')
    expect(await refusal(encrypted(), { sslmode: 'verify-ca' })).toContain('verify-ca needs postgres.sslrootcert')
    expect(await refusal(encrypted('?sslmode=sometimes'), {})).toContain('unknown sslmode')
  })

  test('reports a server that has no free connection, or has gone, with Retry-After', async () => {
    const store = await opened(optionsOf(encrypted(), { sslmode: 'no-verify' }))
    const admin = new pg.Client({ connectionString: launched.url })
    await admin.connect()
    await admin.query('alter role encrypted connection limit 1')
    await admin.end()
    const holder = gate()
    const held = store.write(async () => holder.pass())
    await holder.entered
    const busy = { code: 'internal_error', retryAfter: 1, message: expect.stringContaining('no connection left') }
    await expect(store.ping()).rejects.toMatchObject(busy)
    await expect(store.write(async () => {})).rejects.toMatchObject(busy)
    holder.open()
    await held
    await launched.stop()
    const gone = { code: 'internal_error', retryAfter: 1, message: expect.stringMatching(/reached|lost/) }
    await expect(store.ping()).rejects.toMatchObject(gone)
    await expect(store.write(async () => {})).rejects.toMatchObject(gone)
    expect(store.fault()).toBe('unreachable')
  })
})
