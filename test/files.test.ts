/** Private files: what is made is this user's alone, and looking at a database leaves its locks as they are. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { execa } from 'execa'
import { expect, it, onTestFinished } from 'vitest'
import { makeOwnDatabase, readOwn, writeAtomically } from '../src/platform/files.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The refusal for another process that wants to write. */
async function elsewhere(file: string): Promise<string> {
  const script = `
    const Database = require('better-sqlite3')
    try { new Database(process.argv[1], { timeout: 0 }).exec('begin exclusive'); console.log('free') }
    catch (error) { console.log(error.code) }`
  const root = resolve(import.meta.dirname, '..')
  return (await execa(process.execPath, ['-e', script, file], { cwd: root })).stdout
}

it.each(['delete', 'wal'])(
  'a database in journal mode %s keeps the lock of this process when it is inspected',
  async (mode) => {
    const file = join(temporaryFolder(), 'a.db')
    makeOwnDatabase(file)
    const database = new Database(file)
    onTestFinished(() => void database.close())
    database.pragma(`journal_mode = ${mode}`)
    database.exec('create table t (n); begin exclusive; insert into t values (1)')
    expect(await elsewhere(file)).toBe('SQLITE_BUSY')
    makeOwnDatabase(file)
    expect(await elsewhere(file)).toBe('SQLITE_BUSY')
  },
)

it('a database and the files of SQLite beside it are private, and refused if other users could write them', () => {
  const file = join(temporaryFolder(), 'a.db')
  for (const suffix of ['', '-wal', '-shm', '-journal']) writeFileSync(file + suffix, '', { mode: 0o644 })
  makeOwnDatabase(file)
  for (const suffix of ['', '-wal', '-shm', '-journal']) expect(statSync(file + suffix).mode & 0o777).toBe(0o600)
  chmodSync(`${file}-wal`, 0o620)
  expect(() => makeOwnDatabase(file)).toThrow(/a\.db-wal can be written by others \(mode 620\); chmod go-w/)
  rmSync(`${file}-wal`)
  symlinkSync('/nowhere', `${file}-wal`)
  expect(() => makeOwnDatabase(file)).toThrow(/a\.db-wal: it is a symbolic link; use the file itself$/)
})

it('a file that is replaced is private and leaves no draft behind', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'a.json')
  writeFileSync(file, 'before', { mode: 0o644 })
  writeAtomically(file, 'after')
  expect([readOwn(file, { secret: true }), statSync(file).mode & 0o777]).toEqual(['after', 0o600])
  expect(() => writeAtomically(join(folder, 'missing', 'a.json'), 'x')).toThrow('ENOENT')
  expect(readdirSync(folder)).toEqual(['a.json'])
})
