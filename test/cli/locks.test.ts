/** `svc locks`: schedules as they are typed, and a lock's life by the command, to the raw unit. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { rowTexts } from '../../commands/locks/list-rows.ts'
import { DAY, lacksLock } from '../support/gold.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { itInSoak } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const env = { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' }
const [creator, recipient, heir] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
const svc = (args: string[]) => cli.svc(args, { env })
const json = (args: string[]) => cli.json(args, { env })
const key = (name: string) => join(cli.home, `${name}.json`)

let mint: string
beforeAll(async () => {
  for (const [name, keypair] of Object.entries({ creator, recipient, heir })) {
    cli.file(`${name}.json`, JSON.stringify([...keypair.secretKey]), 0o600)
    await json(['localnet', 'airdrop', addressOf(keypair), '10'])
  }
  const texts =
    '--name Team --symbol TM --uri https://example.com/t.json --supply 1000000 --token-program token2022'.split(' ')
  mint = (await json(['tokens', 'create', ...texts, '-k', key('creator')])).mint
})

const create = (...more: string[]) => ['locks', 'create', mint, addressOf(recipient), ...more, '-k', key('creator')]
const MONTHLY = ['--cliff', '365d', '--cliff-amount', '25%', '--periods', '36', '--frequency', '30d']

describe('The schedule of a row from another tool', () => {
  const read = (row: Record<string, string>, isRaw = false) =>
    rowTexts((role) => row[role] ?? '', { usual: {}, now: 0n, isRaw })
  const start = '2027-01-31'

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['months after the start', { cliff_months: '1' }, { cliff: '2027-02-28T00:00:00.000Z' }],
    ['days after the start', { cliff_days: '90' }, { cliff: '90d' }],
    ['a lockup in words', { lockup: '13 months' }, { cliff: '2028-02-29T00:00:00.000Z' }],
    ['a lockup of weeks', { lockup: '2 weeks' }, { cliff: '2w' }],
    ['a time in Unix seconds', { cliff: '1830297600' }, { cliff: '2028-01-01T00:00:00.000Z' }],
    ['an end and a number of parts', { end: '2027-03-02', periods: '3' }, { periods: '3', frequency: '864000s' }],
    ['an end and a span', { end: '2027-03-02', frequency: '10 days' }, { periods: '3', frequency: '864000s' }],
    [
      'an end and months',
      { start: '2027-01-01', end: '2028-01-01', frequency: 'monthly' },
      { periods: '12', frequency: '2628000s' },
    ],
    ['a frequency in words', { periods: '4', frequency: 'weekly' }, { periods: '4', frequency: '7d' }],
  ])('with %s is read to the second', (_, row, texts) => {
    expect(read({ start, amount: '5', ...row })).toMatchObject({ amount: '5', ...texts })
  })

  it('with the columns of the command line of Jupiter is their sum in raw units', () => {
    const row = { cliff: '1830297600', frequency: '86400', cliff_amount: '10', periods: '3', period_amount: '5' }
    const texts = { amount: '25', cliff_amount: '10', periods: '3', frequency: '86400s' }
    expect(read(row, true)).toMatchObject(texts)
    expect(() => read(row)).toThrow('give --raw')
    expect(() => read({ ...row, amount: '26' }, true)).toThrow('the cliff with 3 periods comes to 25')
  })

  it.each<[Record<string, string>, string]>([
    [{ cliff_months: '6', cliff_days: '90' }, 'the row has both cliff_months and cliff_days'],
    [{ cliff: '6' }, 'days or months? name the column cliff_days or cliff_months'],
    [{ periods: '12', frequency: 'monthly' }, '"monthly" has no fixed length'],
    [{ end: '2027-03-02' }, 'how often is something unlocked until the end?'],
    [{ end: '2027-01-31', periods: '3' }, 'the end is not after the cliff'],
    [{ end: '2027-03-02', frequency: '12' }, 'how many, or how long?'],
    [{ end: '2027-03-02', frequency: '7d' }, 'do not end at the end'],
    [{ end: '2027-03-02', frequency: '5d', periods: '3' }, 'do not agree'],
    [{ end: '2027-02-30', periods: '3' }, '2027-02-30'],
  ])('with %j is refused by what it leaves open', (row, message) => {
    expect(() => read({ start, amount: '5', ...row })).toThrow(message)
  })
})

describe('A schedule of svc locks plan', () => {
  it('adds up to the amount to the unit, with what does not divide at the cliff', async () => {
    const plan = await json(['locks', 'plan', '48000.000007', '--start', '2027-01-01', ...MONTHLY])
    expect(plan).toMatchObject({
      ...{ amount: '48000000007', cliff_amount: '12000000007', amount_per_period: '1000000000', periods: '36' },
      ...{ starts_at: '2027-01-01T00:00:00.000Z', cliff_at: '2028-01-01T00:00:00.000Z', frequency: '2592000' },
    })
    expect(plan.unlocks).toHaveLength(37)
    expect(plan.unlocks.at(-1)).toMatchObject({ at: '2030-12-16T00:00:00.000Z', cumulative: '48000000007' })
  })

  it('of a list is the sum of its rows, to the unit, with the flags for empty cells', async () => {
    const rows = [
      'wallet,amount,start,cliff',
      `${addressOf(recipient)},10.000001,,`,
      `${addressOf(heir)},5,2027-01-02,0s`,
    ]
    const file = cli.file('sum.csv', rows.join('\n'))
    const csv = join(cli.home, 'sum-unlocks.csv')
    const usual = '--start 2027-01-01 --cliff 1d --cliff-amount 0 --periods 2 --frequency 1d'.split(' ')
    const plan = await json(['locks', 'plan', '--from', file, ...usual, '--csv', csv])
    expect(plan).toMatchObject({ locks: 2, amount: '15000001', each: 'unlock' })
    const days = [
      ['2027-01-02T00:00:00.000Z', '0.000001', '0.000001'],
      ['2027-01-03T00:00:00.000Z', '7.5', '7.500001'],
      ['2027-01-04T00:00:00.000Z', '7.5', '15.000001'],
    ]
    expect(readFileSync(csv, 'utf8').split('\r\n')).toEqual([
      'date,unlocked,cumulative,claimable',
      ...days.map(([date, unlocked, all]) => `${date},${unlocked},${all},${all}`),
      '',
    ])
    const shown = await svc(['locks', 'plan', '--from', file, ...usual])
    expect(shown.stdout).toContain('Unlocked of 15.000001')
    const faulty = cli.file('faulty.csv', `${addressOf(recipient)},0\n`)
    const refused = await svc(['locks', 'plan', '--from', faulty])
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringMatching(/faulty\.csv:1:\d+: the amount/)])
    for (const more of [['5'], ['--lock', addressOf(heir)]]) {
      const both = await svc(['locks', 'plan', ...more, '--from', file])
      expect([both.exitCode, both.stderr]).toEqual([
        2,
        expect.stringMatching(/^error: \S+ cannot be used with --(from|lock)/m),
      ])
    }
    const none = await svc(['locks', 'plan'])
    expect(none.stderr).toContain('or give --lock, --from')
  })

  it('is written for accountants and as a picture', async () => {
    const files = ['--csv', join(cli.home, 'plan.csv'), '--svg', join(cli.home, 'plan.svg')]
    const { exitCode, stdout, stderr } = await svc([
      'locks',
      'plan',
      '10',
      '--start',
      '2027-01-01',
      '--periods',
      '4',
      '--frequency',
      '1d',
      '--cliff-amount',
      '2',
      ...files,
    ])
    expect(exitCode, stderr).toBe(0)
    expect(readFileSync(join(cli.home, 'plan.csv'), 'utf8').split('\r\n')).toEqual([
      'date,unlocked,cumulative,claimable',
      '2027-01-01T00:00:00.000Z,2,2,2',
      '2027-01-02T00:00:00.000Z,2,4,4',
      '2027-01-03T00:00:00.000Z,2,6,6',
      '2027-01-04T00:00:00.000Z,2,8,8',
      '2027-01-05T00:00:00.000Z,2,10,10',
      '',
    ])
    expect(readFileSync(join(cli.home, 'plan.svg'), 'utf8')).toContain('Unlocked of 10')
    expect(stdout).toContain('Unlocked of 10')
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
  })
})

describe.skipIf(lacksLock !== '')(`svc locks ${lacksLock}`, () => {
  let daemon: Served
  beforeAll(async () => {
    daemon = await serveHere(cli.dataDir, env)
  })
  afterAll(() => daemon?.stop())

  it('creates, shows, claims and closes a lock', async () => {
    const dry = await svc(create('48000', ...MONTHLY, '--dry-run'))
    expect(dry.exitCode, dry.stderr).toBe(0)
    expect(dry.stdout).toMatch(/^ {2}unlocks +12,000 at .*\n +1,000 after each 30 days, 36 times, until /m)
    const made = await json(create('48000', ...MONTHLY, '--title', 'Team'))
    expect(made).toMatchObject({
      mint,
      recipient: addressOf(recipient),
      amount: '48000000000',
      cliff_amount: '12000000000',
    })
    expect(await json(['locks', 'list', '--mint', mint])).toMatchObject([{ address: made.address, claimable: '0' }])
    const listed = await svc(['locks', 'list', '--mint', mint])
    expect(listed.stdout).toMatch(/ 48000 +0 +48000 /)
    const seen = await svc(['locks', 'get', made.address])
    expect(seen.stdout).toMatch(/^CLIFF AMOUNT +12000$/m)
    expect(seen.stdout).toMatch(/NEXT UNLOCK +12,000 at /)
    const early = await svc(['locks', 'claim', made.address, '-k', key('recipient')])
    expect([early.exitCode, early.stderr]).toEqual([2, expect.stringContaining('Nothing can be claimed')])
    await json(['localnet', 'advance', String(395 * DAY + 60)])
    const part = await json(['locks', 'claim', made.address, '--amount', '0.5', '-k', key('recipient')])
    expect(part).toMatchObject({ amount: '500000', remaining: '47999500000', closes: false })
    const all = await json(['locks', 'claim', '--all', '-k', key('recipient')])
    expect(all).toMatchObject({ claimed: 1, failed: 0, locks: [{ address: made.address, amount: '12999500000' }] })
    const shown = await svc(['locks', 'plan', '--lock', made.address])
    expect(shown.stdout).toContain('Unlocked of 48,000')
    await json(['localnet', 'advance', String(36 * 30 * DAY)])
    await json(['locks', 'claim', made.address, '-k', key('recipient')])
    const closed = await json(['locks', 'close', made.address, '-k', key('creator')])
    expect(closed).toMatchObject({ address: made.address, mint })
    expect(await json(['locks', 'list', '--mint', mint])).toEqual([])
  })

  it.each([
    ['get', [], '<lock>'],
    ['claim', [], '<lock>'],
    ['cancel', [], '<lock>'],
    ['close', [], '<lock>'],
    ['transfer', [addressOf(heir)], '<lock>'],
    ['update', ['--title', 'Team'], '<lock>'],
  ])('%s names the lock as it was typed, if it is wrong', async (verb, more, shown) => {
    const wrong = await svc(['locks', verb, 'nonsense', ...more, ...(verb === 'get' ? [] : ['-k', key('recipient')])])
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining(shown)])
    expect(wrong.stderr).not.toMatch(/\baddress[: ]+(must|is)/)
  })

  it('that unlocks everything in one moment is shown as such, and unattended needs a flag', async () => {
    for (const [schedule, when] of [
      [[], 'everything at once, so that nothing is locked'],
      [['--cliff', '30d'], 'everything at 20'],
    ] as const) {
      const dry = await svc(create('5', ...schedule, '--dry-run'))
      expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining(when)])
      // No field of the API, because people typed flags.
      expect(dry.stdout).not.toMatch(/[a-z]_[a-z]/)
      const bare = await svc([...create('5', ...schedule), '--yes'])
      expect([bare.exitCode, bare.stderr]).toEqual([2, expect.stringContaining(`this lock unlocks ${when}`)])
      expect(bare.stderr).toContain('--all-at-once')
      expect(await json(create('5', ...schedule, '--all-at-once'))).toMatchObject({ amount: '5000000' })
    }
  })

  itInSoak('cancels, transfers and titles a lock', async () => {
    const made = await json(
      create(
        '100',
        '--periods',
        '10',
        '--frequency',
        '1d',
        '--cancellable-by',
        'creator',
        '--recipient-changeable-by',
        'recipient',
      ),
    )
    const titled = ['locks', 'update', made.address, '--title', 'Ours', '--description', 'For one year']
    expect(await json([...titled, '-k', key('creator')])).toMatchObject({ title: 'Ours' })
    const given = ['locks', 'transfer', made.address, addressOf(heir), '-k', key('recipient')]
    expect(await json(given)).toMatchObject({ recipient: addressOf(recipient), new_recipient: addressOf(heir) })
    await json(['localnet', 'advance', String(3 * DAY)])
    const ended = await json(['locks', 'cancel', made.address, '-k', key('creator')])
    expect(ended).toMatchObject({ to_recipient: '30000000', to_creator: '70000000', closes: true })
  })
})

describe.skipIf(lacksLock !== '')(`svc locks create --from ${lacksLock}`, () => {
  const from = (file: string, ...more: string[]) => [
    ...['locks', 'create', mint, '--from', file, '--all-at-once', '-k', key('creator')],
    ...more,
  ]

  it('names the line and column of each fault, before anything is locked', async () => {
    const file = cli.file(
      'faults.csv',
      [
        'wallet,amount,start,cliff,periods,frequency',
        `${addressOf(recipient)},0,,,,`,
        `${addressOf(recipient)},1.0000001,,,,`,
        'nobody,1,,,,',
        `${addressOf(recipient)},1,tomorrow,,,`,
        `${addressOf(recipient)},1,2027-01-01,2026-01-01,,`,
        `${addressOf(recipient)},1,,,12,`,
        `${addressOf(recipient)},1,,,2,1m`,
      ].join('\n'),
    )
    const { exitCode, stderr } = await svc(from(file))
    expect(exitCode).toBe(2)
    const told = [...stderr.matchAll(/faults\.csv:(\d+:\d+): (the \w+)/g)].map(
      ([, place, field]) => `${place} ${field}`,
    )
    const column = addressOf(recipient).length + 2
    expect([...new Set(told)]).toEqual([
      `2:${column} the amount`,
      `3:${column} the amount`,
      '4:1 the wallet',
      `5:${column + 2} the start`,
      `6:${column + 13} the cliff`,
      `7:${column + 7} the frequency`,
      `8:${column + 6} the frequency`,
    ])
  })

  it('refuses dates that do not exist, with their line and column', async () => {
    const file = cli.file('feb30.csv', `wallet,amount,start,cliff\n${addressOf(heir)},1,2027-06-31,2030-02-30\n`)
    const at = addressOf(heir).length + 4
    for (const args of [from(file), ['locks', 'plan', '--from', file]]) {
      const { exitCode, stderr } = await svc(args)
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining(`feb30.csv:2:${at}: the start is "2027-06-31", a date`),
      ])
    }
    const cliff = cli.file('cliff.csv', `wallet,amount,cliff\n${addressOf(heir)},1,2030-02-30\n`)
    const { stderr } = await svc(from(cliff))
    expect(stderr).toContain(`cliff.csv:2:${at}: the cliff is "2030-02-30", a date that does not exist`)
  })

  it('locks each row once, the same lock twice only by flag, and refuses a row that is gone', async () => {
    const wallet = addressOf(Keypair.generate())
    const lines = [`${wallet},5,,,,`, `${wallet},5,,,,`, `${addressOf(heir)},6,2027-01-01,30d,3,7d`]
    const file = cli.file('team.csv', ['wallet,amount,start,cliff,periods,frequency', ...lines, ''].join('\n'))
    const twice = await svc(from(file, '--cliff', '1d', '--dry-run'))
    expect([twice.exitCode, twice.stderr]).toEqual([
      2,
      expect.stringContaining(`team.csv:3:1: ${wallet} has this very lock already`),
    ])
    const both = ['--cliff', '1d', '--allow-repeats']
    const dry = await svc(from(file, ...both, '--dry-run'))
    expect(dry.exitCode, dry.stderr).toBe(0)
    // The table is in whole tokens, like the preview above it.
    expect(dry.stdout).toMatch(/\s5\s/)
    expect(dry.stdout).not.toContain('5000000')
    const first = await json(from(file, ...both, '--title', 'Team'))
    expect(first).toMatchObject({ total: 3, locked: 3, failed: 0, amount: '16000000' })
    const again = await json(from(file, ...both, '--title', 'Team'))
    expect(again).toMatchObject({ locked: 0, there_already: 3 })
    expect(again.locks.map(({ lock }: { lock: string }) => lock)).toEqual(
      first.locks.map(({ lock }: { lock: string }) => lock),
    )
    expect(await json(['locks', 'list', '--recipient', wallet])).toHaveLength(2)
    expect(await json(['locks', 'get', first.locks[2].lock])).toMatchObject({
      ...{
        title: 'Team',
        amount: '6000000',
        starts_at: '2027-01-01T00:00:00.000Z',
        cliff_at: '2027-01-31T00:00:00.000Z',
      },
    })
    const bare = await svc([
      ...from(file, ...both, '--title', 'Team').filter((word) => word !== '--all-at-once'),
      '--yes',
    ])
    expect([bare.exitCode, bare.stderr]).toEqual([2, expect.stringMatching(/line 2 unlocks .* \(and 1 other row\)/)])
    const other = await svc(from(file, ...both))
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('was started with the terms')])
    cli.file('team.csv', ['wallet,amount,start,cliff,periods,frequency', ...lines.slice(1), ''].join('\n'))
    const gone = await svc(from(file, '--cliff', '1d', '--title', 'Team'))
    expect([gone.exitCode, gone.stderr]).toEqual([2, expect.stringContaining('the CSV has no such row any more')])
  })
})

describe('svc locks claim --all', () => {
  it('ends if a list of locks never does, because anybody can make locks for a wallet', async () => {
    let pages = 0
    const endless = { claimable: '1', mint: addressOf(heir), address: addressOf(creator) }
    const server = createServer((request, response) => {
      const isList = request.url?.startsWith('/v2/locks') === true
      const page = { data: Array.from({ length: 100 }, () => endless), meta: { next_cursor: `more ${++pages}` } }
      const body = isList ? page : { error: { code: 'not_found', message: 'nothing here' } }
      response.writeHead(isList ? 200 : 404).end(JSON.stringify(body))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { exitCode, stderr } = await svc([
      ...['locks', 'claim', '--all', '-k', key('recipient'), '--yes'],
      ...['--api', `http://127.0.0.1:${port}`],
    ])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('more than 500 locks can be claimed')])
  })
})
