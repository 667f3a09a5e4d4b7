/** The package of the typed client: packed from dist/, installed without a network, and used against a daemon. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection, Keypair } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../tools/source.ts'
import { startDaemon } from './support/daemon.ts'
import { temporaryFolder } from './support/service.ts'
import { makeSharedFolder } from './support/shared-folder.ts'

const folder = makeSharedFolder('svc-client-package-')
const project = join(folder, 'project')
const installed = join(project, 'node_modules/@svc-launch/client')

beforeAll(async () => {
  const source = join(folder, 'package')
  await execa('node', ['tools/build/client-package.mjs', source], { cwd: ROOT })
  const { stdout } = await execa('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source })
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  const tarball = join(folder, JSON.parse(stdout)[0].filename)
  await execa('npm', ['install', '--offline', tarball], { cwd: project })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('has one module of about 12 KB with its types, and no dependency, script or native part', () => {
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@svc-launch'])
  const files = ['LICENSE', 'README.md', 'client.d.mts', 'client.mjs', 'package.json']
  expect(readdirSync(installed).toSorted()).toEqual(files)
  expect(statSync(join(installed, 'client.mjs')).size).toBeLessThan(13_000)
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: '@svc-launch/client', version, license: 'Apache-2.0' })
  for (const field of ['private', 'dependencies', 'optionalDependencies', 'scripts', 'bin'])
    expect(manifest).not.toHaveProperty(field)
})

it('has a README whose links work outside of the clone', () => {
  const links = [...readFileSync(join(installed, 'README.md'), 'utf8').matchAll(/\]\(([^)]+)\)/g)]
  expect(links.length).toBeGreaterThan(0)
  for (const [, target] of links) expect(target).toMatch(/^https:\/\/github\.com\/.+\/docs\/[\w-]+\.md(#[\w-]+)?$/)
})

it('calls a daemon from Node', async () => {
  const daemon = await startDaemon({ dataDir: temporaryFolder() })
  const script = `
    import { ApiFailure, createClient, fetchTransport } from '@svc-launch/client'
    const client = createClient(fetchTransport(process.argv[2]), process.argv[3])
    const { data } = await client.pools.list({ limit: '1' })
    const mint = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'
    const failure = await client.tokens.get({ mint }).catch((error) => error)
    console.log(JSON.stringify([data, failure instanceof ApiFailure, failure.code]))`
  writeFileSync(join(project, 'program.mjs'), script)
  const { stdout } = await execa('node', ['program.mjs', daemon.url, daemon.operator], { cwd: project })
  await daemon.stop()
  expect(JSON.parse(stdout)).toEqual([[], true, 'not_found'])
})

it('builds, signs and submits with the program of its page', async () => {
  const dataDir = temporaryFolder()
  const daemon = await startDaemon({ dataDir })
  onTestFinished(async () => void (await daemon.stop()))
  const [, program = ''] = /```js\n(import [\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/client.md'), 'utf8')) ?? []
  writeFileSync(join(project, 'send.mjs'), program)
  symlinkSync(join(ROOT, 'node_modules/@solana'), join(project, 'node_modules/@solana'))
  const wallet = Keypair.generate()
  writeFileSync(join(project, 'wallet.json'), JSON.stringify([...wallet.secretKey]))
  const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
  const connection = new Connection(rpc_url)
  await connection.requestAirdrop(wallet.publicKey, 1_000_000_000)
  const recipient = Keypair.generate().publicKey
  const env = { SVC_API_URL: daemon.url, SVC_API_KEY: daemon.operator, RECIPIENT: recipient.toBase58() }
  const { stdout } = await execa('node', ['send.mjs'], { cwd: project, env })
  expect(stdout).toMatch(/^(confirmed|finalized) \w{80,90}$/m)
  expect(await connection.getBalance(recipient, 'confirmed')).toBe(100_000_000)
  const { json } = await daemon.request('GET', '/v2/events?type=transaction.submitted')
  expect(json.data).toMatchObject([{ external_uid: 'order-7' }])
})

it('knows by its types that a submission answers a signature, and a bundle its id', async () => {
  const calls = `import type { Client } from '@svc-launch/client'
export const one = async (client: Client): Promise<string> =>
  (await client.transactions.submit({ transaction: 'AA==' })).data.signature
export const bundle = async (client: Client): Promise<string> =>
  (await client.transactions.submit({ bundle: true, signed_transactions: ['AA=='] })).data.bundle_id
// @ts-expect-error a bundle has no signature of its own
export const wrong = async (client: Client) => (await client.transactions.submit({ bundle: true })).data.signature
`
  writeFileSync(join(project, 'calls.mts'), calls)
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', '']
  const { stdout } = await execa(join(ROOT, 'node_modules/.bin/tsc'), [...flags, 'calls.mts'], {
    cwd: project,
    reject: false,
  })
  expect(stdout).toBe('')
})
