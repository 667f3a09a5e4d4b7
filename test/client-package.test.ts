/** The package of the typed client: packed from dist/, installed without a network, and used against a daemon. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection, Keypair } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../tools/source.ts'
import { png } from './storage/images.ts'
import { type Daemon, startDaemon } from './support/daemon.ts'
import { lackingPrograms } from './support/pool-platform.ts'
import { PROGRAMS_DIR } from './support/programs.ts'
import { temporaryFolder } from './support/service.ts'
import { makeSharedFolder } from './support/shared-folder.ts'

const folder = makeSharedFolder('svc-client-package-')
const project = join(folder, 'project')
const installed = join(project, 'node_modules/@svc-launch/client')
const dataDir = join(folder, 'data')
let daemon: Daemon

beforeAll(async () => {
  const source = join(folder, 'package')
  await execa('node', ['tools/build/client-package.mjs', source], { cwd: ROOT })
  const { stdout } = await execa('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source })
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  const tarball = join(folder, JSON.parse(stdout)[0].filename)
  await execa('npm', ['install', '--offline', tarball], { cwd: project })
  mkdirSync(dataDir)
  const platform = Keypair.generate().publicKey.toBase58()
  daemon = await startDaemon({ dataDir, env: { SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_PLATFORM_WALLET: platform } })
})

afterAll(async () => {
  await daemon?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it('has one module of about 15 KB with its types, and no dependency, script or native part', () => {
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@svc-launch'])
  const files = ['LICENSE', 'README.md', 'client.d.mts', 'client.mjs', 'package.json']
  expect(readdirSync(installed).toSorted()).toEqual(files)
  expect(statSync(join(installed, 'client.mjs')).size).toBeLessThan(15_000)
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
  const script = `
    import { ApiFailure, createClient, fetchTransport } from '@svc-launch/client'
    const client = createClient(fetchTransport(process.argv[2]), process.argv[3])
    const { data } = await client.pools.list({ limit: '1' })
    const mint = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'
    const failure = await client.tokens.get({ mint }).catch((error) => error)
    console.log(JSON.stringify([data, failure instanceof ApiFailure, failure.code]))`
  writeFileSync(join(project, 'program.mjs'), script)
  const { stdout } = await execa('node', ['program.mjs', daemon.url, daemon.operator], { cwd: project })
  expect(JSON.parse(stdout)).toEqual([[], true, 'not_found'])
})

describe('the page of the client', () => {
  const page = readFileSync(join(ROOT, 'docs/client.md'), 'utf8')
  const programs = [...page.matchAll(/```js\n(import [\s\S]*?)```/g)].map(([, program]) => program!)

  /** A wallet with SOL, and what the page installs, in an empty folder. */
  async function setting() {
    const own = temporaryFolder()
    mkdirSync(join(own, 'node_modules/@svc-launch'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules/@solana'), join(own, 'node_modules/@solana'))
    symlinkSync(installed, join(own, 'node_modules/@svc-launch/client'))
    const wallet = Keypair.generate()
    writeFileSync(join(own, 'wallet.json'), JSON.stringify([...wallet.secretKey]))
    writeFileSync(join(own, 'logo.png'), png())
    const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
    const connection = new Connection(rpc_url)
    await connection.requestAirdrop(wallet.publicKey, 2_000_000_000)
    const run = async (program: string, more: Record<string, string> = {}) => {
      writeFileSync(join(own, 'program.mjs'), program)
      const keys = { SVC_API_URL: daemon.url, SVC_API_KEY: daemon.operator }
      return (await execa('node', ['program.mjs'], { cwd: own, env: { ...keys, ...more } })).stdout
    }
    return { connection, run }
  }

  it('installs the version of web3.js that its programs are written for', () => {
    expect(page).toContain('npm install FOLDER/svc-launch-client-*.tgz @solana/web3.js@1\n')
    const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/@solana/web3.js/package.json'), 'utf8'))
    expect(version).toMatch(/^1\./)
    expect(programs).toHaveLength(2)
  })

  it('builds, signs and submits with its first program', async () => {
    const { connection, run } = await setting()
    const recipient = Keypair.generate().publicKey
    const stdout = await run(programs[0]!, { RECIPIENT: recipient.toBase58() })
    expect(stdout).toMatch(/^(confirmed|finalized) \w{80,90}$/m)
    expect(await connection.getBalance(recipient, 'confirmed')).toBe(100_000_000)
    const { json } = await daemon.request('GET', '/v2/events?type=transaction.submitted')
    expect(json.data).toMatchObject([{ external_uid: 'order-7' }])
  })

  it.skipIf(lackingPrograms.length > 0)(
    `launches with its second one: two transactions, and one pool.live after the pool exists (${lackingPrograms.join(', ')})`,
    async () => {
      const { run } = await setting()
      const stdout = await run(programs[1]!)
      expect(stdout).toMatch(/^(?:(?:confirmed|finalized) \w{80,90}\n){2}live \w{32,44}$/)
      const { json } = await daemon.request('GET', '/v2/events?order=asc&resource_type=pool')
      const about = json.data.map(({ type, data }: { type: string; data: { object: object } }) => [type, data.object])
      expect(about).toMatchObject([
        ['pool.created', { status: 'pending' }],
        ['pool.live', { status: 'live', source: 'chain' }],
      ])
    },
  )
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
