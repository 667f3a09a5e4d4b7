/** What is typed wrongly is said in one line, with the nearest right thing and exit code 2. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { commandLine, STACK_FRAME } from './command-line.ts'

const cli = commandLine()
const { svc, spawned } = cli
const version = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

describe('svc', () => {
  // bin/svc.ts answers these by itself, before it loads anything.
  it.each([['--version'], ['-V'], ['--json', '--version']])('prints the version alone for %s %s', async (...args) => {
    expect(await spawned(args)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([[], ['--help'], ['-h'], ['help'], ['--no-color', '--help']])(
    'prints the nouns on stdout for %s %s',
    async (...args) => {
      const { exitCode, stdout, stderr } = await spawned(args)
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout).toMatch(/^Usage: svc <noun> <verb>/)
      for (const noun of ['keys', 'merkle', 'pools', 'webhooks', 'doctor']) expect(stdout).toContain(`\n  ${noun} `)
    },
  )

  it('shows the flags of a verb with --help and with help, and where the options of every command are', async () => {
    const direct = await svc(['keys', 'create', '--help'])
    expect(direct.exitCode).toBe(0)
    expect(direct.stdout).toContain('--per-minute <N>')
    expect(direct.stdout).toContain('`svc help options`')
    expect(await svc(['help', 'keys', 'create'])).toEqual(direct)
    expect((await svc(['help', 'options'])).stdout).toContain('--api-key-file <file>')
  })

  it('shows and accepts a short flag', async () => {
    expect((await svc(['tx', 'sign', '--help'])).stdout).toContain('-k, --keypair <FILE|NAME>')
    await cli.refused(['tx', 'sign', 'AAAA', '-k', '/nowhere.json'], 'transaction')
  })

  it('--quiet leaves the answer, warnings and failures', async () => {
    for (const name of ['one', 'two']) await svc(['keys', 'create', '--name', name])
    const loud = await svc(['keys', 'list', '--limit', '1'])
    expect(loud.stderr).toContain('--cursor')
    expect(await svc(['keys', 'list', '--limit', '1', '--quiet'])).toEqual({ ...loud, stderr: '' })
    expect((await svc(['pools', 'get', 'x', '--quiet'])).stderr).toContain('error: ')
  })

  it.each([
    [['polls', 'list'], "error: unknown command 'polls'\n  next: did you mean `svc pools list`?\n"],
    [['pools', 'lits'], "error: unknown command 'lits'\n  next: did you mean `svc pools list`?\n"],
    [
      ['pools', 'list', '--lmit', '3'],
      "error: unknown option '--lmit'\n  next: did you mean `svc pools list --limit 3`?\n",
    ],
    [['--no-color'], 'error: a command is missing\n  next: `svc --help` shows them\n'],
  ])('refuses %j and names the nearest word', async (args, stderr) => {
    expect(await svc(args)).toEqual({ exitCode: 2, stdout: '', stderr })
  })

  it('answers a noun without a verb with its verbs and an error', async () => {
    await cli.refused(['pools'], 'progress <address>')
  })

  it.each([
    [['keys', 'create'], 'missing --name', '--name'],
    [
      ['keys', 'create', '--name', 'x', '--per-minute', 'zero'],
      '--per-minute must be a whole number from 1, not "zero"',
      '--per-minute',
    ],
    [['pools', 'get'], 'missing <address>', '<address>'],
    [
      ['pools', 'list', '--status', 'dead'],
      '--status must be pending or live or migration_triggered or migrated or failed, not "dead"',
      '--status',
    ],
    [['merkle', 'list', '--limit', '101'], '--limit must be a whole number from 1 to 100, not "101"', '--limit'],
    [['webhooks', 'create'], 'missing --url, --events', '--url'],
    [['pools', 'list', 'surplus'], 'too many arguments', undefined],
    [['-o', 'xml', 'pools', 'list'], 'output (--output) must be one of table, json, plain, not "xml"', undefined],
  ])('gives a script the same error as an envelope: %j', async (args, message, param) => {
    const plain = await svc(args)
    expect({ exitCode: plain.exitCode, stdout: plain.stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(plain.stderr).toContain(`error: ${message}`)
    expect(plain.stderr).not.toMatch(STACK_FRAME)
    if (args[0] === '-o') return
    const json = await svc(['--json', ...args])
    expect({ exitCode: json.exitCode, stdout: json.stdout }).toEqual({ exitCode: 2, stdout: '' })
    const { error, meta } = JSON.parse(json.stderr)
    expect(error).toMatchObject({ code: 'bad_request', message: expect.stringContaining(message) })
    expect(error.param).toBe(param)
    expect(meta).toEqual({ request_id: 'local' })
  })

  it('reports an unexpected error in one line, and its stack only with --debug', async () => {
    const blocked = cli.file('not-a-folder', 'x')
    const env = { XDG_CONFIG_HOME: blocked }
    const { exitCode, stderr } = await svc(['config', 'set', 'output', 'json'], { env })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^error: .*\n {2}next: .*--debug.*\n$/)
    const debug = await svc(['config', 'set', 'output', 'json', '--debug'], { env })
    expect(debug.stderr).toMatch(STACK_FRAME)
  })
})
