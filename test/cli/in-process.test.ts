/** Commands inside the test's process are as commands by themselves: apart from each other, and with the same answers. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine, MINT } from './command-line.ts'

const cli = commandLine()
const { svc, spawned } = cli

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
  ] as [string, string[], string?][])('give the same output and exit code for %s', async (_, args, input = '') => {
    const outside = await spawned(args, { input })
    const inside = await svc(args, { input })
    const withoutIds = ({ exitCode, stdout, stderr }: typeof inside) => ({
      exitCode,
      stdout,
      stderr: stderr.replaceAll(/req_\w+/g, 'req_'),
    })
    expect(withoutIds(inside)).toEqual(withoutIds(outside))
  })
})
