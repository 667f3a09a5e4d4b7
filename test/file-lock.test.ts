/** Locks on files: seen by every process while they are held, and released when their holder ends in any way. */
import { linkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { holdLock, isHeldBy, isLocked } from '../src/platform/file-lock.ts'
import { makeOwnDatabase } from '../src/platform/files.ts'
import { makeSharedFolder } from './support/shared-folder.ts'

const folder = makeSharedFolder('svc-file-lock-')

describe('a lock', () => {
  it('is visible while it is held, and gone once it is released', async () => {
    const file = join(folder, 'held.lock')
    makeOwnDatabase(file)
    expect(isLocked(file)).toBe(false)
    const release = await holdLock(file, 100)
    expect([isLocked(file), isHeldBy(file, process.pid)]).toEqual([true, true])
    expect(await holdLock(file, 0)).toBeUndefined()
    release?.()
    expect([isLocked(file), isHeldBy(file, process.pid)]).toEqual([false, false])
  })

  it('of another process is visible while that process runs, and released when it is killed', async () => {
    const file = join(folder, 'other.lock')
    makeOwnDatabase(file)
    const script = `const database = new (require('better-sqlite3'))(${JSON.stringify(file)})
      database.exec('BEGIN EXCLUSIVE')
      process.stdout.write('held')
      process.stdin.resume()`
    const holder = execa('node', ['-e', script], { reject: false, stdin: 'pipe' })
    await new Promise((resolve) => holder.stdout.once('data', resolve))
    const pid = holder.pid ?? 0
    expect([isHeldBy(file, pid), isLocked(file)]).toEqual([true, true])
    holder.kill('SIGKILL')
    await holder
    expect([isHeldBy(file, pid), isLocked(file)]).toEqual([false, false])
  })

  it('of an ended process does not count while another process holds the file', async () => {
    const ended = execa('node', ['-e', '0'])
    await ended
    const file = join(folder, 'reused.lock')
    makeOwnDatabase(file)
    const release = await holdLock(file, 100)
    expect(isHeldBy(file, ended.pid ?? 0)).toBe(false)
    release?.()
  })

  it('on a file with other content is refused, with the file to remove', async () => {
    const file = join(folder, 'other-content.lock')
    writeFileSync(file, 'x'.repeat(4_096), { mode: 0o600 })
    expect(isLocked(file)).toBe(false)
    await expect(holdLock(file, 0)).rejects.toThrow(`${file} is not a lock of svc: remove it`)
  })

  it('is exclusive: neither readers nor shared writers can hold it too', async () => {
    const { loadSqlite } = await import('../src/platform/native-modules.ts')
    const file = join(folder, 'shared.lock')
    makeOwnDatabase(file)
    const database = new (loadSqlite())(file)
    database.exec('CREATE TABLE t (x); BEGIN; SELECT * FROM t')
    expect(isLocked(file)).toBe(false)
    database.exec('COMMIT; BEGIN IMMEDIATE')
    expect(isLocked(file)).toBe(false)
    database.close()
  })

  it('is never reported for an unlocked file, a link, a folder or a missing file', () => {
    const file = join(folder, 'plain')
    writeFileSync(file, '')
    linkSync(file, join(folder, 'second-name'))
    symlinkSync(file, join(folder, 'link'))
    for (const name of ['plain', 'second-name', 'link', 'missing', '.']) {
      expect(isLocked(join(folder, name))).toBe(false)
    }
  })
})
