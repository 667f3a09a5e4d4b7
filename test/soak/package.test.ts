/** The package as a user installs it: packed, installed into an empty prefix, run without the clone, and its client in Node and a browser. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyClone } from '../support/clone.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CHROMIUM = '/usr/bin/chromium'
const MIB = 1024 * 1024
/** What the tarball may weigh, and what an installation may: a dependency that slips in shows here. */
const CEILINGS = { packed: 5 * MIB, unpacked: 24 * MIB, installed: 90 * MIB }
const SETTINGS = join(homedir(), '.npmrc')

const folder = makeSharedFolder('svc-package-')
const prefix = join(folder, 'prefix')
const home = join(folder, 'home')
const installed = join(prefix, 'lib/node_modules/@svc-launch/cli')
const svcFile = join(prefix, 'bin/svc')
const env = {
  HOME: home,
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
  SVC_PROGRAMS_DIR: PROGRAMS_DIR,
  SVC_LOG_LEVEL: 'warn',
  NPM_CONFIG_USERCONFIG: process.env.NPM_CONFIG_USERCONFIG || SETTINGS,
}

interface Packed {
  filename: string
  size: number
  unpackedSize: number
  files: { path: string }[]
}
let packed: Packed

const svc = (args: string[], options: { reject?: boolean } = {}, settings: Record<string, string> = {}) =>
  execa(svcFile, args, {
    cwd: home,
    env: { ...env, ...settings, PATH: process.env.PATH ?? '' },
    extendEnv: false,
    ...options,
  })

beforeAll(async () => {
  mkdirSync(home, { recursive: true })
  const clone = join(folder, 'clone')
  copyClone(clone)
  const { stdout } = await execa('npm', ['pack', '--json', '--pack-destination', folder], { cwd: clone, env })
  // The scripts that run before the packing may print lines of their own.
  packed = JSON.parse(stdout.slice(stdout.indexOf('[\n')))[0]
  expect(existsSync(join(clone, 'npm-shrinkwrap.json'))).toBe(false)
  expect(readFileSync(join(clone, 'package.json'), 'utf8')).toBe(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  await execa('npm', ['install', '--global', '--prefix', prefix, join(folder, packed.filename)], { cwd: home, env })
}, 1_800_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the tarball', () => {
  it('holds what runs and nothing of the sources and the tests, within its size', () => {
    const paths = packed.files.map(({ path }) => path)
    const outside = paths.filter((path) => !path.startsWith('dist/')).toSorted()
    expect(outside).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'npm-shrinkwrap.json', 'package.json'])
    expect(paths.filter((path) => /\.(ts|map|db|key)$|test|\.env/.test(path) && path !== 'dist/client.d.mts')).toEqual(
      [],
    )
    expect(paths).toEqual(
      expect.arrayContaining([
        'dist/svc.js',
        'dist/client.mjs',
        'dist/merkle-engine.wasm',
        'dist/jq-worker.js',
        'dist/jq.wasm',
        'dist/THIRD-PARTY-LICENSES.txt',
      ]),
    )
    expect(paths).not.toContain('dist/.inputs')
    const { size, unpackedSize } = packed
    process.stdout.write(
      `tarball: ${(size / MIB).toFixed(1)} MiB packed, ${(unpackedSize / MIB).toFixed(1)} MiB unpacked\n`,
    )
    expect(size).toBeLessThan(CEILINGS.packed)
    expect(unpackedSize).toBeLessThan(CEILINGS.unpacked)
  })

  it('cannot be published by mistake: npm refuses before it sends anything', async () => {
    const sent: string[] = []
    const registry = createServer(({ method = '' }, answer) => {
      sent.push(method)
      answer.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    })
    await new Promise<void>((done) => registry.listen(0, '127.0.0.1', done))
    const at = `//127.0.0.1:${(registry.address() as AddressInfo).port}/`
    const args = ['publish', join(folder, packed.filename), `--registry=http:${at}`, `--${at}:_authToken=none`]
    const { exitCode, stderr } = await execa('npm', args, { cwd: home, env, reject: false })
    registry.close()
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('EPRIVATE')])
    expect(sent).not.toContain('PUT')
  })
})

