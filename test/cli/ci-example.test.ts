/** The script of examples/ci in a real repository: what it lets through, and what it stops. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { naiveRoot, type Recipient, walletOf } from '../merkle/reference.ts'
import { commandLine, PROGRAM } from './command-line.ts'

const cli = commandLine()
const repository = join(cli.home, 'repository')
const SCRIPT = resolve(import.meta.dirname, '../../examples/ci/check-airdrops.sh')
const summary = join(cli.home, 'summary.md')

const git = (...args: string[]) =>
  execa('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd: repository,
  })
const check = () =>
  execa(SCRIPT, ['main', 'airdrops'], {
    cwd: repository,
    env: { ...cli.env, SVC: `${process.execPath} ${PROGRAM}`, GITHUB_STEP_SUMMARY: summary, CI: 'true' },
    extendEnv: false,
    reject: false,
  })
const write = (name: string, text: string) => writeFileSync(join(repository, 'airdrops', name), text)
const recipients = (...amounts: number[]): Recipient[] =>
  amounts.map((amount, i) => ({ wallet: walletOf(i), amount: BigInt(amount) }))
const csv = (list: Recipient[]) =>
  `wallet,amount\n${list.map(({ wallet, amount }) => `${wallet},${amount}\n`).join('')}`

describe('examples/ci', () => {
  it('shows what changed, and stops a root that is not that of its list', async () => {
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
    expect(right.stdout).toContain('1 changed lists checked')
    expect(readFileSync(summary, 'utf8')).toContain('## airdrops/spring.csv')
  })

  it('stops a new list without a root, reads decimals beside it, and stops a list with a fault', async () => {
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
    write('new.csv', `${walletOf(1)},1.5\nnobody,1\n`)
    await git('commit', '-qam', 'fault')
    expect(await check()).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('airdrops/new.csv:2:1: ') })
  })
})
