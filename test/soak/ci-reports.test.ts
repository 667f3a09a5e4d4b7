/** What the script of examples/ci tells a runner and a reviewer about lists that a stranger wrote, and what its jobs may do. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { commandLine, PROGRAM } from '../cli/command-line.ts'
import { naiveRoot, walletOf } from '../merkle/reference.ts'
import { gitIn } from '../support/git.ts'
import { yamlFaults } from '../support/yaml.ts'

const cli = commandLine()
const repository = join(cli.home, 'repository')
const summary = join(cli.home, 'summary.md')
const junit = join(cli.home, 'reports/junit.xml')
const FOLDER = resolve(import.meta.dirname, '../../examples/ci')
const SCRIPT = join(FOLDER, 'check-airdrops.sh')

const git = gitIn(repository)
const check = (env: Record<string, string> = {}, args = ['main', 'airdrops']) =>
  execa(SCRIPT, args, {
    cwd: repository,
    env: {
      ...cli.env,
      ...{ SVC: `${process.execPath} ${PROGRAM}`, GITHUB_STEP_SUMMARY: summary, SVC_JUNIT: junit, CI: 'true' },
      ...env,
    },
    extendEnv: false,
    reject: false,
  })
const write = (name: string, text: string) => writeFileSync(join(repository, 'airdrops', name), text)
const rootOf = (amount: bigint) => naiveRoot([{ wallet: walletOf(0), amount }])
const report = () => readFileSync(junit, 'utf8')

/** The commands that the runner of GitHub Actions obeys in an output, also those of its earlier form. */
function obeyed(output: string): string[] {
  let stopped = ''
  const commands: string[] = []
  for (const line of output.split('\n')) {
    const [, command = '', rest = ''] = /^\s*::([\w-]+)(.*)$/.exec(line) ?? /##\[([\w-]+)(.*)$/.exec(line) ?? []
    if (command === '') continue
    if (stopped !== '') {
      if (command === stopped) stopped = ''
    } else if (command === 'stop-commands') {
      stopped = rest.slice(2)
      expect(stopped).toMatch(/^[0-9a-f]{32}$/)
    } else {
      commands.push(`${command}${rest}`)
    }
  }
  return commands
}

beforeEach(async () => {
  for (const path of [repository, summary, junit]) rmSync(path, { recursive: true, force: true })
  mkdirSync(join(repository, 'airdrops'), { recursive: true })
  await git('init', '-q', '-b', 'main')
  write('spring.csv', `${walletOf(0)},10\n`)
  write('spring.root.txt', rootOf(10n))
  await git('add', '-A')
  await git('commit', '-qm', 'lists')
})

describe('the report of examples/ci', () => {
  it('has a test case for each changed list, with its name escaped', async () => {
    const hostile = `a"'<b>&]]> x`
    write('spring.csv', `${walletOf(0)},11\n`)
    write('spring.root.txt', rootOf(11n))
    write(`${hostile}.csv`, `${walletOf(0)},12\n`)
    const { exitCode, stderr } = await check()
    expect(exitCode, stderr).toBe(1)
    const name = 'airdrops/a&quot;&apos;&lt;b&gt;&amp;]]&gt; x'
    const [head, , missing, ...rest] = report().split('\n')
    expect(head).toBe('<?xml version="1.0" encoding="UTF-8"?>')
    expect(report()).toContain('<testsuite name="airdrops" tests="2" failures="1" errors="0" skipped="0">')
    expect(missing).toContain('<testsuite ')
    expect(rest.slice(0, 4)).toEqual([
      `    <testcase classname="airdrops" name="${name}.csv">`,
      expect.stringContaining(
        `<failure message="${name}.root.txt is missing; write it with: svc merkle build airdrops/a\\&quot;`,
      ),
      '    </testcase>',
      '    <testcase classname="airdrops" name="airdrops/spring.csv"/>',
    ])
    expect(rest.slice(4)).toEqual(['  </testsuite>', '</testsuites>', ''])
    expect(report().replaceAll(/&(quot|apos|lt|gt|amp);/g, '')).not.toContain('&')
  })

  it('is empty if no list changed', async () => {
    expect((await check()).exitCode).toBe(0)
    expect(report()).toContain('<testsuites tests="0" failures="0">')
  })
})

