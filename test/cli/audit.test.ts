/** `svc audit cut` and `svc audit verify --file`: the file is whole before anything is removed, and is proven afterwards. */
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openService, testClock } from '../support/service.ts'
import { commandLine, onTerminal } from './command-line.ts'

const DAY = 86_400_000
const cli = commandLine()
const { svc } = cli
const ENTRIES = 120

/** A log of which most is more than a year old. */
beforeAll(async () => {
  mkdirSync(cli.dataDir, { mode: 0o700 })
  const clock = testClock(Date.now() - 500 * DAY)
  const service = await openService({ dataDir: cli.dataDir, clock })
  clock.advance(DAY)
  // The first entry is that of the operator's key.
  for (let n = 1; n < ENTRIES; n++) {
    const { status } = await service.request('POST', '/v2/api-keys', { body: { name: `key ${n}` } })
    expect(status).toBe(201)
    clock.advance(DAY)
  }
  clock.advance(300 * DAY)
  await service.request('POST', '/v2/api-keys', { body: { name: 'young' } })
  await service.close()
})

const { json } = cli

describe('svc audit cut', () => {
  it('removes nothing that is recent, without a yes, or without an own file', async () => {
    const none = await svc(['audit', 'cut', 'none.jsonl', '--keep-days', '3650', '--yes'])
    expect([none.exitCode, none.stdout]).toEqual([0, 'Nothing is older than 3650 days; nothing was removed.\n'])
    await cli.refused(['audit', 'cut', 'first.jsonl', '--no-input'], '--yes')
    const declined = await onTerminal(
      cli,
      ['audit', 'cut', 'declined.jsonl'],
      [['Remove the entries 1 to 120 from the log? declined.jsonl is then the only copy.', 'n']],
      200,
    )
    expect(declined.exitCode, declined.screen).toBe(130)
    const declinedFile = join(cli.home, 'declined.jsonl')
    const lines = readFileSync(declinedFile, 'utf8').trimEnd().split('\n')
    for (const [content, why] of [
      ['notes\n', 'is not a complete export'],
      ['', 'does not hold the beginning of this log'],
      [`${lines.slice(1).join('\n')}\n`, 'does not hold the beginning of this log'],
      [`${lines.toSpliced(7, 1).join('\n')}\n`, 'entry 8 is missing'],
    ] as const) {
      writeFileSync(join(cli.home, 'there.jsonl'), content)
      const there = await svc(['audit', 'cut', 'there.jsonl', '--yes'])
      expect([there.exitCode, there.stderr]).toEqual([2, expect.stringContaining('there.jsonl already exists')])
      expect(there.stderr.replace(/\s+/g, ' ')).toContain(why)
      expect(readFileSync(join(cli.home, 'there.jsonl'), 'utf8')).toBe(content)
    }
    await cli.refused(
      ['audit', 'cut', 'declined.jsonl', '--keep-days', '450', '--yes'],
      'holds entries of the last 450 days',
    )
    await cli.refused(['audit', 'cut', 'no/folder.jsonl', '--yes'], 'cannot be written')
    await cli.refused(
      ['audit', 'list', '--action', 'none'],
      /--action must be one of \d+ values[\s\S]*`svc audit list --help`/,
    )
    await cli.refused(['audit', 'cut', 'short.jsonl', '--keep-days', '1', '--yes'], '--keep-days')
    expect((await json(['audit', 'verify'])).entries).toBe(ENTRIES + 1)
    // Refused and declined cuts leave no draft.
    expect(readdirSync(cli.home).filter((name) => name.includes('.jsonl.'))).toEqual([])
  })

  it('moves old entries to a file, and both parts can be verified', async () => {
    const before = await json(['audit', 'list', '--order', 'asc', '--all'])
    // As a cut that was killed when its file was written.
    renameSync(join(cli.home, 'declined.jsonl'), join(cli.home, 'old.jsonl'))
    const moved = await svc(['audit', 'cut', 'old.jsonl', '--yes'])
    expect([moved.exitCode, moved.stdout]).toEqual([
      0,
      'Moved 120 entries, 1 to 120, to old.jsonl. Keep it: it is the only copy.\n',
    ])
    const file = join(cli.home, 'old.jsonl')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(before.slice(0, ENTRIES))
    const left = await json(['audit', 'list', '--order', 'asc', '--all'])
    expect(left.map(({ action }: { action: string }) => action)).toEqual(['api_key.created', 'audit.cut'])
    const whole = await svc(['audit', 'verify'])
    expect(whole.stdout).toBe(
      `2 entries after entry 120, where the log was cut, all intact. Head: ${left.at(-1).hash}\n`,
    )
    const proven = await svc(['audit', 'verify', '--file', 'old.jsonl'])
    expect([proven.exitCode, proven.stdout]).toEqual([
      0,
      'old.jsonl: 120 entries, 1 to 120, all intact, and the log continues them.\n',
    ])
    // As one that was killed when the entries were removed.
    const repeated = await svc(['audit', 'cut', 'old.jsonl', '--yes'])
    expect([repeated.exitCode, repeated.stdout]).toEqual([
      0,
      'The entries 1 to 120 were moved to old.jsonl before. Keep it: it is the only copy.\n',
    ])
    await cli.refused(['audit', 'cut', 'old.jsonl', '--keep-days', '2', '--yes'], 'holds what was cut before')
    const again = await svc(['audit', 'cut', 'older.jsonl', '--yes'])
    expect(again.stdout).toBe('Nothing is older than 365 days; nothing was removed.\n')
    const next = await svc(['audit', 'cut', 'next.jsonl', '--keep-days', '2', '--yes'])
    expect(next.stdout).toContain('Moved 1 entry, 121 to 121')
    for (const name of ['old.jsonl', 'next.jsonl'])
      expect((await svc(['audit', 'verify', '--file', name])).exitCode, name).toBe(0)
  })

  it('reports a file that was changed, cut short, or belongs to another log', async () => {
    const lines = readFileSync(join(cli.home, 'old.jsonl'), 'utf8').trimEnd().split('\n')
    const verdict = async (changed: string[]) => {
      writeFileSync(join(cli.home, 'changed.jsonl'), changed.map((line) => `${line}\n`).join(''))
      const { exitCode, stdout, stderr } = await svc(['audit', 'verify', '--file', 'changed.jsonl'])
      return [exitCode, `${stdout}${stderr}`]
    }
    const fifth = lines[4]!
    for (const [changed, what] of [
      [fifth.replace('key 4', 'key 5'), 'its details'],
      [fifth.replaceAll('key 4', 'key 5'), 'its fields'],
      [fifth.replace('"api_key_id":"', '"api_key_id":"x'), 'its fields'],
    ] as const) {
      const message = `changed.jsonl:5 is not valid: ${what} are not those that were hashed`
      expect(await verdict(lines.with(4, changed))).toEqual([1, expect.stringContaining(message)])
    }
    expect(await verdict(lines.toSpliced(7, 1))).toEqual([
      1,
      expect.stringContaining('changed.jsonl:8 is not valid: entry 8 is missing'),
    ])
    expect(await verdict(['{', ...lines])).toEqual([1, expect.stringContaining('changed.jsonl:1 is not valid')])
    expect(await verdict(lines.slice(0, -1))).toEqual([1, expect.stringContaining('no entry has the hash')])
    expect(await verdict([])).toEqual([2, expect.stringContaining('holds no entries')])
    const both = await svc(['audit', 'verify', '--file', 'old.jsonl', '--head', 'ab'.repeat(32)])
    expect(both.exitCode).toBe(2)
    await cli.refused(['audit', 'verify', '--file', 'absent.jsonl'], 'there is no such file')
  })
})
