/** `svc gold`: amounts as they are typed, and a lock's life by the built command with the local keypair, to the lamport. */
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solOf } from '../../commands/cli/amounts.ts'
import { unitsOf } from '../../commands/gold-locks.ts'
import { formatDuration } from '../../src/api/durations.ts'
import { DAY, lacksLock } from '../support/gold.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { LOCK_RENT, TOKEN_2022_ACCOUNT_RENT } from '../support/rent.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const env = { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' }
const user = Keypair.generate()
const address = user.publicKey.toBase58()
const RENT = LOCK_RENT + TOKEN_2022_ACCOUNT_RENT
const FEE = 5_000n

let mint: string
const settings = () => ({ ...env, SVC_GOLD_MINT: mint })
const svc = (args: string[]) => cli.svc(args, { env: settings() })
const json = (args: string[]) => cli.json(args, { env: settings() })
const lamports = async () => BigInt((await json(['accounts', 'get', address])).lamports)

beforeAll(async () => {
  const key = cli.file('user.json', JSON.stringify([...user.secretKey]), 0o600)
  const run = (args: string[]) => cli.json(args, { env })
  await run(['localnet', 'airdrop', address, '10'])
  const texts = ['--name', 'Gold', '--symbol', 'GLD', '--uri', 'https://example.com/gold.json']
  const created = ['tokens', 'create', ...texts, '--supply', '1000', '--token-program', 'token2022', '-k', key]
  mint = (await run(created)).mint
})

const lock = (...flags: string[]) => ['gold', 'lock', '-k', join(cli.home, 'user.json'), ...flags]
const unlock = (...flags: string[]) => ['gold', 'unlock', '-k', join(cli.home, 'user.json'), ...flags]

describe('An amount of gold', () => {
  it('in whole tokens is scaled exactly, for any decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(255), (units, decimals) => {
        const text = units.toString().padStart(decimals + 1, '0')
        const cut = text.length - decimals
        const whole = decimals === 0 ? text : `${text.slice(0, cut)}.${text.slice(cut)}`
        expect(unitsOf(whole, undefined, { decimals })).toBe(units)
        expect(unitsOf(undefined, units.toString(), { decimals })).toBe(units)
      }),
    )
  })

  it.each([
    [['--days', '1'], 'missing --amount or --raw-amount'],
    [['--amount', '1', '--raw-amount', '1', '--days', '1'], '--raw-amount cannot be used with --amount'],
    [['--amount', '1'], 'missing --days'],
    [['--amount', '1', '--days', '0'], '--days must be a whole number from 1 to 1460'],
    [['--amount', '1', '--days', '1461'], '--days must be a whole number from 1 to 1460'],
    [['--amount', '0', '--days', '1'], '--amount must be more than 0'],
    [['--raw-amount', '0', '--days', '1'], '--raw-amount must be more than 0'],
    [['--amount', '0.0000001', '--days', '1'], '--amount has more than 6 fractional digits'],
    [['--raw-amount', '1.5', '--days', '1'], '--raw-amount has more than 0 fractional digits'],
    [['--amount', '1e3', '--days', '1'], '--amount must be an amount like 1.5'],
    [['--amount', '-1', '--days', '1'], '--amount must be an amount like 1.5'],
    [['--amount', '18446744073709.551616', '--days', '1'], '--amount comes to more than 18446744073709551615'],
    [['--amount', '1000.000001', '--days', '1'], 'has 1000000000 raw units of the gold token'],
    [['--amount', '1', '--days', '1', '--platform-id', 'x'.repeat(65)], '--platform-id: '],
  ])('is refused with %j', async (flags, message) => {
    await cli.refused(lock(...flags), message, 2, { env: settings() })
  })

  it('is refused without a gold mint, with the command that sets it', async () => {
    await cli.refused(lock('--amount', '1', '--days', '1'), 'svc config set gold.mint <mint>', 1, { env })
  })
})

describe('A duration', () => {
  it.each([
    [0, '0 seconds'],
    [1, '1 second'],
    [59, '59 seconds'],
    [60, '1 minute'],
    [3_599, '59 minutes 59 seconds'],
    [3_600, '1 hour'],
    [86_399, '23 hours 59 minutes'],
    [86_400, '1 day'],
    [86_460, '1 day'],
    [90_000, '1 day 1 hour'],
    [1460 * DAY, '1460 days'],
  ])('of %i seconds is shown as %s', (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words)
  })

  it('is never shown longer than it is', () => {
    const sizes: Record<string, number> = { day: DAY, hour: 3_600, minute: 60, second: 1 }
    fc.assert(
      fc.property(fc.nat(1460 * DAY), (seconds) => {
        const said = [...formatDuration(seconds).matchAll(/(\d+) (day|hour|minute|second)/g)].map(
          ([, count, unit]) => Number(count) * sizes[unit!]!,
        )
        const total = said.reduce((sum, part) => sum + part, 0)
        expect(total).toBeLessThanOrEqual(seconds)
        expect(seconds - total).toBeLessThan(seconds >= DAY ? 3_600 : 60)
      }),
    )
  })
})