describe('the check of examples/ci', () => {
  it('refuses output paths that are links or files of the repository', async () => {
    const victim = join(cli.home, 'victim')
    mkdirSync(victim, { recursive: true })
    const own = { SVC_SUMMARY: 'out/summary.md', SVC_DIFFERENCES: 'out/all', SVC_JUNIT: 'out/all/junit.xml' }
    mkdirSync(join(repository, 'out'))
    write('spring.csv', `${walletOf(0)},11\n`)
    write('spring.root.txt', rootOf(11n))
    const committed = async (path: string) => {
      await git('add', '-A')
      const refused = await check(own)
      await git('reset', '-q')
      unlinkSync(join(repository, path))
      return [refused.exitCode, refused.stderr]
    }
    symlinkSync(victim, join(repository, 'out/all'))
    expect(await committed('out/all')).toEqual([2, expect.stringContaining("the repository has 'out/all'")])
    symlinkSync(join(victim, 'profile'), join(repository, 'out/summary.md'))
    expect(await committed('out/summary.md')).toEqual([2, expect.stringContaining("'out/summary.md'")])
    rmSync(join(repository, 'out'), { recursive: true })
    symlinkSync(victim, join(repository, 'out'))
    expect(await committed('out')).toEqual([2, expect.stringContaining("the repository has the link 'out'")])
    expect(readdirSync(victim)).toEqual([])
    symlinkSync(victim, join(repository, 'elsewhere'))
    const linked = await check(own, ['HEAD', 'elsewhere'])
    expect([linked.exitCode, linked.stderr]).toEqual([2, expect.stringContaining("'elsewhere' is a link")])
    unlinkSync(join(repository, 'elsewhere'))
    mkdirSync(join(repository, 'out'))
    const { exitCode, stderr } = await check(own)
    expect(exitCode, stderr).toBe(0)
    expect(readdirSync(join(repository, 'out/all')).sort()).toEqual(['airdrops', 'junit.xml'])
  })
})

