/** What only a terminal shows: questions, progress, colour and tables as wide as the screen; and how to turn each off. */
import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { commandLine, MINT, onTerminal } from '../cli/command-line.ts'
import { recipientsOf } from '../merkle/reference.ts'

const cli = commandLine()

describe('on a terminal', () => {
  it('svc asks for a missing flag', async () => {
    const { exitCode, screen } = await onTerminal(cli, ['keys', 'create'], [['Name of the key', 'asked\r']])
    expect(exitCode, screen).toBe(0)
    const names = JSON.parse((await cli.svc(['keys', 'list', '--json'])).stdout).map(
      (key: { name: string }) => key.name,
    )
    expect(names).toContain('asked')
  })

  it('Ctrl-C at a question ends svc with 130 and changes nothing', async () => {
    const { exitCode } = await onTerminal(cli, ['keys', 'create'], [['Name of the key', '\u0003']])
    expect(exitCode).toBe(130)
  })

  it('svc offers a choice as a list', async () => {
    const { screen } = await onTerminal(cli, ['pdas', 'derive'], [['What to derive', '\u0003']])
    expect(screen).toContain('merkle_distributor')
  })

  it('svc keys delete asks first, with no as the default, and --yes skips the question', async () => {
    const make = async (name: string) =>
      JSON.parse((await cli.svc(['keys', 'create', '--name', name, '--json'])).stdout).id
    const [kept, revoked, skipped] = [await make('kept'), await make('revoked'), await make('skipped')]
    expect((await onTerminal(cli, ['keys', 'delete', kept], [['Revoke the key', '\r']])).exitCode).toBe(130)
    expect((await onTerminal(cli, ['keys', 'delete', revoked], [['Revoke the key', 'y']])).exitCode).toBe(0)
    const silent = await onTerminal(cli, ['keys', 'delete', skipped, '--yes'], [])
    expect(silent.exitCode).toBe(0)
    expect(silent.screen).not.toContain('Revoke the key')
    const keys = JSON.parse((await cli.svc(['keys', 'list', '--json'])).stdout) as { id: string; status: string }[]
    const statusOf = (id: string) => keys.find((key) => key.id === id)?.status
    expect([kept, revoked, skipped].map(statusOf)).toEqual(['active', 'revoked', 'revoked'])
  })

  it('--no-input turns questions into usage errors', async () => {
    const refused = await onTerminal(cli, ['keys', 'create', '--no-input'], [])
    expect(refused).toMatchObject({ exitCode: 2, screen: expect.stringContaining('missing --name') })
  })

  it.each([{ CI: 'true' }, { NO_DNA: '1' }, { NO_DNA: 'false' }])(
    '%o: no question, colour or progress',
    async (set) => {
      const unattended = { ...cli, env: { ...cli.env, ...set } }
      const asked = await onTerminal(unattended, ['keys', 'create'], [])
      expect(asked).toMatchObject({ exitCode: 2, screen: expect.stringContaining('missing --name') })
      const unsure = await onTerminal(unattended, ['keys', 'delete', 'key_1'], [])
      expect(unsure).toMatchObject({ exitCode: 2, screen: expect.stringContaining('--yes') })
      const rows = recipientsOf(60_000).map(({ wallet, amount }) => `${wallet},${amount}\n`)
      const long = cli.file('unattended.csv', rows.join(''))
      for (const args of [
        ['keys', 'list'],
        ['merkle', 'build', long, '--mint', MINT],
      ]) {
        const { exitCode, screen } = await onTerminal(unattended, args, [])
        expect(exitCode, screen).toBe(0)
        expect(screen).not.toContain('\u001b')
      }
    },
  )

  it.each(['', '0', 'false'])('CI=%s does not count as CI', async (CI) => {
    const { screen } = await onTerminal({ ...cli, env: { ...cli.env, CI } }, ['keys', 'list'], [])
    expect(screen).toContain('\u001b[1m')
  })

  it('a long list shows its progress and removes it at the end', async () => {
    const rows = recipientsOf(60_000).map(({ wallet, amount }) => `${wallet},${amount}\n`)
    const file = cli.file('long.csv', rows.join(''))
    const { exitCode, screen } = await onTerminal(cli, ['merkle', 'build', file, '--mint', MINT], [])
    expect(exitCode).toBe(0)
    expect(screen).toMatch(/Reading [█░]{24} \d+% of \d+/)
    expect(screen).toMatch(/Hashing █{24} 100% of 60000/)
    expect(screen.lastIndexOf('\r\u001b[2K')).toBeGreaterThan(screen.lastIndexOf('100% of 60000'))
    const short = cli.file('short.csv', rows.slice(0, 1000).join(''))
    expect((await onTerminal(cli, ['merkle', 'build', short, '--mint', MINT], [])).screen).not.toContain('█')
  })

  it('headings are bold unless NO_COLOR, CLICOLOR=0 or --no-color is set', async () => {
    expect((await onTerminal(cli, ['keys', 'list'], [])).screen).toContain('\u001b[1m')
    expect((await onTerminal(cli, ['keys', 'list', '--no-color'], [])).screen).not.toContain('\u001b[1m')
    for (const plain of [{ NO_COLOR: '1' }, { CLICOLOR: '0' }]) {
      const { screen } = await onTerminal({ ...cli, env: { ...cli.env, ...plain } }, ['keys', 'list'], [])
      expect(screen).not.toContain('\u001b[1m')
    }
  })
})