describe('an installation', () => {
  it('has the versions of the lock file, and npm finds nothing wrong with it', async () => {
    const { stdout } = await execa('npm', ['ls', '--all', '--json', '--omit=dev'], { cwd: installed, env })
    const { problems, dependencies } = JSON.parse(stdout)
    expect(problems).toBeUndefined()
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const { dependencies: exact, optionalDependencies: optional } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    )
    expect(Object.keys(exact)).toEqual(['better-sqlite3'])
    const newer: { version: string; engines: { node: string } } = packages['node_modules/better-sqlite3-13']
    expect(optional['better-sqlite3-13']).toBe(`npm:better-sqlite3@${newer.version}`)
    for (const name of Object.keys(exact))
      expect(dependencies[name].version).toBe(packages[`node_modules/${name}`].version)
    // What is overridden, or bundled in whatever version, is not there to be resolved anew.
    const beside = readdirSync(join(installed, 'node_modules'))
    // SQLite for newer versions of Node.js is left out by npm where it does not run.
    const runsNewer = Number.parseInt(process.versions.node, 10) >= Number.parseInt(newer.engines.node.slice(2), 10)
    expect(beside.includes('better-sqlite3-13')).toBe(runsNewer)
    for (const name of ['@solana', '@meteora-ag', 'chain', 'commander', 'typescript'])
      expect(beside).not.toContain(name)
    const licenses = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
    const bundled = [...licenses.matchAll(/^(\S+)@(\d\S*) \(/gm)]
    expect(bundled.length).toBeGreaterThan(100)
    const locked = Object.entries<{ name?: string; version: string }>(packages).map(
      ([path, { name = path.split('node_modules/').at(-1), version }]) => `${name}@${version}`,
    )
    expect(bundled.map(([, name, version]) => `${name}@${version}`).filter((each) => !locked.includes(each))).toEqual(
      [],
    )
    expect(bundled.map(([, name]) => name)).not.toContain('chain')
  })

  it('stays within its size', async () => {
    const { stdout } = await execa('du', ['-sk', prefix])
    const kib = Number.parseInt(stdout, 10)
    process.stdout.write(`installed: ${(kib / 1024).toFixed(0)} MiB\n`)
    expect(kib * 1024).toBeLessThan(CEILINGS.installed)
  })

  it('says its version, serves, answers commands, and stops', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect((await svc(['--version'])).stdout).toBe(version)
    await serving({}, async (url) => {
      expect(await (await fetch(`${url}/v2/health`)).json()).toMatchObject({ data: { status: 'healthy', version } })
      expect((await fetch(`${url}/v2/docs`)).status).toBe(200)
      expect((await fetch(`${url}/assets/docs/page.css`)).status).toBe(200)
      await svc(['localnet', 'wallet', 'wallet.json'])
      const made = [
        '--name',
        'My Token',
        '--symbol',
        'MTK',
        '--uri',
        'https://example.com/mtk.json',
        '--supply',
        '1000',
      ]
      await svc(['tokens', 'create', ...made, '--token-program', 'token2022', '-k', 'wallet.json', '--yes'])
      expect(JSON.parse((await svc(['tokens', 'list', '--json'])).stdout)).toMatchObject([
        { raw: { metadata: { symbol: 'MTK' } } },
      ])
      expect((await svc(['doctor'], { reject: false })).stdout).toContain('sqlite')
    })
  })

  it('does what the demo does', async () => {
    rmSync(join(folder, 'clone/dist'), { recursive: true })
    const { exitCode, stdout, stderr } = await execa('npm', ['run', 'demo'], {
      cwd: join(folder, 'clone'),
      env: { ...env, SVC_DEMO_PROGRAM: svcFile, NO_COLOR: '1' },
      reject: false,
    })
    expect(exitCode, `${stdout}${stderr}`).toBe(0)
    expect(stdout).toMatch(/\d+ steps, \d+ checks, all passed/)
  })
})

