/** A restore that is stopped between any two steps leaves the old files or the new, and never some of each. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { lockFolder } from '../../src/platform/folder-lock.ts'
import { DATABASE_FILE, RESTORE_FILE } from '../../src/settings/config.ts'
import { openStore } from '../../src/store/open.ts'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { type RestoreSwitch, switchFiles } from '../../src/store/transfer/restore-switch.ts'
import { temporaryFolder } from '../store/databases.ts'
import { copyMigrated } from '../store/migrated.ts'
import { token } from '../store/rows.ts'

const PLAN: RestoreSwitch = {
  staged: '.restore-abc',
  aside: 'before-restore-1',
  files: [DATABASE_FILE, 'encryption.key', 'operator.key'],
}

/** A database with one token, closed in the middle of its write-ahead log where `open` says so. */
async function withToken(folder: string, mint: string): Promise<void> {
  await copyMigrated(folder)
  const store = await openStore({ dataDir: folder })
  await store.write((tx) => insertToken(tx, token(mint)))
  await store.close()
}

async function mints(dataDir: string): Promise<string[]> {
  const store = await openStore({ dataDir })
  try {
    return (await pageTokens(store.db, { limit: 10 })).rows.map(({ mint }) => mint)
  } finally {
    await store.close()
  }
}

/** A data folder in use, with the files of a restore prepared in it. */
async function prepared(): Promise<string> {
  const dataDir = temporaryFolder()
  await withToken(dataDir, 'old')
  const staged = join(dataDir, PLAN.staged)
  mkdirSync(staged, { mode: 0o700 })
  await withToken(staged, 'new')
  for (const name of ['encryption.key', 'operator.key']) {
    writeFileSync(join(dataDir, name), `old ${name}`, { mode: 0o600 })
    writeFileSync(join(staged, name), `new ${name}`, { mode: 0o600 })
  }
  return dataDir
}

const keys = (folder: string) =>
  ['encryption.key', 'operator.key'].map((name) => readFileSync(join(folder, name), 'utf8'))

async function expectNew(dataDir: string) {
  expect(await mints(dataDir)).toEqual(['new'])
  expect(keys(dataDir)).toEqual(['new encryption.key', 'new operator.key'])
  expect(existsSync(join(dataDir, RESTORE_FILE))).toBe(false)
  expect(existsSync(join(dataDir, PLAN.staged))).toBe(false)
  const aside = join(dataDir, PLAN.aside)
  expect(keys(aside)).toEqual(['old encryption.key', 'old operator.key'])
  expect(await mints(aside)).toEqual(['old'])
}

/** The renames of a switch, in order. */
const MOVES = PLAN.files.flatMap((name) => [
  [name, join(PLAN.aside, name)],
  [join(PLAN.staged, name), name],
])

describe('a restore', () => {
  it('replaces the files and keeps the old ones', async () => {
    const dataDir = await prepared()
    await switchFiles(dataDir, PLAN)
    await expectNew(dataDir)
  })

  it.each(MOVES.map((_, n) => n).concat(MOVES.length))(
    'that was stopped after %i renames is completed by the next process that opens the database',
    async (done) => {
      const dataDir = await prepared()
      writeFileSync(join(dataDir, RESTORE_FILE), JSON.stringify(PLAN), { mode: 0o600 })
      mkdirSync(join(dataDir, PLAN.aside), { mode: 0o700 })
      for (const [from, to] of MOVES.slice(0, done)) renameSync(join(dataDir, from!), join(dataDir, to!))
      await expectNew(dataDir)
    },
  )

  it('that was stopped before its plan was written has changed nothing', async () => {
    const dataDir = await prepared()
    expect(await mints(dataDir)).toEqual(['old'])
    expect(keys(dataDir)).toEqual(['old encryption.key', 'old operator.key'])
  })

  it('is completed once if several open the database together', async () => {
    const dataDir = await prepared()
    writeFileSync(join(dataDir, RESTORE_FILE), JSON.stringify(PLAN), { mode: 0o600 })
    expect(await Promise.all([mints(dataDir), mints(dataDir), mints(dataDir)])).toEqual([['new'], ['new'], ['new']])
    await expectNew(dataDir)
  })

  it('changes nothing while another process has the database open', async () => {
    const dataDir = await prepared()
    const store = await openStore({ dataDir })
    const before = readdirSync(dataDir).sort()
    await expect(switchFiles(dataDir, PLAN)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/another process has .*svc\.db open: stop it/),
    })
    expect(readdirSync(dataDir).sort()).toEqual(before)
    await store.write((tx) => insertToken(tx, token('later')))
    await store.close()
    expect(await mints(dataDir)).toEqual(['later', 'old'])
    await switchFiles(dataDir, PLAN)
    expect(await mints(dataDir)).toEqual(['new'])
  })

  it('keeps the rows that were only in the old write-ahead log', async () => {
    const dataDir = await prepared()
    // As a killed process leaves it: the log is not part of the database file yet.
    const killed = new Database(join(dataDir, DATABASE_FILE))
    killed.pragma('journal_mode = WAL')
    killed.exec(
      "insert into tokens (mint, status, token_program, raw_json, created_at) values ('logged', 'created', 'spl', '{}', 1)",
    )
    const copy = temporaryFolder()
    cpSync(dataDir, copy, { recursive: true })
    killed.close()
    await switchFiles(copy, PLAN)
    expect(await mints(join(copy, PLAN.aside))).toEqual(['logged', 'old'])
    expect(await mints(copy)).toEqual(['new'])
  })

  it('replaces a damaged database', async () => {
    const dataDir = await prepared()
    writeFileSync(join(dataDir, DATABASE_FILE), 'x'.repeat(8192))
    await switchFiles(dataDir, PLAN)
    expect(await mints(dataDir)).toEqual(['new'])
    expect(readFileSync(join(dataDir, PLAN.aside, DATABASE_FILE), 'utf8')).toBe('x'.repeat(8192))
  })

  it('that another process runs is waited for, and a plan with a path elsewhere is refused', async () => {
    const dataDir = await prepared()
    const unlock = (await lockFolder(dataDir))!
    writeFileSync(join(dataDir, RESTORE_FILE), JSON.stringify({ ...PLAN, files: ['../svc.db'] }), { mode: 0o600 })
    const opening = openStore({ dataDir })
    unlock()
    await expect(opening).rejects.toThrow(/restore\.json was not written by svc/)
  })
})
