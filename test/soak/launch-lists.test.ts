/** A list of launches before and after its launch: rehearsed, tried, open to one run, and grown. */
import { statSync } from 'node:fs'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchListJournal } from '../../commands/pools/list-journal.ts'
import { commandLine } from '../cli/command-line.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { png } from '../storage/images.ts'
import { lacksDbc } from '../support/dbc.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'

const cli = commandLine()
const env = { SVC_PROGRAMS_DIR: PROGRAMS_DIR }

describe.skipIf(lacksDbc)('A list of launches on a chain', () => {
  const payer = cli.keypair('creator.json')
  const platform = cli.keypair('platform.json', Keypair.generate())
  let daemon: Served
  beforeAll(async () => {
    await cli.svc(['localnet', 'status'], { env })
    daemon = await serveHere(cli.dataDir, { ...env, SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: platform.file })
    for (const { address } of [payer, platform]) await cli.json(['localnet', 'airdrop', address, '100'], { env })
    cli.file('logo.png', png())
  })
  afterAll(() => daemon?.stop())

  it('is rehearsed, tried and launched by one run at a time, and may then have another row', async () => {
    const list = (rows: string[]) => cli.file('launches.csv', ['name,symbol,image,buy', ...rows, ''].join('\n'))
    const path = list(['Alpha,ALP,logo.png,0.1', 'Beta,BET,logo.png,'])
    const journal = `${path}.launch.json`
    const create = (...more: string[]) => ['pools', 'create', '--from', path, '-k', payer.file, ...more]
    const json = async (...more: string[]) => cli.json(create(...more), { env })

    const rehearsed = await json('--rehearse')
    expect(rehearsed).toMatchObject({ total: 2, failed: 0, rehearsals: [{ symbol: 'ALP' }, { symbol: 'BET' }] })
    expect(await json('--dry-run')).toMatchObject({ total: 2, to_launch: 2, launched: 0 })
    expect(statSync(journal, { throwIfNoEntry: false })).toBeUndefined()

    const release = await launchListJournal(journal, { payer: payer.address, cluster: null }).begin()
    const second = await cli.svc(create(), { env })
    expect([second.exitCode, second.stderr]).toEqual([5, expect.stringContaining('another run is launching')])
    release()

    expect(await json()).toMatchObject({ total: 2, launched: 2, failed: 0 })
    list(['Alpha,ALP,logo.png,0.1', 'Gamma,GAM,logo.png,'])
    expect(await json()).toMatchObject({ launched: 1, launched_already: 1 })
  })
})