describe('the output of examples/ci for GitHub Actions', () => {
  const github = { GITHUB_ACTIONS: 'true' }

  it('marks an error at its line, and each list that fails', async () => {
    write('100%, new.csv', `${walletOf(0)},1\nnobody,1\n`)
    write('100%, new.root.txt', rootOf(1n))
    const { exitCode, stdout } = await check(github)
    expect(exitCode).toBe(1)
    const file = 'file=airdrops/100%25%2C new.csv'
    expect(obeyed(stdout)).toEqual([
      expect.stringMatching(new RegExp(`^error ${file},line=2,col=1::.+`)),
      `error ${file}::airdrops/100%25, new.csv cannot be read as a list`,
    ])
  })

  it('contains no command from the name of a file, and refuses names with hidden characters', async () => {
    write('##[add-mask]x.csv', `${walletOf(0)},1\n`)
    write('a\n::add-mask::b\n```.csv', `${walletOf(0)},1\n`)
    write('c\u202evsc.csv', `${walletOf(0)},1\n`)
    const { exitCode, stdout } = await check(github)
    expect(exitCode).toBe(1)
    const commands = obeyed(stdout)
    expect(commands).toHaveLength(3)
    for (const command of commands) expect(command).toMatch(/^error file=airdrops\//)
    expect(stdout).not.toMatch(/^::add-mask/m)
    expect(stdout.match(/has characters in its name that a review does not show$/gm)?.length).toBeGreaterThan(1)
    // Whatever the job runs afterwards is obeyed again.
    expect(obeyed(`${stdout}\n::notice::after`).at(-1)).toBe('notice::after')
  })

  it('quotes the names of files in commands to copy', async () => {
    write('$(id) `id`.csv', `${walletOf(0)},1\n`)
    const { stdout } = await check()
    expect(stdout).toContain('svc merkle build airdrops/\\$\\(id\\)\\ \\`id\\`.csv --mint MINT')
    expect(stdout).toContain('> airdrops/\\$\\(id\\)\\ \\`id\\`.root.txt')
  })

  it('has a summary without markup, links or mentions from names', async () => {
    write('@team [x](y) <img src=z> #12 www.example.com `q`.csv', `${walletOf(0)},1\n`)
    expect((await check(github)).exitCode).toBe(1)
    const shown = readFileSync(summary, 'utf8')
    expect(shown).toContain(
      '## airdrops/&#64;team &#91;x&#93;(y) &lt;img src=z&gt; &#35;12 www&#46;example.com &#96;q&#96;.csv\n',
    )
    expect(shown).not.toMatch(/@team|<img|\]\(|(?<!&)#12|www\./)
  })
})

describe('the jobs of examples/ci', () => {
  const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
  const source = read('airdrops.yml')
  const workflow = parse(source)
  const steps: { name?: string; run?: string; uses?: string }[] = Object.values<{ steps: [] }>(workflow.jobs).flatMap(
    (job) => job.steps,
  )

  it('are valid YAML, use each action by its commit, and only the comment may write', () => {
    expect([yamlFaults(source), yamlFaults(read('airdrops.gitlab-ci.yml'))]).toEqual([[], []])
    expect(workflow).toMatchObject({
      on: { pull_request: { paths: ['airdrops/**'] } },
      permissions: { contents: 'read' },
      concurrency: { 'cancel-in-progress': true },
      jobs: { check: { 'timeout-minutes': 5 }, comment: { 'timeout-minutes': 5 } },
    })
    expect(workflow.jobs.check).not.toHaveProperty('permissions')
    expect(workflow.jobs.comment.permissions).toEqual({ 'pull-requests': 'write' })
    expect(workflow.jobs.comment.if).toContain('github.event.pull_request.head.repo.full_name == github.repository')
    expect(JSON.stringify(workflow.jobs.comment)).not.toMatch(/checkout|check-airdrops/)
    const used = source.split('\n').filter((line) => line.includes('uses:'))
    expect(used).toHaveLength(4)
    for (const line of used) expect(line).toMatch(/^ {6}[- ] uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('put no text of a contributor into a script', () => {
    for (const { run = '' } of steps) expect(run).not.toMatch(/\$\{\{|npm /)
    expect(Array.from(source.matchAll(/\$\{\{ (\S+) \}\}/g), ([, name]) => name)).toEqual([
      'github.event.pull_request.number',
      'runner.temp',
      'github.base_ref',
      'github.token',
      'github.event.pull_request.number',
    ])
  })

  it('write one comment, which the next push replaces, and cut a long one at a line', async () => {
    const folder = join(cli.home, 'comment')
    mkdirSync(folder)
    // It lists the comment's id once there is one, and keeps what is sent.
    writeFileSync(
      join(folder, 'gh'),
      `#!/bin/bash
echo "$*" >> asked
if [[ $* == *--paginate* ]]; then cat id 2>/dev/null || true; else cp comment.md sent.md; echo 17 > id; fi
`,
    )
    chmodSync(join(folder, 'gh'), 0o755)
    const { run = '' } = steps.find(({ name }) => name === 'Write the comment')!
    const env = { PATH: `${folder}:${process.env.PATH}`, GITHUB_REPOSITORY: 'o/r', NUMBER: '5' }
    const comment = async (text: string) => {
      writeFileSync(join(folder, 'summary.md'), text)
      await execa('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
        cwd: folder,
        env,
        extendEnv: false,
      })
      return readFileSync(join(folder, 'sent.md'), 'utf8')
    }
    expect(await comment('## one\n')).toBe('<!-- recipient lists -->\n## one\n')
    const long = await comment(`\`\`\`\n${'ä row\n'.repeat(20_000)}\`\`\`\n`)
    expect(long.length).toBeLessThan(65_536)
    expect(long).toMatch(/\nä row\n```\n\nThe summary is longer: see that of the job\.\n$/)
    const sent = readFileSync(join(folder, 'asked'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('--method'))
    expect(sent.map((line) => line.replace(/.*--method (\S+ \S+).*/, '$1'))).toEqual([
      'POST repos/o/r/issues/5/comments',
      'PATCH repos/o/r/issues/comments/17',
    ])
  })

  it('let GitLab show the report that the script writes', () => {
    const gitlab = read('airdrops.gitlab-ci.yml')
    const written = /^ {4}SVC_JUNIT: (airdrop-differences\/\S+)$/m.exec(gitlab)?.[1]
    expect(written).toBeDefined()
    expect(gitlab).toContain(`    reports:\n      junit: ${written}\n`)
  })
})

const hasShellcheck = (() => {
  try {
    execFileSync('shellcheck', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

it.skipIf(!hasShellcheck)('the script of examples/ci passes shellcheck', async () => {
  const { stdout } = await execa('shellcheck', [SCRIPT], { reject: false })
  expect(stdout).toBe('')
})
