/** Who holds a file's lock: the system's list and SQLite itself give the same answer. */
import { existsSync, linkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { holdLock, isListedHolder, isLocked } from '../src/file-lock.ts'
import { makeOwnDatabase } from '../src/files.ts'
import { makeSharedFolder } from './support/shared-folder.ts'

const hasList = existsSync('/proc/locks')
const folder = makeSharedFolder('svc-file-lock-')

describe('a lock', () => {
  it.runIf(hasList)('is listed for its holder alone, while it is held', async () => {
    const file = join(folder, 'held.lock')
    makeOwnDatabase(file)
    expect(isListedHolder(file, process.pid)).toBe(false)
    const release = await holdLock(file, 100)
    try {
      expect(isListedHolder(file, process.pid)).toBe(true)
      expect(isListedHolder(file, process.ppid)).toBe(false)
    } finally {
      release?.()
    }
    expect(isListedHolder(file, process.pid)).toBe(false)
    expect(isLocked(file)).toBe(false)
  })

  it.runIf(hasList)('of another process is seen by both, and by neither once that process is killed', async () => {
    const file = join(folder, 'other.lock')
    makeOwnDatabase(file)
    const script = `const database = new (require('better-sqlite3'))(${JSON.stringify(file)})
      database.exec('BEGIN EXCLUSIVE')
      process.stdout.write('held')
      process.stdin.resume()`
    const holder = execa('node', ['-e', script], { reject: false, stdin: 'pipe' })
    await new Promise((resolve) => holder.stdout.once('data', resolve))
    const pid = holder.pid ?? 0
    expect([isListedHolder(file, pid), isLocked(file)]).toEqual([true, true])
    holder.kill('SIGKILL')
    await holder
    expect([isListedHolder(file, pid), isLocked(file)]).toEqual([false, false])
  })

  it.runIf(hasList)('of a reader or a writer that leaves room for readers is no such lock', async () => {
    const { loadSqlite } = await import('../src/native-modules.ts')
    const file = join(folder, 'shared.lock')
    makeOwnDatabase(file)
    const database = new (loadSqlite())(file)
    database.exec('CREATE TABLE t (x); BEGIN; SELECT * FROM t')
    expect(isListedHolder(file, process.pid)).toBe(false)
    database.exec('COMMIT; BEGIN IMMEDIATE')
    expect(isListedHolder(file, process.pid)).toBe(false)
    database.close()
  })

  it('is not looked for in what is no file of its own', () => {
    const file = join(folder, 'plain')
    writeFileSync(file, '')
    linkSync(file, join(folder, 'second-name'))
    symlinkSync(file, join(folder, 'link'))
    for (const name of ['plain', 'link', 'missing', '.']) {
      expect(isListedHolder(join(folder, name), process.pid)).toBe(false)
    }
  })
})
