/** The package as a user installs it: packed, installed into an empty prefix, run without the clone, and its client in Node and a browser. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCache } from '../../src/chain/program-cache/cache.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { openServer } from '../chain/serving.ts'
import { hasChromium, launchChromium } from '../support/browser.ts'
import { copyClone } from '../support/clone.ts'
import { imageIn, lacksSandbox, lastStage } from '../support/image.ts'
import { freePort, listening } from '../support/ports.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { configureSolanaCli } from '../support/solana-cli.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MIB = 1024 * 1024
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
/** What the tarball may weigh, and what an installation may: a dependency that slips in shows here. */
const CEILINGS = { packed: 5 * MIB, unpacked: 24 * MIB, installed: 90 * MIB }
const lacksPrograms = Object.values(PROGRAMS).some(({ id }) => !hasProgram(id))
const SETTINGS = join(homedir(), '.npmrc')

const DOCKERFILE = readFileSync(join(ROOT, 'examples/deploy/docker/Dockerfile'), 'utf8')

const folder = makeSharedFolder('svc-package-')
const prefix = join(folder, 'prefix')
const home = join(folder, 'home')
/** The files of a release, as tools/release.mjs makes them. */
const release = join(folder, 'release')
const tarball = (name = 'cli') => join(release, `svc-launch-${name}-${VERSION}.tgz`)
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
  await execa('node', ['tools/release.mjs', release], { cwd: clone, env })
  const { stdout } = await execa('npm', ['pack', '--json', '--dry-run', tarball()], { cwd: folder, env })
  packed = JSON.parse(stdout)[0]
  expect(existsSync(join(clone, 'npm-shrinkwrap.json'))).toBe(false)
  expect(readFileSync(join(clone, 'package.json'), 'utf8')).toBe(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  // As the image installs it. Version 12 of SQLite's module needs its script; version 13 has binaries.
  const [, line = ''] = /^RUN (npm install .*) \.\/package\.tgz$/m.exec(DOCKERFILE) ?? []
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const needsScript = major < 22 || (major === 22 && minor < 14)
  const words = line.replace('/opt/svc', prefix).split(' ').slice(1)
  const args = needsScript ? words.filter((word) => word !== '--ignore-scripts') : words
  expect(args).toContain('--global')
  await execa('npm', [...args, tarball()], { cwd: home, env })
}, 1_800_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the tarball', () => {
  it('contains the program without sources and tests, within its size', () => {
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
        'dist/grind-worker.js',
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

  it('cannot be published by mistake: outside of the release workflow npm refuses before it sends anything', async () => {
    const sent: string[] = []
    const registry = createServer(({ method = '' }, answer) => {
      sent.push(method)
      answer.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    })
    await new Promise<void>((done) => registry.listen(0, '127.0.0.1', done))
    const at = `//127.0.0.1:${(registry.address() as AddressInfo).port}/`
    for (const name of ['cli', 'client']) {
      const args = ['publish', tarball(name), `--registry=http:${at}`, `--${at}:_authToken=none`]
      const { exitCode, stderr } = await execa('npm', args, { cwd: home, env, reject: false })
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('provenance generation not supported')])
    }
    registry.close()
    expect(sent).not.toContain('PUT')
  })
})

