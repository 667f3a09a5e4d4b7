/** What a command loads: as little as it needs, told by the runtime's own list of the scripts that ran. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine, MINT } from './command-line.ts'

const cli = commandLine()

/** Packages and files that V8 ran. */
async function loadedBy(args: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-loaded-'))
  try {
    await cli.svc(args, { env: { NODE_V8_COVERAGE: folder } })
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

  it('shows that the list is complete: a command in process does load them', async () => {
    expect(packages(await loadedBy(['keys', 'list']))).toEqual(
      expect.arrayContaining(['better-sqlite3', 'cli-table3', 'hono', 'kysely', 'zod']),
    )
  })
})