describe.skipIf(lacksLock !== '')(`svc gold ${lacksLock}`, () => {
  let daemon: Served
  beforeAll(async () => {
    daemon = await serveHere(cli.dataDir, settings())
  })
  afterAll(() => daemon?.stop())

  const eventsOf = async (): Promise<string[]> => {
    const { data } = (await daemon.request('GET', '/v2/events?order=asc&limit=100&resource_type=gold_lock')).json
    return data.map(({ type }: { type: string }) => type)
  }

  it('locks, refuses to unlock too early, reports when it can unlock, and unlocks', async () => {
    expect(await json(['gold', 'token'])).toEqual({ mint, decimals: 6, token_program: 'token2022' })
    const start = await lamports()
    const dry = await svc(lock('--amount', '2.5', '--days', '30', '--dry-run'))
    expect(dry.stdout).toMatch(/^ {2}locked +2\.5 of/m)
    expect(await lamports()).toBe(start)
    const locked = await json(lock('--amount', '2.5', '--days', '30', '--platform-id', 'acme'))
    expect(locked).toMatchObject({
      mint,
      amount: '2500000',
      lifecycle: expect.stringMatching(/^(confirmed|finalized)$/),
    })
    expect(start - (await lamports())).toBe(RENT + FEE)

    const got = await json(['gold', 'get', address])
    expect(got).toMatchObject({ user: address, amount: '2500000', status: 'locked', unlocks_at: locked.unlocks_at })
    expect(got.seconds_left).toBeGreaterThan(30 * DAY - 120)
    await json(['localnet', 'advance', '60'])
    expect((await svc(['gold', 'get', address])).stderr).toContain('Locked for another 29 days 23 hours.')
    const early = await svc(unlock())
    expect(early).toMatchObject({ exitCode: 2, stdout: '' })
    expect(early.stderr).toContain(`is locked for another 29 days 23 hours, until ${locked.unlocks_at}`)
    const twice = await svc(lock('--raw-amount', '1', '--days', '1'))
    expect([twice.exitCode, twice.stderr]).toEqual([
      2,
      expect.stringContaining('already has a gold lock of 2500000 raw units'),
    ])

    await json(['localnet', 'advance', String(30 * DAY)])
    expect((await svc(['gold', 'get', address])).stderr).toContain('svc gold unlock')
    await expect.poll(eventsOf).toContain('gold.unlock_eligible')
    expect(await json(['gold', 'list', '--status', 'unlockable'])).toMatchObject([{ escrow: locked.escrow }])
    const closing = await svc(unlock('--dry-run'))
    expect(closing.stdout).toContain(`closes    2 accounts with ${solOf(RENT)} SOL\n`)
    const unlocked = await json(unlock())
    expect(unlocked).toMatchObject({ mint, amount: '2500000', escrow: locked.escrow })
    expect(start - (await lamports())).toBe(2n * FEE)
    expect((await json(['gold', 'get', address])).status).toBe('unlocked')
    expect(await eventsOf()).toEqual(['gold.locked', 'gold.unlock_eligible', 'gold.unlocked'])
    const again = await svc(unlock())
    expect([again.exitCode, again.stderr]).toEqual([3, expect.stringContaining('has no gold lock')])
  })

  it('lock --build-only prints the transaction with the resource that it tracks', async () => {
    const built = await json(lock('--raw-amount', '1', '--days', '1', '--build-only'))
    expect(built).toMatchObject({
      amount: '1',
      missing_signers: [address],
      tracked_resource: { resource_type: 'gold_lock', resource_id: address, related_events: ['gold.locked'] },
    })
  })

  it('lock sends to mainnet-beta only with --yes', async () => {
    await cli.refused(
      lock('--amount', '1', '--days', '1', '-u', 'mainnet-beta'),
      'this would be sent to mainnet-beta',
      2,
      {
        env: { ...settings(), SVC_DATA_DIR: join(cli.home, 'other') },
      },
    )
  })
})
