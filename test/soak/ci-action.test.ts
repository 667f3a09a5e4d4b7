/** The action of examples/ci/github: each of its scripts runs as the runner of GitHub Actions runs it. */
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { commandLine } from '../cli/command-line.ts'
import { naiveRoot, walletOf } from '../merkle/reference.ts'
import { gitIn } from '../support/git.ts'
import { mapped } from '../support/mapped.ts'
import { yamlFaults } from '../support/yaml.ts'

const cli = commandLine()
const ROOT = resolve(import.meta.dirname, '../..')
const ACTION = join(ROOT, 'examples/ci/github')
const source = readFileSync(join(ACTION, 'action.yml'), 'utf8')
const repository = join(cli.home, 'repository')
const temporary = join(cli.home, 'temporary')

interface Step {
  shell?: string
  env?: Record<string, string>
  run?: string
}
const action: {
  inputs: Record<string, { default?: string; required?: boolean }>
  runs: { using: string; steps: Step[] }
} = parse(source)
/** The steps that run a script, each with the expressions of its environment. */
const scripts = action.runs.steps
  .filter(({ run }) => run !== undefined)
  .map(({ env = {}, run = '' }) => ({ env: Object.entries(env), run }))

interface Given {
  inputs?: Record<string, string>
  base_ref?: string
  env?: Record<string, string>
}
function run(step: number, { inputs = {}, base_ref = '', env = {} }: Given = {}) {
  const { env: own, run: script } = scripts[step]!
  const value = (name: string) => {
    const [context, key = ''] = name.split('.')
    return context === 'inputs'
      ? (inputs[key] ?? action.inputs[key]!.default!)
      : { 'github.base_ref': base_ref, 'github.action_repository': 'svc-launch/svc' }[name]!
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
    env: { ...cli.env, CI: 'true', RUNNER_TEMP: temporary, ...Object.fromEntries(filled), ...env },
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

describe('the GitHub action of examples/ci', () => {
  it('is valid YAML, uses each action by its commit, and puts no expression into a script', () => {
    expect(yamlFaults(source)).toEqual([])
    const used = source.split('\n').filter((line) => line.includes('uses:'))
    expect(used).toHaveLength(1)
    for (const line of used) expect(line).toMatch(/^ {4}- uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    expect(scripts).toHaveLength(2)
    for (const { run } of scripts) expect(run).not.toMatch(/\$\{\{|npx|npm /)
    expect(action.runs.using).toBe('composite')
    const inputs = Object.entries(action.inputs).map(([name, input]) => [name, input.required ?? input.default])
    expect(inputs).toEqual([
      ['version', true],
      ['sha256', true],
      ['folder', 'airdrops'],
      ['base', ''],
      ['differences', 'airdrop-differences'],
    ])
  })

  it('runs the package of a release only if its checksum is the given one', async () => {
    // A package as a release has it, and a curl that hands it out.
    const [bin, packed, tarball] = mapped(['bin', 'package', 'release.tgz'], (name) => join(cli.home, name))
    mkdirSync(bin)
    mkdirSync(packed)
    mkdirSync(temporary)
    cpSync(join(ROOT, 'dist'), join(packed, 'dist'), { recursive: true })
    await execa('tar', ['-czf', tarball, '-C', cli.home, 'package'])
    writeFileSync(join(bin, 'curl'), `#!/bin/sh\necho "$*" >> "${cli.home}/asked"\ncp "${tarball}" svc.tgz\n`)
    chmodSync(join(bin, 'curl'), 0o755)
    const sha256 = createHash('sha256').update(readFileSync(tarball)).digest('hex')
    const fetched = (inputs: Record<string, string>) =>
      run(0, { inputs, env: { PATH: `${bin}${delimiter}${cli.env.PATH}` } })

    for (const inputs of [
      { version: '', sha256: '' },
      { version: '1.2.3/../..', sha256 },
    ]) {
      const { exitCode, stdout } = await fetched(inputs)
      expect([exitCode, stdout]).toEqual([2, expect.stringMatching(/^::error::Set the inputs version .* and sha256/)])
    }
    expect((await fetched({ version: '1.2.3', sha256: sha256.replace(/./g, 'a') })).exitCode).not.toBe(0)
    expect(existsSync(join(temporary, 'svc'))).toBe(false)
    const right = await fetched({ version: '1.2.3', sha256 })
    expect(right.exitCode, right.stderr).toBe(0)
    expect(readFileSync(join(cli.home, 'asked'), 'utf8')).toContain(
      'https://github.com/svc-launch/svc/releases/download/v1.2.3/svc-launch-cli-1.2.3.tgz\n',
    )
  })

  it('compares the lists with the base of the pull request, and writes differences and a report', async () => {
    const summary = join(cli.home, 'summary.md')
    const given = { inputs: { folder: 'lists' }, base_ref: 'main', env: { GITHUB_STEP_SUMMARY: summary } }
    write('lists/spring.csv', `${walletOf(0)},12\n`)
    const stale = await run(1, given)
    expect(stale.exitCode, stale.stderr).toBe(1)
    expect(stale.stdout).toContain(
      'FAILED: lists/spring.root.txt does not match lists/spring.csv; if the list is right, write it with: svc merkle build lists/spring.csv --mint MINT --jq .root > lists/spring.root.txt\n',
    )
    write('lists/spring.root.txt', rootOf(12n))
    const right = await run(1, given)
    expect(right.exitCode, right.stdout + right.stderr).toBe(0)
    const kept = (name: string) => readFileSync(join(repository, 'airdrop-differences', name), 'utf8')
    expect(kept('lists/spring.csv')).toContain(`changed,${walletOf(0)}`)
    expect(kept('junit.xml')).toContain('<testsuites tests="1" failures="0">')
    expect(kept('summary.md')).toContain('| List | the list at the base | lists/spring&#46;csv |  |\n')
    expect(readFileSync(summary, 'utf8')).toContain(kept('summary.md'))
    expect(readFileSync(summary, 'utf8') + stale.stdout).not.toContain(tmpdir())
  })

  it('treats inputs as data, and says what is missing if there is no pull request', async () => {
    const folder = await run(1, { inputs: { folder: '"; touch pwned; "$(touch pwned)' }, base_ref: 'main' })
    expect([folder.exitCode, folder.stderr]).toEqual([2, expect.stringContaining('there is no list (NAME.csv) in')])
    const base = await run(1, { inputs: { folder: 'lists', base: '$(>pwned)' } })
    expect(base.exitCode, base.stdout + base.stderr).toBe(0)
    expect(existsSync(join(repository, 'pwned'))).toBe(false)
    const none = await run(1)
    expect([none.exitCode, none.stdout]).toEqual([2, expect.stringMatching(/^::error::.*set the input base\.$/)])
  })
})
