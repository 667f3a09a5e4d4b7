/** Commands that follow the cursors of a list, against an API whose list never ends. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eachStep, nextCursors, readAllPages } from '../../commands/cli/pages.ts'
import { commandLine } from './command-line.ts'

const meta = (next_cursor: string | null) => ({
  request_id: 'r',
  count: 1,
  has_more: next_cursor !== null,
  next_cursor,
})

describe('The pages of a list', () => {
  it('are followed from the first to the last', async () => {
    const asked: unknown[] = []
    const items = await readAllPages<number>(async (paging) => {
      asked.push(paging.cursor)
      const page = Number(paging.cursor ?? 0)
      return { data: page === 1 ? [] : [page], meta: meta(page === 3 ? null : String(page + 1)) }
    })
    expect([items, asked]).toEqual([
      [0, 2, 3],
      [undefined, '1', '2', '3'],
    ])
  })

  it('fail if the API repeats a cursor', async () => {
    const circle = async ({ cursor = 'a' }) => ({ data: [], meta: meta({ a: 'b', b: 'c', c: 'b' }[cursor] ?? null) })
    await expect(readAllPages(circle)).rejects.toThrow('repeats a page')
    const same = async () => ({ data: [], meta: meta('x') })
    await expect(readAllPages(same, { after: 'x' })).rejects.toThrow('repeats a page')
    await expect(eachStep(async () => 'x')).rejects.toThrow('repeats a page')
  })

  it('end with a failure after a million items, if each page has another cursor', async () => {
    let pages = 0
    await expect(readAllPages(async () => ({ data: [], meta: meta(String(++pages)) }))).rejects.toThrow(
      'more than 10000 pages',
    )
    expect(pages).toBe(10_000)
    const few = nextCursors(2)
    expect([few('a'), few(null)]).toEqual(['a', undefined])
    expect(() => few('b')).toThrow('more than 2 pages')
  })
})

describe('An API whose lists never end', () => {
  const cli = commandLine()
  const asked = { pages: 0 }
  const server = createServer((request, response) => {
    asked.pages++
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const steps = {
      next_cursor: 'again',
      transactions: 1,
      entries: 1,
      waiting: 0,
      faults: [],
      unread: [],
      accounts: [],
    }
    const verified = { ...steps, accounts: pathname.includes('events') ? 1 : [], events: 1, missing: [], extra: [] }
    const body = pathname.endsWith('verification')
      ? { data: verified, meta: { request_id: 'r' } }
      : { data: [], meta: meta('again') }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  let api: string[]
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    api = ['--api', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
  })
  afterAll(() => void server.close())

  const out = (name: string) => join(cli.home, name)
  const wallet = cli.keypair('own.json')
  it.each<[string, () => string[]]>([
    ['pools list', () => ['pools', 'list', '--all']],
    ['pools presets', () => ['pools', 'presets']],
    ['locks list', () => ['locks', 'list', '--all']],
    ['locks claim', () => ['locks', 'claim', '--all', '-k', wallet.file, '--yes']],
    ['fees claim', () => ['fees', 'claim', '--all', '-k', wallet.file, '--yes']],
    ['pools get, with a symbol', () => ['pools', 'get', 'MTK']],
    ['ledger summary', () => ['ledger', 'summary']],
    ['ledger export', () => ['ledger', 'export', '--out', out('ledger.csv')]],
    ['ledger verify', () => ['ledger', 'verify']],
    ['events verify', () => ['events', 'verify', '--since', '2026-11-21T00:00:00Z']],
    ['events watch', () => ['events', 'watch', '--since', '0']],
    ['audit export', () => ['audit', 'export', out('audit.jsonl')]],
  ])('ends svc %s with a failure that says so', { timeout: 120_000 }, async (_, args) => {
    asked.pages = 0
    const { exitCode, stderr } = await cli.svc([...args(), ...api])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the API repeats a page of a list')])
    expect(asked.pages).toBeLessThan(10)
  })
})
