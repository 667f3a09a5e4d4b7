/** The script of examples/ci in a real repository: what it lets through, and what it stops. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeEach, describe, expect, it } from 'vitest'
import { commandLine, PROGRAM } from '../cli/command-line.ts'
import { naiveRoot, type Recipient, walletOf } from '../merkle/reference.ts'
import { gitIn } from '../support/git.ts'

const cli = commandLine()
const repository = join(cli.home, 'repository')
const SCRIPT = resolve(import.meta.dirname, '../../examples/ci/check-airdrops.sh')
const summary = join(cli.home, 'summary.md')

const git = gitIn(repository)
const check = (args = ['main', 'airdrops'], env: Record<string, string> = {}, cwd = repository) =>
  execa(SCRIPT, args, {
    cwd,
    env: { ...cli.env, SVC: `${process.execPath} ${PROGRAM}`, GITHUB_STEP_SUMMARY: summary, CI: 'true', ...env },
    extendEnv: false,
    reject: false,
  })
const write = (name: string, text: string) => writeFileSync(join(repository, 'airdrops', name), text)
const recipients = (...amounts: number[]): Recipient[] =>
  amounts.map((amount, i) => ({ wallet: walletOf(i), amount: BigInt(amount) }))
const csv = (list: Recipient[]) =>
  `wallet,amount\n${list.map(({ wallet, amount }) => `${wallet},${amount}\n`).join('')}`

describe('examples/ci', () => {
  it('shows the changes, and refuses a root that differs from its list', async () => {
    mkdirSync(join(repository, 'airdrops'), { recursive: true })
    await git('init', '-q', '-b', 'main')
    write('spring.csv', csv(recipients(10, 20)))
    write('spring.root.txt', `${naiveRoot(recipients(10, 20))}\n`)
    write('untouched.csv', 'this is not checked')
    await git('add', '.')
    await git('commit', '-qm', 'lists')
    await git('checkout', '-qb', 'change')

    const nothing = await check()
    expect(nothing).toMatchObject({ exitCode: 0, stdout: '0 changed lists checked' })

    write('spring.csv', csv(recipients(10, 25, 30)))
    await git('commit', '-qam', 'more')
    const stale = await check()
    expect(stale.exitCode, stale.stdout).toBe(1)
    expect(stale.stdout).toContain('1 added, 0 removed, 1 changed, 1 unchanged')
    expect(stale.stdout).toMatch(new RegExp(`~ +${walletOf(1)} +20 +25`))
    expect(stale.stdout).toContain('FAILED: airdrops/spring.root.txt does not match airdrops/spring.csv')

    write('spring.root.txt', `0x${naiveRoot(recipients(10, 25, 30))}\n`)
    await git('commit', '-qam', 'root')
    const right = await check()
    expect(right.exitCode, right.stdout + right.stderr).toBe(0)
    expect(right.stdout).toContain('1 changed list checked')
    expect(readFileSync(summary, 'utf8')).toContain('## airdrops/spring.csv')
    expect(readFileSync(summary, 'utf8')).toContain(`| changed | \`${walletOf(1)}\` | 20 | 25 | +5 |`)

    // As GitLab CI runs it: a file of its own for the summary, and a folder for every difference.
    const folder = join(cli.home, 'differences')
    const own = { SVC_SUMMARY: join(cli.home, 'own.md'), SVC_DIFFERENCES: folder }
    expect((await check(['main', 'airdrops'], own)).exitCode).toBe(0)
    expect(readFileSync(own.SVC_SUMMARY, 'utf8')).toContain('| Wallets | 2 | 3 | +1 |')
    expect(readFileSync(join(folder, 'airdrops/spring.csv'), 'utf8')).toContain(`added,${walletOf(2)},,,30,0,30`)
  })

  it('refuses a new list without a root, reads its decimals file, and refuses a list with an error', async () => {
    write('new.csv', `${walletOf(1)},1.5\n`)
    write('new.decimals.txt', '6\n')
    await git('add', '.')
    await git('commit', '-qm', 'new')
    expect((await check()).stdout).toContain('FAILED: airdrops/new.root.txt is missing')
    write('new.root.txt', naiveRoot([{ wallet: walletOf(1), amount: 1_500_000n }]))
    await git('add', '.')
    await git('commit', '-qm', 'new root')
    const right = await check()
    expect(right.exitCode, right.stdout).toBe(0)
    expect(right.stdout).toContain('1 wallet, 1.5 tokens')
    // The vault of a program: nobody could claim.
    const lost = [walletOf(1), 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM']
    write('new.csv', lost.map((wallet, i) => `${wallet},${i + 1.5}\n`).join(''))
    write('new.root.txt', naiveRoot(lost.map((wallet, i) => ({ wallet, amount: BigInt(i) * 1_000_000n + 1_500_000n }))))
    rmSync(summary, { force: true })
    const warned = await check()
    expect(warned.exitCode, warned.stdout).toBe(0)
    expect(readFileSync(summary, 'utf8')).toMatch(
      /2 wallets, 1\.5–2\.5 tokens \(median 2\.5\), 4 tokens in all[\s\S]*1 of 2 addresses are not wallets, so nobody could claim: entries\.1 FhVo/,
    )
    write('new.csv', `${walletOf(1)},1.5\nnobody,1\n`)
    await git('commit', '-qam', 'fault')
    expect(await check()).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('airdrops/new.csv:2:1: ') })
  })
})

describe('the jobs of examples/ci', () => {
  const text = (name: string) => readFileSync(resolve(SCRIPT, '..', name), 'utf8')

  it('run the script of a release that its checksum binds, with the whole history, and fetch no package by name', () => {
    for (const name of ['airdrops.yml', 'airdrops.gitlab-ci.yml']) {
      expect(text(name)).toMatch(/svc\/dist\/check-airdrops\.sh" "origin\/\$/)
      expect(text(name)).toMatch(/SVC_SHA256: "[0-9a-f]{64}"/)
      expect(text(name)).toMatch(/curl --fail [^\n]*\\?\n?[^\n]*\n[^\n]*"\$SVC_SHA256 {2}\S+" \| sha256sum --check/)
      expect(text(name)).not.toMatch(/npx|npm |:latest/)
      expect(text(name)).toMatch(/SVC_DIFFERENCES: airdrop-differences/)
    }
    expect(text('airdrops.gitlab-ci.yml')).toMatch(/image: node:\d+\.\d+\.\d+-\w+\n/)
    expect(text('airdrops.gitlab-ci.yml')).toContain('GIT_DEPTH: "0"')
    expect(text('airdrops.yml')).toContain('fetch-depth: 0')
  })

  it('include one for GitLab that runs as written', async () => {
    const lines = text('airdrops.gitlab-ci.yml').split('\n')
    const script = lines[lines.indexOf('  script:') + 1]!.replace(/^ +- '(.*)'$/, '$1')
    const project = join(cli.home, 'gitlab')
    await execa('git', ['clone', '-q', repository, project])
    symlinkSync(resolve(SCRIPT, '../../..'), `${project}.svc`)
    const ran = await execa('bash', ['-c', `set -eo pipefail\n${script}`], {
      cwd: project,
      env: {
        ...cli.env,
        SVC: `${process.execPath} ${PROGRAM}`,
        CI_PROJECT_DIR: project,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
        SVC_SUMMARY: join(cli.home, 'gitlab.md'),
        SVC_DIFFERENCES: join(cli.home, 'gitlab-differences'),
      },
      extendEnv: false,
      reject: false,
    })
    expect(ran.stdout, ran.stderr).toMatch(/\d changed lists? checked/)
    expect(readFileSync(join(cli.home, 'gitlab.md'), 'utf8')).toContain('## airdrops/spring.csv')
  })
})

/** A list of whole tokens on the main branch, and a branch for the change. */
describe('examples/ci with a list of whole tokens on the main branch', () => {
  const tokens = (...amounts: string[]) => amounts.map((amount, i) => `${walletOf(i)},${amount}\n`).join('')
  const rootOf = (...amounts: bigint[]) =>
    `${naiveRoot(amounts.map((amount, i) => ({ wallet: walletOf(i), amount })))}\n`
  const commit = async (message: string) => {
    await git('add', '-A')
    await git('commit', '-qm', message)
  }
  beforeEach(async () => {
    rmSync(repository, { recursive: true, force: true })
    rmSync(summary, { force: true })
    mkdirSync(join(repository, 'airdrops'), { recursive: true })
    await git('init', '-q', '-b', 'main')
    write('spring.csv', tokens('10', '20'))
    write('spring.decimals.txt', '6\n')
    write('spring.root.txt', rootOf(10_000_000n, 20_000_000n))
    await commit('lists')
    await git('checkout', '-qb', 'change')
  })

  it('shows a change of the decimals as a change of every payout', async () => {
    write('spring.decimals.txt', '9\n')
    write('spring.root.txt', rootOf(10_000_000_000n, 20_000_000_000n))
    await commit('decimals alone')
    const { exitCode, stdout } = await check()
    expect(exitCode, stdout).toBe(0)
    expect(stdout).toContain('DECIMALS CHANGED: 6 → 9')
    expect(stdout).toContain('0 added, 0 removed, 2 changed, 0 unchanged; total 30000000 → 30000000000 raw units')
    expect(stdout).toMatch(new RegExp(`~ +${walletOf(1)} +20000000 +20000000000`))
    expect(stdout).toContain(`Root changed: ${rootOf(10_000_000n, 20_000_000n).trim()} → `)
    expect(stdout).not.toContain('Same root')
    expect(readFileSync(summary, 'utf8')).toContain('DECIMALS CHANGED')
  })

  it('shows added and removed decimals as a change of every payout', async () => {
    rmSync(join(repository, 'airdrops/spring.decimals.txt'))
    write('spring.root.txt', rootOf(10n, 20n))
    await commit('no decimals')
    const { exitCode, stdout } = await check()
    expect(exitCode, stdout).toBe(0)
    expect(stdout).toContain('DECIMALS CHANGED: 6 → none (raw units)')
    expect(stdout).toMatch(new RegExp(`~ +${walletOf(0)} +10000000 +10\\b`))
  })

  it('passes with the root of the base if no payout changes, and counts in whole tokens', async () => {
    write('spring.csv', tokens('10.0', '20'))
    await commit('written otherwise')
    const { exitCode, stdout } = await check()
    expect(exitCode, stdout).toBe(0)
    expect(stdout).toContain('0 changed, 2 unchanged; total 30 → 30')
    expect(stdout).toContain('Root as at the base: ')
  })

  it('says that the list of the base does not have the root beside it', async () => {
    await git('checkout', '-q', 'main')
    write('spring.root.txt', rootOf(1n, 2n))
    await commit('a wrong root')
    await git('checkout', '-qB', 'change')
    write('spring.csv', tokens('10', '21'))
    write('spring.root.txt', rootOf(10_000_000n, 21_000_000n))
    await commit('repaired')
    const { exitCode, stdout } = await check()
    expect(exitCode, stdout).toBe(0)
    expect(stdout).toContain('BASE: the list at main does not have the root that stands beside it there')
  })

  it('fails if the folder, the base or the command is mistyped, or if it runs elsewhere', async () => {
    write('spring.csv', tokens('10', '2000'))
    mkdirSync(join(repository, 'docs'))
    writeFileSync(join(repository, 'docs/readme.md'), 'no list')
    await commit('a wrong root')
    const stopped = async (said: string, ...args: Parameters<typeof check>) =>
      expect(await check(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) })
    await stopped("there is no list (NAME.csv) in 'airdrop'", ['main', 'airdrop'])
    await stopped("there is no list (NAME.csv) in 'docs'", ['main', 'docs'])
    await stopped("there is no commit 'mian'", ['mian', 'airdrops'])
    await stopped('run it at the root', ['main', 'airdrops'], {}, join(repository, 'airdrops'))
    await stopped("'/nowhere/svc' does not run", undefined, { SVC: '/nowhere/svc' })
    expect((await check(['main', 'airdrops/'])).stdout).toContain('FAILED: airdrops/spring.root.txt does not match')
  })

  it('distinguishes an unreadable list, a wrong root, an invalid root and invalid decimals', async () => {
    write('spring.csv', `${tokens('10')}nobody,1\n`)
    await commit('fault')
    const broken = await check()
    expect(broken).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('airdrops/spring.csv:2:1: ') })
    expect(broken.stdout).toContain('FAILED: airdrops/spring.csv cannot be read as a list')
    expect(broken.stdout).not.toContain('does not match')

    write('spring.csv', tokens('10', '21'))
    const wrong = await check()
    expect(wrong).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('spring.root.txt does not match') })
    expect(wrong.stdout).not.toContain('cannot be read')

    write('spring.root.txt', 'soon\n')
    expect((await check()).stdout).toContain('FAILED: airdrops/spring.root.txt holds no root')
    write('spring.decimals.txt', 'six\n')
    expect((await check()).stdout).toContain("spring.decimals.txt must hold a number from 0 to 18, not 'six'")
  })

  it('refuses a renamed list, a root without a list, and a link', async () => {
    await git('mv', 'airdrops/spring.csv', 'airdrops/summer.csv')
    write('summer.csv', tokens('10', '20', '30'))
    await commit('renamed')
    const renamed = await check()
    expect(renamed.exitCode).toBe(1)
    expect(renamed.stdout).toContain('airdrops/spring.csv was removed')
    expect(renamed.stdout).toContain('FAILED: airdrops/summer.root.txt is missing')

    rmSync(join(repository, 'airdrops/summer.csv'))
    write('autumn.root.txt', rootOf(1n))
    symlinkSync('../elsewhere.csv', join(repository, 'airdrops/winter.csv'))
    await commit('others')
    const others = await check()
    expect(others.exitCode).toBe(1)
    expect(others.stdout).toContain('FAILED: airdrops/autumn.csv is missing')
    expect(others.stdout).toContain('FAILED: airdrops/winter.csv is a link')
  })

  it('checks uncommitted files too, with the program of its own clone if none is named', async () => {
    write('spring.csv', tokens('10', '25'))
    write('new.csv', tokens('1'))
    const { exitCode, stdout } = await check(undefined, { SVC: '' })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(new RegExp(`~ +${walletOf(1)} +20 +25`))
    expect(stdout).toContain('FAILED: airdrops/new.root.txt is missing')
    expect(stdout).toContain('2 changed lists checked')
  })
})
