/** A full curve on the command line: what happens next, who does it, and the migration that anybody may send. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { feeSchedulesWorker } from '../../daemon/workers/workers.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { TINY_CURVE } from '../support/launches.ts'
import { lackingPrograms } from '../support/pool-platform.ts'
import { hasProgram } from '../support/programs.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()

describe.skipIf(lackingPrograms.length > 0)(`A daemon with a platform wallet (${lackingPrograms.join(', ')})`, () => {
  let daemon: Served
  let [logo, own] = ['', '']

  beforeAll(async () => {
    await cli.svc(['localnet', 'status'])
    logo = join(cli.home, 'token.png')
    writeFileSync(logo, png())
    const user = Keypair.generate()
    own = cli.keypair('own.json', user).file
    const vesting = { ...TINY_CURVE, locked_vesting: { amount: '100000', periods: 10, duration_seconds: 1_000 } }
    const settings = {
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: cli.keypair('platform.json', Keypair.generate()).file,
      SVC_PRIORITY_FEE: 'none',
      SVC_POOLS_CRANK: 'true',
      SVC_POOLS_PRESETS: cli.file('presets.json', JSON.stringify({ tiny: TINY_CURVE, vesting })),
    }
    daemon = await serveHere(cli.dataDir, settings, [feeSchedulesWorker])
    await cli.json(['localnet', 'airdrop', user.publicKey.toBase58(), '100'])
  })
  afterAll(() => daemon?.stop())

  async function launched(symbol: string, preset: string): Promise<string> {
    const texts = ['--name', 'Test', '--symbol', symbol, '--image', logo, '--preset', preset]
    return (await cli.json(['pools', 'create', ...texts, '-k', own])).address
  }

  it('names why it does not migrate a full curve and the command that lifts it; anybody migrates it, with its vesting', async () => {
    const address = await launched('VEST', 'vesting')
    await cli.refused(['pools', 'migrate', address, '-k', own], 'is not full yet')
    const bought = await cli.svc(['pools', 'swap', address, '--buy', '5', '-k', own])
    expect([bought.exitCode, bought.stderr]).toEqual([0, expect.stringContaining('Full. The platform wallet')])
    // The platform wallet has no SOL and no policy that allows anything.
    const refusal =
      /Full\. The platform wallet could not migrate it: [\s\S]+After a change of the policy it tries again/
    await expect
      .poll(async () => (await cli.svc(['pools', 'get', address])).stderr, { timeout: 60_000 })
      .toMatch(refusal)
    expect((await cli.svc(['pools', 'get', address])).stderr).toContain(`svc pools migrate ${address}`)
    const status = await cli.json(['status'])
    const { last_error } = status.workers.find(({ name }: { name: string }) => name === 'pool-migration')
    expect(last_error).toContain(`pool ${address}: `)
    const { migration } = await cli.json(['pools', 'get', address])
    expect(migration.refusal).toMatch(/svc signer policy|SOL/)
    const item = { kind: 'migration', id: address, reason: migration.refusal, next_try_at: expect.any(String) }
    expect(status.waiting).toEqual([item])
    expect((await cli.svc(['status'])).stderr).toContain(`The migration of ${address} waits`)
    const [listed] = await cli.json(['attention', 'list'])
    expect(listed).toMatchObject({ kind: 'migration_failed', command: `svc pools migrate ${address}` })
    expect(status.attention).toContainEqual(listed)
    expect((await cli.svc(['attention', 'list'])).stdout).toContain(listed.id)
    await cli.json(['attention', 'snooze', listed.id, '--until', '2h', '--reason', 'the policy is changed today'])
    expect(await cli.json(['attention', 'list'])).toEqual([])
    expect(await cli.json(['attention', 'list', '--snoozed', '--kind', 'migration_failed'])).toHaveLength(1)
    expect((await cli.svc(['status'])).stderr).not.toContain(`The migration of ${address} waits`)
    await cli.refused(['attention', 'snooze', listed.id, '--until', '2020-01-01', '--reason', 'x'], 'not in the future')
    await cli.json(['attention', 'snooze', listed.id, '--end'])
    expect(await cli.json(['attention', 'list'])).toHaveLength(1)
    await cli.refused(['pools', 'swap', address, '--buy', '1', '-k', own], `svc pools migrate ${address}`)

    const dry = await cli.svc(['pools', 'migrate', address, '--dry-run', '-k', own])
    expect([dry.exitCode, dry.stderr, dry.stdout]).toEqual([
      0,
      expect.stringMatching(/Nothing was signed/),
      expect.stringContaining('make the lock of its vested tokens'),
    ])
    const done = await cli.json(['pools', 'migrate', address, '-k', own])
    expect(done).toMatchObject({ pool_address: address, step: 'migrate', damm_pool_address: expect.any(String) })
    await expect
      .poll(async () => (await cli.json(['pools', 'get', address])).status, { timeout: 60_000 })
      .toBe('migrated')
    expect(await cli.json(['status'])).toMatchObject({ waiting: [], attention: [] })
    expect((await cli.json(['pools', 'get', done.damm_pool_address])).type).toBe('damm_v2')
    await cli.refused(['pools', 'migrate', address, '-k', own], 'has migrated')
  })

  it.skipIf(!hasProgram(PROGRAMS.squads.id))(
    'lets a vault pay for a migration, which its members execute',
    async () => {
      const address = await launched('VLT', 'tiny')
      await cli.svc(['pools', 'swap', address, '--buy', '5', '-k', own])
      const self = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(own, 'utf8')))).publicKey.toBase58()
      const made = await cli.json(['multisig', 'create', '--member', self, '--threshold', '1', '-k', own])
      await cli.json(['localnet', 'airdrop', made.vault, '1'])
      const proposed = await cli.svc(['pools', 'migrate', address, '--squads', made.multisig, '-k', own, '--json'])
      expect(proposed.exitCode, proposed.stderr).toBe(0)
      const { proposal } = JSON.parse(proposed.stdout)
      await cli.json(['proposals', 'approve', proposal, '-k', own])
      const done = await cli.json(['proposals', 'execute', proposal, '-k', own])
      expect(done).toMatchObject({ proposal_status: 'executed' })
      await expect
        .poll(async () => (await cli.json(['pools', 'get', address])).status, { timeout: 60_000 })
        .toBe('migrated')
    },
  )

  it('names why it does not run a fee schedule, and the command that lifts it', async () => {
    const { id } = await cli.json(['fees', 'schedule', 'create', '--cron', '@yearly'])
    await cli.svc(['signer', 'pause', '--reason', 'holidays', '--yes'])
    await cli.json(['fees', 'schedule', 'run', id])
    const line = `The fee schedule ${id} waits`
    await expect
      .poll(async () => (await cli.svc(['fees', 'schedule', 'list'])).stderr, { timeout: 60_000 })
      .toMatch(new RegExp(`${line}.*\n?.*svc signer resume`))
    for (const command of [['fees', 'schedule', 'get', id], ['status']])
      expect((await cli.svc(command)).stderr).toContain(line)
    await cli.svc(['signer', 'resume', '--yes'])
    await cli.json(['fees', 'schedule', 'run', id])
    await expect.poll(async () => (await cli.json(['status'])).waiting, { timeout: 60_000 }).toEqual([])
  })
})
