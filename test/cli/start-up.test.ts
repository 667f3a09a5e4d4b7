/** What a command loads: as little as it needs, told by the runtime's own list of the scripts that ran. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { base58 } from '@scure/base'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { onPostgres } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { commandLine, MINT, PROGRAM } from './command-line.ts'

const cli = commandLine()
const PAYER = '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS'
/** An unsigned legacy transfer of one lamport: a signature, the header, three keys, the blockhash, one instruction. */
const TRANSFER = Buffer.concat([
  Buffer.from([1]),
  Buffer.alloc(64),
  Buffer.from([1, 0, 1, 3]),
  base58.decode(PAYER),
  base58.decode(MINT),
  Buffer.alloc(32),
  Buffer.alloc(32, 7),
  Buffer.from([1, 2, 2, 0, 1, 12, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
]).toString('base64')

/** Packages of which V8 ran a file, be it inside a file of dist/, and the files of dist/ themselves. */
async function loadedBy(args: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-loaded-'))
  try {
    await cli.spawned(args, { env: { NODE_V8_COVERAGE: folder } })
    const files = readdirSync(folder)
      .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).result as { url: string }[])
      .filter(({ url }) => url.startsWith('file:'))
      .map(({ url }) => fileURLToPath(url))
    expect(files.some((file) => file.endsWith('/dist/svc.js'))).toBe(true)
    return [...new Set(files.flatMap((file) => [basename(file), ...packagesIn(file)]))].sort()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The package that a file is of, or those that were bundled into it: the bundler names each module in a comment. */
function packagesIn(file: string): string[] {
  const isBundle = file.includes('/dist/') && !file.includes('/node_modules/')
  const modules = isBundle ? (readFileSync(file, 'utf8').match(/^ *\/\/ .*node_modules\/.*$/gm) ?? []) : [file]
  return modules.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
}
/** An API whose every answer is a list of 2,000 records, more than a pipe takes at once. */
async function longList() {
  const data = Array.from({ length: 2_000 }, (_, i) => ({ name: `number ${i}`, id: 'x'.repeat(100) }))
  const page = { data, meta: { request_id: 'req_1', has_more: false, next_cursor: null } }
  const api = createServer((_, answer) => answer.end(JSON.stringify(page)))
  await new Promise((listening) => api.listen(0, '127.0.0.1', () => listening(undefined)))
  return { api, url: `http://127.0.0.1:${(api.address() as AddressInfo).port}` }
}

/** Takes a byte from a pipe that has one. */
function readsByte(descriptor: number): boolean {
  try {
    return readSync(descriptor, Buffer.alloc(1)) === 1
  } catch {
    return false
  }
}

const packages = (loaded: string[]) => loaded.filter((name) => !name.endsWith('.js'))

describe('Start-up', () => {
  it('runs every file of the program in strict mode', () => {
    const files = new Set(['svc.js', 'merkle-worker.js', 'jq-worker.js', 'grind-worker.js'])
    for (const file of files) {
      const text = readFileSync(join(PROGRAM, '..', file), 'utf8')
      expect(text, file).toMatch(/^(#![^\n]*\n)?"use strict"/)
      // The folder may also hold files of an earlier build.
      for (const [, named = ''] of text.matchAll(/require\("\.\/([\w.-]+\.js)"\)/g)) files.add(named)
    }
    expect(files.size).toBeGreaterThan(100)
  })

  const PRINTING = [['config', 'get', 'output'], ['--version'], ['--help'], ['merkle', '--help']]
  it.each(PRINTING.slice(0, runs(2, 4)).map((args) => [args]))(
    'of svc %j reports a full output, and is silent if the reader has gone',
    { tags: 'sampled' },
    (args) => {
      const full = openSync('/dev/full', 'w')
      const program = [PROGRAM, ...args]
      const { status, stderr } = spawnSync(process.execPath, program, { stdio: ['ignore', full, 'pipe'], env: cli.env })
      closeSync(full)
      expect([status, String(stderr)]).toEqual([1, expect.stringMatching(/^error: standard output: ENOSPC.*\n$/)])
      const line = `"$0" "$@" | true; echo "\${PIPESTATUS[0]}"`
      const piped = spawnSync('bash', ['-c', line, process.execPath, ...program], { encoding: 'utf8', env: cli.env })
      expect([piped.stdout, piped.stderr]).toEqual(['0\n', ''])
    },
  )

  it('writes the whole answer to a non-blocking pipe that is read late', async () => {
    const { api, url } = await longList()
    const notWaiting = 'use Fcntl; fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK); exec @ARGV'
    const program = ['-e', notWaiting, process.execPath, PROGRAM, 'keys', 'list', '--api', url, '--json']
    const { stdout, stderr } = await execa('bash', ['-c', 'perl "$@" | (sleep 0.5; cat)', 'bash', ...program], {
      env: cli.env,
    })
    api.close()
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toHaveLength(2_000)
  })

  it('ends at SIGTERM while the reader does not read', async () => {
    const { api, url } = await longList()
    const folder = mkdtempSync(join(tmpdir(), 'svc-pipe-'))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(pipe, 'w')
    const args = [PROGRAM, 'keys', 'list', '--api', url, '--json']
    const command = spawn(process.execPath, args, { env: cli.env, stdio: ['ignore', writer, 'ignore'] })
    const ended = once(command, 'exit')
    try {
      // The first byte says that the rest is being written, of which a pipe takes 64 KiB.
      await expect.poll(() => readsByte(reader), { interval: 1 }).toBe(true)
      command.kill('SIGTERM')
      const late = setTimeout(() => command.kill('SIGKILL'), 60_000)
      expect(await ended).toEqual([143, null])
      clearTimeout(late)
    } finally {
      command.kill('SIGKILL')
      for (const descriptor of [reader, writer]) closeSync(descriptor)
      rmSync(folder, { recursive: true, force: true })
      api.close()
    }
  })

  const HELP = [
    ['pools', 'list', '--help'],
    ['--version'],
    ['--help'],
    ['merkle', '--help'],
    ['help', 'keys', 'create'],
  ]
  it.each(HELP.slice(0, runs(2, 5)).map((args) => [args]))(
    'of svc %j loads no package, and only the first file with the runtime of the bundler',
    { tags: 'sampled' },
    async (args) => {
      const loaded = await loadedBy(args)
      expect(packages(loaded)).toEqual([])
      expect(loaded).toEqual([expect.stringMatching(/^rolldown-runtime-/), 'svc.js'])
    },
  )

  it('of a mistyped command loads only the parser', async () => {
    expect(packages(await loadedBy(['polls']))).toEqual(['commander'])
  })

  it.each([[['config', 'get', 'output']], [['merkle', 'build', cli.file('one.csv', `${MINT},1`), '--mint', MINT]]])(
    'of svc %j loads the parser, but not the daemon, the schemas or a database',
    async (args) => {
      expect(packages(await loadedBy(args))).toEqual(['commander'])
    },
  )

  it('of svc tx decode loads no chain SDK, daemon or database', async () => {
    const content = await loadedBy(['tx', 'decode', TRANSFER, '--offline'])
    expect(packages(content)).toEqual(['@scure/base', 'commander'])
    const { exitCode, stdout } = await cli.svc(['tx', 'decode', TRANSFER, '--offline'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`fee payer ${PAYER}`)
  })

  it('of a command that needs them loads the daemon, the schemas and a database', async () => {
    // Newer versions of Node take SQLite's module from a newer package.
    const loaded = packages(await loadedBy(['keys', 'list'])).map((name) =>
      name.replace(/^better-sqlite3-13$/, 'better-sqlite3'),
    )
    expect(loaded).toEqual(
      expect.arrayContaining([onPostgres ? 'pg' : 'better-sqlite3', 'fast-string-width', 'hono', 'kysely', 'zod']),
    )
  })
})
