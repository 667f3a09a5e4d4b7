/** Two hundred proposals that wait, on a terminal of 80 columns: the list and the status stay readable and bounded. */
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { openServices } from '../../daemon/services.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { newId } from '../../src/store/id.ts'
import { commandLine, onTerminal } from './command-line.ts'

const WAITING = 200
const COLUMNS = 80
const cli = commandLine()
const { json, svc } = cli
const wallet = cli.keypair('platform.json')
const ada = cli.keypair('ada.json')

/** Lines of a run on a terminal, none of them wider than it. */
async function linesOf(...args: string[]): Promise<string[]> {
  const { exitCode, screen } = await onTerminal(cli, args, [], COLUMNS)
  const lines = stripVTControlCharacters(screen).split(/\r?\n/)
  expect(exitCode, screen).toBe(0)
  expect(lines.filter((line) => line.length > COLUMNS)).toEqual([])
  return lines
}

describe(`svc with ${WAITING} proposals that wait`, () => {
  beforeAll(async () => {
    await json(['config', 'set', 'signer', 'keypair'])
    await json(['config', 'set', 'signer.keypair', wallet.file])
    await json(['config', 'set', 'priority-fee', 'none'])
    await json(['localnet', 'airdrop', wallet.address, '10'])
    await json(['approvers', 'add', ada.address, 'Ada', '--yes'])
    await json([
      'signer',
      'policy',
      '--approvals',
      '1',
      '--approved-per-transaction',
      '1',
      '--approved-per-day',
      '2',
      '--yes',
    ])
    expect((await svc(['signer', 'test', '--submit', '--yes'])).stdout).toContain('Nothing was signed')
    const config = loadConfig({ flags: { 'data-dir': cli.dataDir }, env: cli.env, cwd: cli.home })
    const services = await openServices(config)
    await services.store.write(async (tx) => {
      const { seq: _, ...first } = await tx.selectFrom('proposals').selectAll().executeTakeFirstOrThrow()
      const what = `${first.what}; ${'a receiver with a long address receives tokens; '.repeat(6)}`
      for (let n = 1; n < WAITING; n++) {
        await tx
          .insertInto('proposals')
          .values({ ...first, what, id: newId('prp'), signing_id: null })
          .execute()
      }
    })
    await services.close()
  }, 120_000)

  it('names ten of them in svc status, says how many more wait', async () => {
    const lines = await linesOf('status')
    const named = lines.filter((line) => /prp_\w+ waits/.test(line))
    expect(named).toHaveLength(10)
    const text = lines.join(' ').replaceAll(/\s+/g, ' ')
    expect(text).toContain(`${WAITING - 10} more proposals wait: svc proposals list`)
  })

  it('lists a page of them in svc proposals, one line each, and says how to go on', async () => {
    const lines = await linesOf('proposals', 'list')
    expect(lines.filter((line) => line.includes('prp_'))).toHaveLength(20)
    expect(lines.length).toBeLessThan(30)
    expect(lines.join(' ')).toMatch(/--cursor/)
    const all = await json(['proposals', 'list', '--all', '--status', 'active'])
    expect(all).toHaveLength(WAITING)
  })
})
