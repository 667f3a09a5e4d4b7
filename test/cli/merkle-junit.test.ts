/** The JUnit report of `svc merkle`: faults by line and column, whatever a list or its name holds, and never half a file. */
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { naiveRoot, walletOf } from '../merkle/reference.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const junit = join(cli.home, 'report.xml')
const root = naiveRoot([{ wallet: walletOf(0), amount: 10n }])
const report = () => readFileSync(junit, 'utf8')
/** What XML allows beside what is escaped: a reader gives the texts back as they were. */
const attribute = (name: string) =>
  Array.from(report().matchAll(new RegExp(`(?<= )${name}="([^"<]*)"`, 'g')), ([, text = '']) =>
    text.replace(
      /&(amp|lt|gt|quot|apos);/g,
      (_, e: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" })[e]!,
    ),
  )
const svc = (...args: string[]) => cli.svc(['merkle', ...args, '--junit', junit, '-o', 'json'])

beforeEach(() => rmSync(junit, { force: true }))

describe('--junit of svc merkle', () => {
  it('has one passed test case if a list has its root, and does not change the answer', async () => {
    const list = cli.file('good.csv', `${walletOf(0)},10\n`)
    const { exitCode, stdout } = await svc('verify', list, '--root', root)
    expect([exitCode, JSON.parse(stdout).valid]).toEqual([0, true])
    expect(report()).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites tests="1" failures="0" errors="0">',
        `  <testsuite name="${list}" tests="1" failures="0" errors="0" skipped="0">`,
        `    <testcase classname="${list}" name="check"/>`,
        '  </testsuite>',
        '</testsuites>',
        '',
      ].join('\n'),
    )
  })

  it('names each fault of a list by file, line and column, for build, verify and diff', async () => {
    const good = cli.file('good.csv', `${walletOf(0)},10\n`)
    const bad = cli.file('bad.csv', `${walletOf(0)},10\nnobody,1\n${walletOf(1)},-3\n`)
    for (const args of [
      ['build', bad, '--mint', walletOf(5)],
      ['verify', bad, '--root', root],
      ['diff', good, bad],
    ]) {
      rmSync(junit, { force: true })
      const { exitCode, stderr } = await svc(...args)
      expect(exitCode, args[0]).toBe(2)
      const { issues } = JSON.parse(stderr).error.details
      expect(issues).toHaveLength(2)
      expect(attribute('line')).toEqual(['2', '3'])
      expect(attribute('file')).toEqual([bad, bad])
      expect(attribute('message')).toEqual(issues.map(({ message }: { message: string }) => message))
      expect(report()).toMatch(/name="line 2, column 1" file=/)
      expect(report()).toContain('<testsuites tests="2" failures="2" errors="0">')
    }
  })

  it('says what the root is instead, counts faults that are not listed, and reports a missing list as an error', async () => {
    const list = cli.file('good.csv', `${walletOf(0)},11\n`)
    expect((await svc('verify', list, '--root', root)).exitCode).toBe(1)
    expect(attribute('message')).toEqual([expect.stringContaining(`expected ${root}`)])
    expect((await svc('verify', cli.file('many.csv', 'nobody,1\n'.repeat(130)), '--root', root)).exitCode).toBe(2)
    expect(report()).toContain('<testsuites tests="101" failures="101" errors="0">')
    expect(attribute('message').at(-1)).toBe('30 more faults are not listed')
    expect((await svc('verify', join(cli.home, 'absent.csv'), '--root', root)).exitCode).toBe(2)
    expect(attribute('message')).toEqual([expect.stringContaining('there is no such file')])
    expect(report()).toContain('failures="0" errors="1"')
  })

  it('fails only with --exit-code of diff', async () => {
    const [one, other] = [cli.file('1.csv', `${walletOf(0)},1\n`), cli.file('2.csv', `${walletOf(0)},2\n`)]
    expect((await svc('diff', one, other)).exitCode).toBe(0)
    expect(report()).toContain('failures="0"')
    expect((await svc('diff', one, other, '--exit-code')).exitCode).toBe(1)
    expect(attribute('message')).toEqual([expect.stringMatching(/Root [0-9a-f]{64} → [0-9a-f]{64}/)])
  })

  it('escapes names and cells, also invisible characters', async () => {
    const bad = cli.file(`a"'<b>&]]>\u001b\u202e.csv`, `"<&'\u0001\uffff""]]>",1\n`)
    expect((await svc('verify', bad, '--root', root)).exitCode).toBe(2)
    expect(report()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e\ufffe\uffff]/)
    expect(report().replaceAll(/&(quot|apos|lt|gt|amp);/g, '')).not.toContain('&')
    expect(attribute('file')).toEqual([bad.replaceAll('\u001b', '\\u001b').replaceAll('\u202e', '\\u202e')])
    expect(report().match(/<(testcase|failure)\b/g)).toHaveLength(2)
  })

  it('replaces a link but not its target, leaves no unfinished file, and names a missing folder', async () => {
    const list = cli.file('good.csv', `${walletOf(0)},10\n`)
    const victim = cli.file('victim.txt', 'mine')
    symlinkSync(victim, junit)
    expect((await svc('verify', list, '--root', root)).exitCode).toBe(0)
    expect(readFileSync(victim, 'utf8')).toBe('mine')
    expect(lstatSync(junit).isFile()).toBe(true)
    expect(readdirSync(dirname(junit)).filter((name) => name.startsWith('report.xml'))).toEqual(['report.xml'])
    const absent = join(cli.home, 'absent/report.xml')
    const refused = await cli.svc(['merkle', 'verify', list, '--root', root, '--junit', absent])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain(`${absent} cannot be written`)
    expect(existsSync(absent)).toBe(false)
    expect((await cli.svc(['merkle', 'verify', list, '--root', root, '--junit', '-'])).exitCode).toBe(2)
  })
})
