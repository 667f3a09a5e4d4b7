/** Commands inside the test's process are as commands by themselves: apart from each other, and with the same answers. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { commandLine, MINT, type Ran } from './command-line.ts'
import { runInProcess } from './in-process.ts'

const cli = commandLine()
const { svc, spawned } = cli
/** When a worker last had a round, and how many it had. */
const TICKS = /[\d-]+ [\d:]+ +\d+/g

describe('two runs in one process', () => {
  it('share no settings, no data, no input and no format', async () => {
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

  it('leave the process as it was', async () => {
    const before = [process.exitCode, { ...process.env }, process.cwd(), process.listenerCount('SIGINT')]
    expect((await svc(['pools', 'get', MINT])).exitCode).toBe(3)
    expect([process.exitCode, { ...process.env }, process.cwd(), process.listenerCount('SIGINT')]).toEqual(before)
  })
})

describe('a run in process and a process of its own', () => {
  const withoutIds = ({ exitCode, stdout, stderr }: Ran) => ({
    exitCode,
    stdout,
    stderr: stderr.replaceAll(/req_\w+/g, 'req_'),
  })

  it.each([
    ['a success', ['pdas', 'metadata', MINT]],
    ['a success as JSON', ['pools', 'list', '--json']],
    ['a success as plain text', ['config', 'get', 'output', '-o', 'plain']],
    ['an empty table', ['pools', 'list']],
    ['help', ['keys', 'create', '--help']],
    ['an unknown command', ['pools', 'lits']],
    ['a usage error', ['keys', 'create']],
    ['a usage error as JSON', ['keys', 'create', '--json']],
    ['an error of the API', ['pools', 'get', MINT]],
    ['a file that is not there', ['merkle', 'build', 'nowhere.csv', '--mint', MINT]],
    ['standard input', ['merkle', 'build', '-', '--mint', MINT, '--json'], `${MINT},1\n`],
    ['a tree that is stored', ['merkle', 'build', '-', '--mint', MINT, '--persist', '--json'], `${MINT},1\n`],
  ] as [string, string[], string?][])('give the same output and exit code for %s', async (_, args, input = '') => {
    const outside = await spawned(args, { input })
    const inside = await svc(args, { input })
    expect(withoutIds(inside)).toEqual(withoutIds(outside))
  })

  it('give the same output and exit code for commands with --api', async () => {
    const dataDir = join(cli.home, 'served')
    mkdirSync(dataDir)
    const daemon = await startDaemon({ dataDir })
    onTestFinished(() => daemon.stop())
    const flags = ['--api', daemon.url, '--api-key-file', join(dataDir, 'operator.key')]
    for (const args of [['keys', 'list', '--json'], ['status'], ['pools', 'get', MINT]]) {
      const outside = withoutIds(await spawned([...args, ...flags]))
      const inside = withoutIds(await svc([...args, ...flags]))
      // The daemon's workers go on meanwhile.
      const [seen, expected] = [inside, outside].map((ran) => ({
        ...ran,
        stdout: ran.stdout.replaceAll(TICKS, 'ticks'),
      }))
      expect(seen).toEqual(expected)
    }
  })
})

describe('a run in process', () => {
  it('fails when the command writes to the process itself, and not when others do meanwhile', async () => {
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