describe('questions on a terminal', () => {
  const cli = commandLine()

  it('an invalid answer is reported at once and stays to be corrected', async () => {
    const { exitCode, screen } = await onTerminal(
      cli,
      ['keys', 'create'],
      [
        ['Name of the key', `${'x'.repeat(101)}\r`],
        ['<=100 characters', `${'\u007f'.repeat(2)}\r`],
        ['The same as one command', ''],
      ],
    )
    expect(exitCode, screen).toBe(0)
    expect(screen).toContain(`svc keys create --name ${'x'.repeat(99)}`)
    expect(JSON.parse((await cli.svc(['keys', 'list', '--json'])).stdout)[0].name).toBe('x'.repeat(99))
  })

  it('Ctrl-C after an answer prints the command line so far', async () => {
    const { exitCode, screen } = await onTerminal(
      cli,
      ['tokens', 'create'],
      [
        ['Name: 1 to 20', 'My Token\r'],
        ['Symbol: up to 10', '\u0003'],
      ],
    )
    expect(exitCode).toBe(130)
    expect(screen).toContain("svc tokens create --name 'My Token'")
  })

  it('common options are asked for after required ones, and Enter leaves them out', async () => {
    const answers: [string, string][] = [
      ['Name: 1 to 20', 'My Token\r'],
      ['Symbol: up to 10', 'MTK\r'],
      ['Where its metadata is', 'no url\r'],
      ['must be a URI', `${'\u007f'.repeat(6)}https://example.com/t.json\r`],
      ['First supply', '1000\r'],
      ['Decimals', '\r'],
    ]
    const { screen } = await onTerminal(cli, ['tokens', 'create', '--dry-run'], answers, 60)
    expect(screen.replace(/\r?\n/g, '')).toContain(
      "svc tokens create --dry-run --name 'My Token' --symbol MTK --uri https://example.com/t.json --supply 1000",
    )
  })
})

describe('on a terminal of 80 columns', () => {
  const cli = commandLine()

  it('each line of a table fits, and the column that names a row is complete', async () => {
    const { stdout } = await cli.svc(['keys', 'create', '--name', 'a key of some length', '--json'])
    const { screen } = await onTerminal(cli, ['keys', 'list', '--no-color'], [], 80)
    const all = screen.trimEnd().split('\r\n')
    expect(all.filter((line) => stringWidth(line) > 80)).toEqual([])
    expect(screen).toContain(JSON.parse(stdout).id)
  })

  it('a fee schedule has one line, and its threshold shows its unit', async () => {
    const terms = ['--cron', '0 6 * * *', '--kinds', 'dbc,damm_v2', '--min', '0.05', '-o', 'table']
    const { stdout } = await cli.svc(['fees', 'schedule', 'create', ...terms])
    expect(stdout).toContain('0.05 SOL, or 50000000 raw units of another quote')
    const { screen } = await onTerminal(cli, ['fees', 'schedule', 'list', '--no-color'], [], 80)
    const line = screen.split('\r\n').find((text) => text.includes('fsc_')) ?? ''
    expect(line).toMatch(/fsc_\w{24} {2}0 6 \* \* \* {2}dbc, damm_v2 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(stringWidth(line)).toBeLessThanOrEqual(80)
  })

  it.each([[['--help']], [[]], [['status']], [['doctor']]])('each line of `svc %s` fits', async (args) => {
    const { exitCode, screen } = await onTerminal(cli, args, [], 80)
    expect(exitCode, screen).toBe(0)
    const all = screen
      .replace(/\u001b\[[0-9;]*m/g, '')
      .trimEnd()
      .split('\r\n')
    expect(all.filter((line) => stringWidth(line) > 80 && !line.includes(cli.home))).toEqual([])
  })
})
