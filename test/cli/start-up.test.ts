/** What a command loads: as little as it needs, told by the runtime's own list of the scripts that ran. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { base58 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { onPostgres } from '../support/database.ts'
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
const packages = (loaded: string[]) => loaded.filter((name) => !name.endsWith('.js'))

describe('start-up', () => {
  it('runs every file of the program in strict mode, as its sources are', () => {
    const folder = join(PROGRAM, '..')
    const files = new Set(['svc.js', 'main.js', 'merkle-worker.js'])
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8')
      expect(text, file).toMatch(/^(#![^\n]*\n)?['"]use strict['"]/)
      // An earlier build may have left other chunks there; svc.js names the nouns that main.js loads.
      for (const [, chunk = ''] of text.matchAll(/require\("\.\/([\w.-]+\.js)"\)/g)) {
        if (existsSync(join(folder, chunk))) files.add(chunk)
      }
    }
    expect(files.size).toBeGreaterThan(100)
  })

  it.each([
    [['--version']],
    [['--help']],
    [['merkle', '--help']],
    [['pools', 'list', '--help']],
    [['help', 'keys', 'create']],
  ])('svc %j loads no package and no file but the first', async (args) => {
    const loaded = await loadedBy(args)
    expect(packages(loaded)).toEqual([])
    expect(loaded).toEqual(['svc.js'])
  })

  it('a command line with a mistake loads the parser that says which, and nothing more', async () => {
    expect(packages(await loadedBy(['polls']))).toEqual(['commander', 'picocolors'])
  })

  it.each([[['config', 'get', 'output']], [['merkle', 'build', cli.file('one.csv', `${MINT},1`), '--mint', MINT]]])(
    'svc %j loads no parser and nothing of the daemon, the schemas or a database',
    async (args) => {
      expect(packages(await loadedBy(args))).toEqual(['picocolors'])
    },
  )

  it('svc tx decode reads a transaction with nothing of the chain SDKs, the daemon or a database', async () => {
    const content = await loadedBy(['tx', 'decode', TRANSFER])
    expect(packages(content)).toEqual(['@scure/base', 'picocolors'])
    const { exitCode, stdout } = await cli.svc(['tx', 'decode', TRANSFER])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`fee payer ${PAYER}`)
  })

  it('shows that the list is complete: a command in process does load them', async () => {
    expect(packages(await loadedBy(['keys', 'list']))).toEqual(
      expect.arrayContaining([onPostgres ? 'pg' : 'better-sqlite3', 'fast-string-width', 'hono', 'kysely', 'zod']),
    )
  })
})
