/** What a command loads: as little as it needs, told by the runtime's own list of the scripts that ran. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { onPostgres } from '../support/database.ts'
import { commandLine, MINT } from './command-line.ts'

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

/** Packages and files that V8 ran. */
async function loadedBy(args: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-loaded-'))
  try {
    await cli.spawned(args, { env: { NODE_V8_COVERAGE: folder } })
    const urls = readdirSync(folder)
      .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).result as { url: string }[])
      .map(({ url }) => url)
      .filter((url) => url.startsWith('file:'))
    expect(urls.some((url) => url.endsWith('/dist/svc.js'))).toBe(true)
    return [
      ...new Set(urls.map((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url.split('/').at(-1)!)),
    ].sort()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const packages = (loaded: string[]) => loaded.filter((name) => !name.endsWith('.js'))

describe('start-up', () => {
  it.each([['--version'], ['--help']])('svc %s loads no package at all', async (...args) => {
    const loaded = await loadedBy(args)
    expect(packages(loaded)).toEqual([])
    expect(loaded.length).toBeLessThanOrEqual(4)
  })

  it.each([
    [['polls']],
    [['pools', 'list', '--help']],
    [['merkle', 'build', cli.file('one.csv', `${MINT},1`), '--mint', MINT]],
  ])('svc %j loads the parser and nothing of the daemon, the schemas or a database', async (args) => {
    expect(packages(await loadedBy(args))).toEqual(['commander', 'picocolors'])
  })

  it('svc tx decode reads a transaction with nothing of the chain SDKs, the daemon or a database', async () => {
    const content = await loadedBy(['tx', 'decode', TRANSFER])
    expect(packages(content)).toEqual(['@scure/base', 'commander', 'picocolors'])
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
