/** Secrets in files that are renewed while the process runs: the token of a signer, the key of a bucket, the password of a database. */
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PublicKey } from '@solana/web3.js'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Readiness } from '../../daemon/readiness.ts'
import { openConfiguredSigner } from '../../src/chain/signer/index.ts'
import { loadConfig, renewSecrets } from '../../src/settings/config.ts'
import type { PieceStore } from '../../src/storage/backend.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { storeOptions } from '../../src/store/open.ts'
import { large, png } from '../storage/images.ts'
import { startS3 } from '../support/s3-server.ts'
import { startService } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { testKey } from '../support/signer-keys.ts'

const folder = makeSharedFolder('svc-renewed-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function secretFile(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/** A transit engine that accepts one token. */
async function transitEngine() {
  const key = testKey()
  const engine = { key, token: 'first', refused: 0, url: '' }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const answer = (status: number, data: object) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(data))
      }
      if (request.headers['x-vault-token'] !== engine.token) {
        engine.refused++
        return answer(403, { errors: ['permission denied'] })
      }
      if (request.method === 'GET') {
        const public_key = new PublicKey(key.address).toBuffer().toString('base64')
        const keys = { 1: { public_key } }
        return answer(200, { data: { type: 'ed25519', supports_signing: true, latest_version: 1, keys } })
      }
      const signature = key.sign(Buffer.from(JSON.parse(body).input, 'base64'))
      answer(200, { data: { signature: `vault:v1:${Buffer.from(signature).toString('base64')}` } })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  engine.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return engine
}

describe('the token of a signer', () => {
  it('is read again when the provider refuses, and the call is repeated once', async () => {
    const engine = await transitEngine()
    const file = secretFile('token', 'first')
    const env = {
      HOME: folder,
      SVC_SIGNER: 'vault',
      SVC_SIGNER_PUBLIC_KEY: engine.key.address,
      SVC_SIGNER_VAULT_URL: engine.url,
      SVC_SIGNER_VAULT_KEY: 'svc',
      SVC_SIGNER_VAULT_TOKEN_FILE: file,
    }
    const signer = (await openConfiguredSigner(loadConfig({ env, cwd: folder })))!
    const message = Uint8Array.of(1, 2, 3)
    await signer.sign(message)
    engine.token = 'second'
    await expect(signer.sign(message)).rejects.toThrow('signer.vault-token')
    secretFile('token', 'second')
    expect(Buffer.from(await signer.sign(message)).equals(Buffer.from(engine.key.sign(message)))).toBe(true)
    // The refusal with the old file, and the one that made it be read again.
    expect(engine.refused).toBe(2)
    // A file that is half written changes nothing.
    engine.token = 'third'
    secretFile('token', '')
    await expect(signer.sign(message)).rejects.toThrow('signer.vault-token')
  })
})

describe('GET /ready', () => {
  it.each([
    ['first', 'ok', undefined],
    ['second', 'failing', [expect.stringMatching(/^signing: the signer refuses or cannot be reached/)]],
  ])('names the signer, whose token is %s, as %s, and stays ready', async (token, state, degraded) => {
    const engine = await transitEngine()
    engine.token = token
    const { app } = await startService({
      settings: {
        signer: 'vault',
        'signer.public-key': engine.key.address,
        'signer.vault-url': engine.url,
        'signer.vault-key': 'svc',
        'signer.vault-token': 'first',
      },
    })
    const ready = async () => {
      const { data } = (await (await app.fetch(new Request('http://svc.test/ready'))).json()) as { data: Readiness }
      return data
    }
    expect((await ready()).signer).toEqual({ provider: 'vault', state: 'unchecked' })
    await expect.poll(async () => (await ready()).signer?.state).toBe(state)
    const told = await ready()
    expect([told.ready, told.degraded]).toEqual([true, degraded])
  })
})

describe('the key of a bucket', () => {
  it('is read again when the server refuses, and the request is repeated once', async () => {
    const key = { accessKeyId: 'AKIATESTKEY', secretAccessKey: 'first', region: 'eu-central-1' }
    const server = await startS3({ key })
    const { 's3.secret-access-key': _, ...flags } = server.settings
    const env = { HOME: folder, SVC_S3_SECRET_ACCESS_KEY_FILE: secretFile('s3', 'first') }
    const config = loadConfig({ flags: { ...flags, storage: 's3' }, env, cwd: folder })
    const storage = openStorage(config, { cluster: 'embedded', database: {} as PieceStore })
    await storage.put(png(), 'image/png')
    key.secretAccessKey = 'second'
    const image = large(10)
    await expect(storage.put(image, 'image/png')).rejects.toThrow('s3.secret-access-key')
    secretFile('s3', 'second')
    const { cid } = await storage.put(image, 'image/png')
    expect(server.read(cid).equals(image)).toBe(true)
  })
})

describe('secrets that files name', () => {
  it('are renewed by their prefix, and others are left alone', () => {
    const [token, secret] = [secretFile('a', 'one'), secretFile('b', 'one')]
    const env = { HOME: folder, SVC_SIGNER_VAULT_TOKEN_FILE: token, SVC_S3_SECRET_ACCESS_KEY_FILE: secret }
    const config = loadConfig({ env, cwd: folder })
    expect(renewSecrets(config, 'signer.')).toEqual([])
    for (const name of ['a', 'b']) secretFile(name, 'two')
    expect(renewSecrets(config, 'signer.')).toEqual(['signer.vault-token'])
    expect([config.values['signer.vault-token'], config.values['s3.secret-access-key']]).toEqual(['two', 'one'])
  })

  it('give the database URL that new connections use', () => {
    const file = secretFile('url', 'postgres://svc:one@db.example.com/svc')
    const config = loadConfig({ env: { HOME: folder, SVC_DATABASE_URL_FILE: file }, cwd: folder })
    const { renewedUrl } = storeOptions(config)
    secretFile('url', 'postgres://svc:two@db.example.com/svc')
    expect(renewedUrl?.()).toBe('postgres://svc:two@db.example.com/svc')
    expect(storeOptions(loadConfig({ env: { HOME: folder }, cwd: folder })).renewedUrl).toBeUndefined()
  })
})
