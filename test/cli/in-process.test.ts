/** Commands inside the test's process are as commands by themselves: apart from each other, and with the same answers. */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runs } from '../support/runs.ts'
import { commandLine, MINT, type Ran } from './command-line.ts'
import { runInProcess } from './in-process.ts'

const cli = commandLine()
const { svc, spawned } = cli

describe('Two commands in one process', () => {
  it('share no settings, data, input or format', async () => {
    const place = (name: string) => {
      const home = join(cli.home, name)
      mkdirSync(home)
      return { HOME: home, SVC_DATA_DIR: join(home, 'data') }
    }
    const [left, right] = [
      { ...place('left'), SVC_OUTPUT: 'json' },
      { ...place('right'), SVC_OUTPUT: 'plain', SVC_PROFILE: 'default' },
    ]
    await Promise.all([
      svc(['config', 'set', 'url', 'devnet'], { env: left }),
      svc(['config', 'set', 'url', 'embedded'], { env: right }),
      svc(['keys', 'create', '--name', 'of-left'], { env: left }),
      svc(['keys', 'create', '--name', 'of-right'], { env: right }),
    ])
    const [keysOfLeft, keysOfRight] = await Promise.all([
      svc(['keys', 'list'], { env: left }),
      svc(['keys', 'list'], { env: right }),
    ])
    expect(JSON.parse(keysOfLeft.stdout).map(({ name }: { name: string }) => name)).toContain('of-left')
    expect(keysOfLeft.stdout).not.toContain('of-right')
    expect(keysOfRight.stdout).toMatch(/^key_\S*\tof-right\t/m)
    expect(keysOfRight.stdout).not.toContain('of-left')
    const urls = await Promise.all([left, right].map((env) => svc(['config', 'get', 'url', '-o', 'plain'], { env })))
    expect(urls.map(({ stdout }) => stdout)).toEqual(['devnet\n', 'embedded\n'])

    const build = (input: string) => svc(['merkle', 'build', '-', '--mint', MINT, '--json'], { input })
    const trees = await Promise.all([build(`${MINT},1`), build(`${MINT},2`), build(`${MINT},1`)])
    const [first, other, again] = trees.map(({ stdout }) => JSON.parse(stdout))
    expect(first).toEqual(again)
    expect(first).not.toEqual(other)
  })

  it('change nothing of the process', async () => {
    const before = [process.exitCode, { ...process.env }, process.cwd(), process.listenerCount('SIGINT')]
    expect((await svc(['pools', 'get', MINT])).exitCode).toBe(3)
    expect([process.exitCode, { ...process.env }, process.cwd(), process.listenerCount('SIGINT')]).toEqual(before)
  })
})

describe('A command in the process of the test and one in its own process', () => {
  const withoutIds = ({ exitCode, stdout, stderr }: Ran) => ({
    exitCode,
    stdout,
    stderr: stderr.replaceAll(/req_\w+/g, 'req_'),
  })

  /** Those that open a database in a process of their own come last: a run of all takes them. */
  const COMMANDS: [what: string, args: string[], input?: string][] = [
    ['a success as plain text', ['config', 'get', 'output', '-o', 'plain']],
    ['an unknown command', ['pools', 'lits']],
    ['a usage error as JSON', ['keys', 'create', '--json']],
    ['an error of the API', ['pools', 'get', MINT]],
    ['an empty table', ['pools', 'list']],
    [
      'standard input that is stored',
      ['merkle', 'build', '-', '--mint', MINT, '--raw', '--persist', '--json'],
      `${MINT},1\n`,
    ],
  ]
  it.each(COMMANDS.slice(0, runs(3, COMMANDS.length)))(
    'give the same output and exit code for %s',
    { tags: 'sampled' },
    async (_, args, input = '') => {
      const outside = await spawned(args, { input })
      const inside = await svc(args, { input })
      expect(withoutIds(inside)).toEqual(withoutIds(outside))
    },
  )

  it('give the same output and exit code with --api', async () => {
    const page = { data: [{ name: 'one' }], meta: { request_id: 'req_1', has_more: false, next_cursor: null } }
    const api = createServer((_, answer) => void answer.end(JSON.stringify(page))).listen(0, '127.0.0.1')
    await once(api, 'listening')
    onTestFinished(() => void api.close())
    const args = ['keys', 'list', '--api', `http://127.0.0.1:${(api.address() as AddressInfo).port}`]
    const env = { SVC_API_KEY: `svc_live_${'0'.repeat(32)}` }
    expect(await svc(args, { env })).toEqual(await spawned(args, { env }))
  })
})

describe('A command in the process of the test', () => {
  it('fails if it writes to the streams of the process, but not if others do meanwhile', async () => {
    const { write } = process.stderr
    const env = new Proxy(
      { ...cli.env },
      {
        get(target, name) {
          if (name === 'HOME') process.stderr.write('stray')
          return Reflect.get(target, name)
        },
      },
    )
    const run = runInProcess(['config', 'get', 'url'], { env, cwd: cli.home, input: '' })
    process.stdout.write('')
    await expect(run).rejects.toThrow(/wrote to the process: process\.stderr\.write: stray$/m)
    expect(process.stderr.write).toBe(write)
  })
})