/** Runs `work` against an installed daemon, which must end in order. */
async function serving(settings: Record<string, string>, work: (url: string) => Promise<void>): Promise<void> {
  const child = svc(['serve', '--port', '0', '--rpc-port', '0'], { reject: false }, settings)
  try {
    const url = await new Promise<string>((found, fail) => {
      child.stdout?.on('data', (text) => {
        const [at] = /http:\/\/\S+/.exec(String(text)) ?? []
        if (at !== undefined) found(at)
      })
      void child.then(({ stderr }) => fail(new Error(`svc serve ended: ${stderr}`)))
    })
    await work(url)
  } finally {
    child.kill('SIGTERM')
  }
  expect((await child).exitCode).toBe(0)
}

describe('the typed client of the installation', () => {
  const PROGRAM = `
    import { ApiFailure, createClient, fetchTransport } from '@svc-launch/cli/client'
    export async function run(url: string, key: string) {
      const client = createClient(fetchTransport(url), key)
      const { data: health } = await client.service.health()
      const entries = [{ wallet: 'So11111111111111111111111111111111111111112', amount: '5' }]
      const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
      const { data: tree } = await client.merkleTrees.create({ mint, entries, persist: true }, { idempotencyKey: health.timestamp })
      const { data: trees, meta } = await client.merkleTrees.list({ limit: '1' })
      const code = await client.tokens.get({ mint }).then(() => 'none', (error) => (error as ApiFailure).code)
      const more: boolean = meta.has_more
      return [health.status, tree.root, trees[0]?.root, more, code]
    }`

  /** A project of somebody who installed the package beside it. */
  function project(): string {
    const own = join(folder, 'project')
    mkdirSync(join(own, 'node_modules/@svc-launch'), { recursive: true })
    symlinkSync(installed, join(own, 'node_modules/@svc-launch/cli'))
    writeFileSync(join(own, 'package.json'), '{"type":"module"}')
    writeFileSync(join(own, 'program.ts'), PROGRAM)
    return own
  }

  it('compiles strictly, and runs in Node and in a browser', async () => {
    const own = project()
    const compiler = join(ROOT, 'node_modules/.bin/tsc')
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--lib', 'es2022,dom', '--target', 'es2022']
    const modules = ['--module', 'nodenext', '--types', '', '--outDir', 'out', 'program.ts']
    const compiled = await execa(compiler, [...strict, ...modules], { cwd: own, reject: false })
    expect([compiled.exitCode, compiled.stdout]).toEqual([0, ''])

    const { output } = await build({ input: join(own, 'program.ts'), cwd: own, platform: 'browser', write: false })
    const page = createServer(({ url }, answer) => {
      const isScript = url === '/program.js'
      answer.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      answer.end(isScript ? output[0].code : '<!doctype html><title>page</title>')
    })
    await new Promise<void>((done) => page.listen(0, '127.0.0.1', done))
    const origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
    try {
      await serving({ SVC_CORS_ORIGINS: origin }, async (url) => {
        const { key } = JSON.parse(
          (await svc(['keys', 'create', '--name', 'page', '--scopes', 'airdrop:write', '--json'])).stdout,
        )
        const script = `import('./out/program.js').then(({ run }) => run(...process.argv.slice(1))).then((told) => console.log(JSON.stringify(told)))`
        const { stdout } = await execa('node', ['-e', script, url, key], { cwd: own })
        const root = expect.stringMatching(/^[0-9a-f]{64}$/)
        const told = ['healthy', root, root, false, 'not_found']
        expect(JSON.parse(stdout)).toEqual(told)
        if (existsSync(CHROMIUM)) expect(await inBrowser(origin, url, key)).toEqual(told)
        else process.stdout.write('skipped: Chromium is not installed\n')
      })
    } finally {
      page.close()
    }
  })

  async function inBrowser(origin: string, url: string, key: string): Promise<unknown> {
    const { chromium } = await import('playwright-core')
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
    try {
      const page = await browser.newPage()
      await page.goto(origin)
      return await page.evaluate(
        `import('/program.js').then(({ run }) => run(${JSON.stringify(url)}, ${JSON.stringify(key)}))`,
      )
    } finally {
      await browser.close()
    }
  }
})
