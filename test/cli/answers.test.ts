/** The answer on stdout and nothing else there; its three forms; an exit code for each kind of refusal. */
import { spawn } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { commandLine, PROGRAM } from './command-line.ts'

const cli = commandLine()
const { svc, spawned } = cli
let id: string

describe('An answer', () => {
  beforeAll(async () => {
    const made = await svc([
      ...['keys', 'create', '--name', 'back\\end\u202e', '--scopes', 'airdrop:write,fees:claim'],
      ...['--per-minute', '7', '--json'],
    ])
    expect(made.exitCode, made.stderr).toBe(0)
    const key = JSON.parse(made.stdout)
    expect(key).toMatchObject({
      scopes: ['airdrop:write', 'fees:claim'],
      rate_limit_per_minute: 7,
      rate_limit_per_day: 50_000,
    })
    expect(key.key).toMatch(/^svc_live_[0-9A-Za-z]{32}$/)
    expect(made.stderr).toContain('shown only once')
    id = key.id
  })

  it('is one JSON document with --json, before or after the noun', async () => {
    const after = await spawned(['keys', 'list', '--json'])
    expect(JSON.parse(after.stdout)).toHaveLength(2)
    expect(after.stderr).toBe('')
    expect((await svc(['-o', 'json', 'keys', 'list'])).stdout).toBe(after.stdout)
    expect((await svc(['keys', '--output=json', 'list'])).stdout).toBe(after.stdout)
  })

  it('is a line for each record in plain, with tabs and escaped control characters', async () => {
    const { stdout } = await svc(['keys', 'list', '-o', 'plain'])
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
    expect(lines).toHaveLength(2)
    expect(lines[0]!.slice(0, 2)).toEqual([id, 'back\\\\end\\u202e'])
    expect(lines[0]!.slice(3, 7)).toEqual(['airdrop:write,fees:claim', '7', '50000', 'active'])
    expect(lines[1]!.slice(1, 2)).toEqual(['local operator'])
    expect(lines[1]!.slice(4, 6)).toEqual(['', ''])
  })

  it('is an aligned table, without colour or control characters in a pipe', async () => {
    const { stdout } = await svc(['keys', 'list'])
    const [head, first, second] = stdout.split('\n') as [string, string, string]
    expect(head).toMatch(
      /^ID +NAME +PREVIEW +SCOPES +RATE LIMIT PER MINUTE +RATE LIMIT PER DAY +STATUS +CREATED AT +EXPIRES AT +ALLOW IPS +LAST USED AT +LAST USED FROM$/,
    )
    const column = head.indexOf('STATUS')
    expect([first, second].map((line) => line.slice(column, column + 6))).toEqual(['active', 'active'])
    expect(stdout).not.toMatch(/[\u001b\u202e]/)
  })

  it('of one record has a line for each field', async () => {
    const { stdout } = await svc(['health'])
    expect(stdout).toMatch(/^STATUS {5}healthy\n/)
    expect((await svc(['health', '-o', 'plain'])).stdout).toMatch(/^status\thealthy\n/)
  })

  it('of an empty list is an empty document, and the remark is on stderr', async () => {
    expect(await svc(['pools', 'list', '--json'])).toEqual({ exitCode: 0, stdout: '[]\n', stderr: 'None found.\n' })
    expect(await svc(['pools', 'list'])).toEqual({ exitCode: 0, stdout: '', stderr: 'None found.\n' })
  })

  it('of a page names the next cursor on stderr, and --all follows it', async () => {
    const first = await svc(['keys', 'list', '--limit', '1', '--json'])
    expect(JSON.parse(first.stdout).map((key: { id: string }) => key.id)).toEqual([id])
    const cursor = /--cursor (\S+)/.exec(first.stderr)![1]!
    const second = await svc(['keys', 'list', '--limit', '1', '--cursor', cursor, '--json'])
    expect(JSON.parse(second.stdout)[0].name).toBe('local operator')
    const all = await svc(['keys', 'list', '--limit', '1', '--all', '--json'])
    expect(JSON.parse(all.stdout)).toEqual([...JSON.parse(first.stdout), ...JSON.parse(second.stdout)])
    expect(all.stderr).toBe('')
  })

  it('is not a failure if its reader has closed the pipe', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'events', 'types', '--json'], {
      env: cli.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    const exitCode = await new Promise((resolve) => child.once('close', resolve))
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })
})

describe('A refusal', () => {
  it.each([
    [['keys', 'delete', 'key_nobody', '--yes'], 3, 'not_found'],
    [['webhooks', 'get', 'whs_nobody'], 3, 'not_found'],
    [['airdrops', 'get', 'nothing'], 2, 'bad_request'],
    [['stakes', 'get', 'So11111111111111111111111111111111111111112'], 3, 'not_found'],
    [['signer', 'test'], 1, 'internal_error'],
    [['accounts', 'get', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'], 3, 'not_found'],
  ])('of %j exits %i with the envelope of the API', async (args, exitCode, code) => {
    const json = await svc([...args, '--json'])
    expect({ exitCode: json.exitCode, stdout: json.stdout }).toEqual({ exitCode, stdout: '' })
    const { error, meta } = JSON.parse(json.stderr)
    expect(error.code).toBe(code)
    expect(meta.request_id).toMatch(/^req_/)
    const plain = await svc(args)
    expect(plain.exitCode).toBe(exitCode)
    expect(plain.stderr).toMatch(/^error: .*\n {2}request id: req_/)
  })

  it('of a destructive command names --yes', async () => {
    const { exitCode, stderr } = await svc(['keys', 'delete', id])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('--yes')
    expect(JSON.parse((await svc(['keys', 'list', '--json'])).stdout)[0]).toMatchObject({ id, status: 'active' })
  })
})

describe('An account of the chain', () => {
  const MINT = 'So11111111111111111111111111111111111111112'
  const ABSENT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'

  it('is shown alone and in a batch, with an empty row for one that does not exist', async () => {
    const one = await svc(['accounts', 'get', MINT])
    expect(one.stdout, one.stderr).toMatch(/^SOL +\d+(\.\d+)?$/m)
    expect(one.stdout).toMatch(/^SPACE +82$/m)
    const many = await svc(['accounts', 'batch', MINT, ABSENT, '--json'])
    const { accounts } = JSON.parse(many.stdout)
    expect([accounts[0].address, accounts[1]]).toEqual([MINT, null])
    const rows = (await svc(['accounts', 'batch', MINT, ABSENT])).stdout
    expect(rows).toContain(ABSENT)
    expect(rows).not.toMatch(/undefined|null/)
  })

  it('that a program owns has a derived address', async () => {
    const { stdout, stderr } = await svc(['pdas', 'derive', 'metadata', `mint=${MINT}`])
    expect(stdout, stderr).toContain('6dM4TqWyWJsbx7obrdLcviBkTafD5E8av61zfU6jq57X')
    const refused = await svc(['pdas', 'derive', 'metadata'])
    expect(refused.exitCode).toBe(2)
    await cli.refused(['pdas', 'derive', 'ata', `mint=${MINT}`], '<inputs> (owner): is required')
  })
})
