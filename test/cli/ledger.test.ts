/** `svc ledger`: the ledger of a first payment, as tables, CSV and JSON, and what verify says once somebody has changed them. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/settings/config.ts'
import { openStore, storeOptions } from '../../src/store/open.ts'
import { databaseSettings } from '../support/database.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()

async function ran(...args: string[]) {
  const { exitCode, stdout, stderr } = await cli.svc(args)
  expect(exitCode, stderr).toBe(0)
  return stdout
}

/** Changes what is stored, as whoever has the database could. */
async function tampered(change: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>) {
  const flags = { 'data-dir': cli.dataDir, ...(await databaseSettings(cli.dataDir, {})) }
  const store = await openStore(storeOptions(loadConfig({ flags, env: {}, cwd: cli.home })))
  await change(store)
  await store.close()
}

describe('svc ledger', () => {
  it('is empty at first, and verify finds no difference', async () => {
    expect(await ran('ledger', 'list', '--json')).toBe('[]\n')
    expect(await ran('ledger', 'summary', '--by', 'kind', '--json')).toBe('[]\n')
    expect(JSON.parse(await ran('ledger', 'verify', '--json'))).toMatchObject({ transactions: 0, faults: [] })
  })

  it('lists, sums, exports and verifies what a token cost', async () => {
    const wallet = join(cli.home, 'wallet.json')
    await ran('localnet', 'wallet', wallet)
    const token = ['--name', 'My Token', '--symbol', 'MTK', '--uri', 'https://example.com/m.json', '--supply', '5']
    const signing = ['--token-program', 'token2022', '-k', wallet, '--yes', '--json']
    const { signature } = JSON.parse(await ran('tokens', 'create', ...token, ...signing))
    await ran('localnet', 'advance', '60')
    // The request follows the transaction, as no daemon does.
    const lifecycle = async () => JSON.parse(await ran('tx', 'get', signature, '--json')).lifecycle
    await vi.waitFor(async () => expect(await lifecycle()).toBe('finalized'), { timeout: 60_000 })
    const entries = JSON.parse(await ran('ledger', 'list', '--all', '--json'))
    expect(entries.length).toBeGreaterThan(5)
    const month = entries[0].occurred_at.slice(0, 7)

    const csv = (await ran('ledger', 'export', '--month', month, '--out', '-')).split('\r\n')
    expect(csv[0]).toBe(
      'date,signature,account,owner,party,kind,detail,token,symbol,amount,amount_raw,decimals,price,currency,value,counterparty,pool,slot',
    )
    expect(csv).toHaveLength(entries.length + 2)
    const file = join(cli.home, 'books.jsonl')
    expect(await ran('ledger', 'export', '--format', 'json', '--out', file, '-o', 'table')).toContain('Wrote')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(entries)

    const sums = JSON.parse(await ran('ledger', 'summary', '--by', 'month', '--json'))
    expect(sums.every(({ key }: { key: string }) => key === month)).toBe(true)
    expect(JSON.parse(await ran('ledger', 'summary', '--json'))).toEqual(sums)
    const inSol = sums.filter(({ token: of }: { token: string }) => of === 'SOL')
    expect(inSol.reduce((sum: bigint, { net }: { net: string }) => sum + BigInt(net), 0n)).toBe(0n)
    const mine = await ran('ledger', 'summary', '--by', 'kind', '--party', 'network', '--csv', '-')
    expect(mine.split('\r\n')[1]).toMatch(/^network_fee,network,SOL,0\.0000\d+,0,/)
    expect(await ran('ledger', 'verify', '-o', 'table')).toContain('all equal')
  })

  it('verify exits 1 and names the transaction if an amount was changed or an entry is missing', async () => {
    const [fee] = JSON.parse(await ran('ledger', 'list', '--kind', 'network_fee', '--account', 'network', '--json'))
    const of = fee.sequence as number
    await tampered((store) =>
      store.write((tx) =>
        tx.updateTable('ledger_entries').set({ amount: '1', amount_low: 1 }).where('seq', '=', of).execute(),
      ),
    )
    const changed = await cli.svc(['ledger', 'verify', '-o', 'table'])
    expect(changed.exitCode).toBe(1)
    expect(changed.stdout).toContain(
      `differs ${fee.signature} network SOL: the entries are not the change on the chain`,
    )
    expect(changed.stdout).toContain('the entries do not sum to zero')
    await tampered((store) => store.write((tx) => tx.deleteFrom('ledger_entries').where('seq', '=', of).execute()))
    const { exitCode, stdout } = await cli.svc(['ledger', 'verify', '--json'])
    expect(exitCode).toBe(1)
    const { faults } = JSON.parse(stdout)
    expect(faults[0]).toMatchObject({ signature: fee.signature, account: 'network', found: '0', expected: fee.amount })
  })

  it.each([
    [['list', '--month', '2026-13'], '--month must be a month like 2026-11'],
    [['list', '--month', '2026-11', '--created-after', '5'], '--created-after cannot be used with --month'],
    [['export'], 'missing --out'],
    [['export', '--out', 'nowhere/books.csv'], 'nowhere/books.csv cannot be written'],
    [['list', '--account', ''], 'account'],
    [['summary', '--by', 'month', '--cursor', 'eA'], 'cursor is damaged'],
  ])('refuses %j', async (args, words) => {
    await cli.refused(['ledger', ...args], words)
  })
})