describe('the files of a release', () => {
  it('are both packages, the documentation site and the bill of materials, with checksums', async () => {
    const names = [`cli-${VERSION}.cdx.json`, `cli-${VERSION}.tgz`, `client-${VERSION}.tgz`, `docs-${VERSION}.tgz`]
    const files = names.map((name) => `svc-launch-${name}`)
    const { stdout: site } = await execa('tar', ['-tzf', tarball('docs')])
    expect(site.split('\n')).toEqual(expect.arrayContaining(['./index.html', './index.md', './llms.txt']))
    expect(readdirSync(release).toSorted()).toEqual(['SHA256SUMS', ...files])
    const { stdout } = await execa('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release })
    expect(stdout.split('\n')).toEqual(files.map((name) => `${name}: OK`))
  })

  it('have a bill of materials with every package that is bundled or installed beside', () => {
    const bill = JSON.parse(readFileSync(join(release, `svc-launch-cli-${VERSION}.cdx.json`), 'utf8'))
    expect(bill.metadata.component).toMatchObject({ name: '@svc-launch/cli', version: VERSION })
    const listed = bill.components.map(({ name, version }: Record<string, string>) => `${name}@${version}`)
    const licences = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
    const bundled = [...licences.matchAll(/^-{80}\n(\S+@\S+) \(/gm)].map(([, id]) => id)
    expect(bundled.length).toBeGreaterThan(100)
    expect(bundled.filter((id) => !listed.includes(id))).toEqual([])
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    const beside = Object.entries<string>({ ...dependencies, ...optionalDependencies })
    const names = listed.map((id: string) => id.replace(/@[^@]*$/, ''))
    expect(beside.filter(([name]) => !names.includes(name))).toEqual([])
  })
})

describe('an installation', () => {
  it('has the versions of the lock file, and npm reports no problem', async () => {
    const { stdout } = await execa('npm', ['ls', '--all', '--json', '--omit=dev'], { cwd: installed, env })
    const { problems, dependencies } = JSON.parse(stdout)
    expect(problems).toBeUndefined()
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const { dependencies: exact, optionalDependencies: optional } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    )
    expect(exact ?? {}).toEqual({})
    const newer: { version: string; engines: { node: string } } = packages['node_modules/better-sqlite3-13']
    expect(optional['better-sqlite3-13']).toBe(`npm:better-sqlite3@${newer.version}`)
    // Optional packages that do not run here have no version.
    const present = Object.entries<{ version?: string }>(dependencies).filter(([, each]) => each.version !== undefined)
    expect(present.map(([name]) => name)).toContain('better-sqlite3')
    for (const [name, { version }] of present)
      expect([name, version]).toEqual([name, packages[`node_modules/${name}`].version])
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

  it('succeeds without a compiler; the first command that needs SQLite says how to get it', async () => {
    const bare = join(folder, 'bare')
    // As on a machine for which SQLite has no prebuilt binary, and whose compiler is missing.
    const missing = { CC: 'false', CXX: 'false', npm_config_build_from_source: 'better-sqlite3' }
    const args = ['install', '--global', '--prefix', bare, tarball()]
    const { exitCode, stderr } = await execa('npm', args, { cwd: home, env: { ...env, ...missing }, reject: false })
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('npm error')])
    const run = (...typed: string[]) => execa(join(bare, 'bin/svc'), typed, { cwd: home, env, reject: false })
    expect((await run('--version')).stdout).toBe(VERSION)
    const failed = await run('keys', 'list')
    // Version 13, which has binaries, runs from Node.js 22.14 on.
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    if (major > 22 || (major === 22 && minor >= 14)) expect(failed.exitCode).toBe(0)
    else expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining('Node.js 22.14 or newer')])
  })

  it('prints its version, serves, answers commands, and stops', async () => {
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

  it.skipIf(lacksPrograms)(
    'runs `npm run demo` to its end, and fills an empty program cache from the cluster',
    async () => {
      rmSync(join(folder, 'clone/dist'), { recursive: true })
      const server = await openServer()
      const own = join(folder, 'demo-home')
      mkdirSync(own)
      // The demo never works on the cluster of the Solana CLI.
      configureSolanaCli(own)
      const { exitCode, stdout, stderr } = await execa('npm', ['run', 'demo'], {
        cwd: join(folder, 'clone'),
        env: {
          PATH: process.env.PATH,
          HOME: own,
          SVC_DEMO_CLUSTER: server.url,
          SVC_DEMO_PROGRAM: svcFile,
          NO_COLOR: '1',
        },
        extendEnv: false,
        reject: false,
      })
      await server.stop()
      expect(exitCode, `${stdout}${stderr}`).toBe(0)
      expect(stdout).toMatch(/\d+ steps, \d+ checks, all passed/)
      const programsDir = join(own, '.cache/svc/programs')
      expect(stdout).toContain(
        `${Object.values(PROGRAMS).length} programs are not in ${programsDir}: fetching them from ${server.url}, 30 s at most`,
      )
      for (const { program, sha256 } of readCache(programsDir)) {
        expect(stdout).toMatch(new RegExp(`${program.name}, [\\d,]+ bytes, SHA-256 ${sha256}\n`))
      }
      for (const step of [
        'svc pools create: image, metadata, config, pool and first buy; live',
        'it trades on there, and its fees are claimed to the lamport',
        'each wallet claims its amount, once',
        'unclaimed tokens return after the clawback time, and not before',
        'it is burned, and events report every step',
        'svc gold unlock returns tokens and rent',
      ]) {
        expect(stdout).toContain(step)
      }
      expect(stdout).not.toContain('left out')
    },
    600_000,
  )
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

describe.skipIf(lacksSandbox)('the image, step by step (needs bubblewrap and root)', () => {
  const stage = lastStage(DOCKERFILE)
  const image = imageIn(join(folder, 'image'), { installed: prefix, stage })

  it('gets a link to the command, a user without a shell, and a folder that only this user can read', async () => {
    const { stderr } = await image.step(stage.run)
    expect(stderr).toBe('')
    const { stdout } = await image.step(
      "readlink -f /usr/local/bin/svc; getent passwd svc; stat -c '%u:%g %a' /var/lib/svc",
    )
    expect(stdout.split('\n')).toEqual([
      '/opt/svc/lib/node_modules/@svc-launch/cli/dist/svc.js',
      'svc:x:10001:10001::/var/lib/svc:/usr/sbin/nologin',
      `${stage.user} 700`,
    ])
  })

  it('lets its user write to the volume and /tmp, and to no other place', async () => {
    const places = ['/var/lib/svc', '/tmp', '/', '/etc', '/opt/svc', '/usr/local/bin', '/var/lib']
    const line = places.map((place) => `touch ${place}/x 2>/dev/null && echo ${place}`).join('; ')
    const { stdout } = await image.container(['sh', '-c', `${line}; id -u; id -g`])
    expect(stdout.split('\n')).toEqual(['/var/lib/svc', '/tmp', '10001', '10001'])
  })

  it('serves as that user until it is stopped, and passes its health check', async () => {
    const port = String(await freePort())
    const env = { SVC_PORT: port, SVC_URL: 'embedded', SVC_RPC_PORT: '0', SVC_DATABASE_URL: 'sqlite' }
    const served = image.container(stage.command, env)
    const isReady = async () => (await image.container(stage.healthCheck, env)).exitCode === 0
    while (served.exitCode === null && !(await isReady())) await sleep(100)
    process.kill(JSON.parse(readFileSync(join(image.volume, 'data/daemon.json'), 'utf8')).pid, 'SIGTERM')
    const { exitCode, stderr } = await served
    expect(exitCode, stderr).toBe(0)
  }, 120_000)
})

describe('the typed client of the installation', () => {
  const PROGRAM = `
    import { ApiFailure, createClient, fetchTransport } from '@svc-launch/client'
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

  /** A project of somebody who installed only the client, without a network. */
  async function project(): Promise<string> {
    const own = join(folder, 'project')
    mkdirSync(own)
    writeFileSync(join(own, 'package.json'), '{"type":"module"}')
    await execa('npm', ['install', '--offline', tarball('client')], { cwd: own, env })
    expect(readdirSync(join(own, 'node_modules/@svc-launch'))).toEqual(['client'])
    writeFileSync(join(own, 'program.ts'), PROGRAM)
    return own
  }

  it('is also a part of the command, as one and the same file', () => {
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    expect(exports['./client']).toEqual({ types: './dist/client.d.mts', default: './dist/client.mjs' })
    for (const file of ['client.mjs', 'client.d.mts'])
      expect(readFileSync(join(installed, 'dist', file))).toEqual(readFileSync(join(ROOT, 'dist', file)))
  })

  it('compiles strictly, and runs in Node and in a browser', async () => {
    const own = await project()
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
    const origin = await listening(page)
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
        if (hasChromium) expect(await inBrowser(origin, url, key)).toEqual(told)
        else process.stdout.write('skipped: Chromium is not installed\n')
      })
    } finally {
      page.close()
    }
  })

  async function inBrowser(origin: string, url: string, key: string): Promise<unknown> {
    const browser = await launchChromium()
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
