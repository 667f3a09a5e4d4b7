/** The action of examples/ci/github: each of its scripts runs as the runner of GitHub Actions runs it. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, it } from 'vitest'
import { commandLine } from '../cli/command-line.ts'
import { naiveRoot, walletOf } from '../merkle/reference.ts'
import { gitIn } from '../support/git.ts'
import { yamlFaults } from '../support/yaml-faults.ts'

const cli = commandLine()
const ACTION = resolve(import.meta.dirname, '../../examples/ci/github')
const source = readFileSync(join(ACTION, 'action.yml'), 'utf8')
const repository = join(cli.home, 'repository')

/** The steps that run a script, each with the expressions of its environment. */
const scripts = source
  .split(/^ {4}- /m)
  .slice(1)
  .filter((step) => step.startsWith('shell: bash\n'))
  .map((step) => ({
    env: Array.from(step.matchAll(/^ {8}([A-Z_]+): (.+)$/gm), ([, name = '', value = '']) => [name, value] as const),
    run: (/ {6}run: \|\n((?: {8}.*\n)+)/.exec(step)?.[1] ?? '').replace(/^ {8}/gm, ''),
  }))
const defaultOf = (input: string) =>
  new RegExp(`^ {2}${input}:\\n {4}description: .+\\n {4}default: "?([^"\\n]*)"?$`, 'm').exec(source)?.[1]

interface Given {
  inputs?: Record<string, string>
  base_ref?: string
  env?: Record<string, string>
}
function run(step: number, { inputs = {}, base_ref = '', env = {} }: Given = {}) {
  const { env: own, run: script } = scripts[step]!
  const value = (name: string) => {
    const [context, key = ''] = name.split('.')
    return context === 'inputs' ? (inputs[key] ?? defaultOf(key)!) : { 'github.base_ref': base_ref }[name]!
  }
  const filled = own.map(([name, text]) => [
    name,
    text.replace(
      /\$\{\{ (.+?) \}\}/g,
      (_, names: string) =>
        names
          .split(' || ')
          .map(value)
          .find((one) => one !== '') ?? '',
    ),
  ])
  return execa('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: repository,
    env: { ...cli.env, CI: 'true', GITHUB_ACTION_PATH: ACTION, ...Object.fromEntries(filled), ...env },
    extendEnv: false,
    reject: false,
  })
}
const git = gitIn(repository)
const write = (name: string, text: string) => writeFileSync(join(repository, name), text)
const rootOf = (amount: bigint) => naiveRoot([{ wallet: walletOf(0), amount }])

beforeAll(async () => {
  mkdirSync(join(repository, 'lists'), { recursive: true })
  await git('init', '-q', '-b', 'main')
  write('lists/spring.csv', `${walletOf(0)},10\n`)
  write('lists/spring.root.txt', rootOf(10n))
  await git('add', '-A')
  await git('commit', '-qm', 'lists')
  // The checkout of a runner has the base as a branch of origin.
  await git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  await git('update-ref', 'refs/remotes/origin/$(>pwned)', 'HEAD')
})

describe('the action of examples/ci', () => {
  it('is whole YAML, uses each action by its commit, and puts no expression into a script', () => {
    expect(yamlFaults(source.replace(/^( *)run: \|\n(?:\1 .*\n)+/gm, ''))).toEqual([])
    const used = source.split('\n').filter((line) => line.includes('uses:'))
    expect(used).toHaveLength(1)
    for (const line of used) expect(line).toMatch(/^ {4}- uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    expect(scripts).toHaveLength(2)
    for (const { run } of scripts) expect(run).not.toMatch(/\$\{\{|npx|npm install|curl/)
    expect(source.match(/^ {2}using: composite$/gm)).toHaveLength(1)
    expect(['folder', 'base', 'differences'].map(defaultOf)).toEqual(['airdrops', '', 'airdrop-differences'])
  })

  it('installs svc in the folder of its own commit, whatever the checkout holds', async () => {
    const bin = join(cli.home, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\nprintf "%s|%s" "$(pwd -P)" "$*"\n')
    chmodSync(join(bin, 'npm'), 0o755)
    const { stdout } = await run(0, { env: { PATH: `${bin}${delimiter}${cli.env.PATH}` } })
    expect(stdout).toBe(`${resolve(ACTION, '../../..')}|ci`)
  })

  it('checks the lists against the base of the pull request, and leaves differences and report', async () => {
    const given = { inputs: { folder: 'lists' }, base_ref: 'main' }
    write('lists/spring.csv', `${walletOf(0)},12\n`)
    const stale = await run(1, given)
    expect(stale.exitCode, stale.stderr).toBe(1)
    expect(stale.stdout).toContain('FAILED: lists/spring.root.txt does not match lists/spring.csv')
    write('lists/spring.root.txt', rootOf(12n))
    const right = await run(1, given)
    expect(right.exitCode, right.stdout + right.stderr).toBe(0)
    const kept = (name: string) => readFileSync(join(repository, 'airdrop-differences', name), 'utf8')
    expect(kept('lists/spring.csv')).toContain(`changed,${walletOf(0)}`)
    expect(kept('junit.xml')).toContain('<testsuites tests="1" failures="0">')
  })

  it('takes inputs for data, and says what is missing where there is no pull request', async () => {
    const folder = await run(1, { inputs: { folder: '"; touch pwned; "$(touch pwned)' }, base_ref: 'main' })
    expect([folder.exitCode, folder.stderr]).toEqual([2, expect.stringContaining('there is no list (NAME.csv) in')])
    const base = await run(1, { inputs: { folder: 'lists', base: '$(>pwned)' } })
    expect(base.exitCode, base.stdout + base.stderr).toBe(0)
    expect(existsSync(join(repository, 'pwned'))).toBe(false)
    const none = await run(1)
    expect([none.exitCode, none.stdout]).toEqual([2, expect.stringMatching(/^::error::.*set the input base\.$/)])
  })
})
