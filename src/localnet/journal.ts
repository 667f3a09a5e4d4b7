/** Journal of the embedded chain: modified accounts, history and clock in one SQLite file that one process locks. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { makeDataFolder, makeOwnDatabase, writeAtomically } from '../platform/files.ts'
import type { ChainAccount } from '../solana/accounts.ts'
import { addressBytes, addressOf } from '../solana/addresses.ts'
import { openHistory } from './history.ts'

const JOURNAL_VERSION = 1
const COPY_NAME = /^chain\.copy-[0-9a-f]{16}\.db$/
/** Milliseconds for which a copy is kept unless its requester removes it. */
const COPY_LIFE_MS = 60_000
const SCHEMA = `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE accounts (
    address BLOB PRIMARY KEY, lamports INTEGER NOT NULL, owner BLOB NOT NULL, executable INTEGER NOT NULL, data BLOB NOT NULL
  );
  CREATE TABLE transactions (
    seq INTEGER PRIMARY KEY, signature BLOB NOT NULL UNIQUE, slot INTEGER NOT NULL, place INTEGER NOT NULL,
    block_time INTEGER NOT NULL, unit_price INTEGER NOT NULL, err TEXT, raw BLOB NOT NULL, meta TEXT NOT NULL
  );
  CREATE INDEX transactions_slot ON transactions (slot);
  CREATE TABLE mentions (
    address BLOB NOT NULL, seq INTEGER NOT NULL, writable INTEGER NOT NULL, PRIMARY KEY (address, seq)
  ) WITHOUT ROWID;
`

/** Another process has locked the chain's data folder. */
export class ChainLockedError extends Error {
  override readonly name = 'ChainLockedError'
  readonly file: string
  /** Id of the process that holds the lock, if it is known. */
  readonly pid: number | null

  constructor(file: string, pid: number | null) {
    const owner = pid === null ? 'another process' : `process ${pid}`
    super(`The embedded chain in ${file} is in use by ${owner}: use that one, stop it, or choose another data folder`)
    this.file = file
    this.pid = pid
  }
}

/** Another copy is refused so soon after the last, because the time it takes grows with the chain. */
export class CopyTooSoonError extends Error {
  override readonly name = 'CopyTooSoonError'
}

export interface ChainJournal extends ReturnType<typeof openHistory> {
  setting(name: string): Buffer | null
  saveSetting(name: string, value: Uint8Array | string): void
  /** Returns every modified account; genesis accounts that were closed have no lamports. */
  accounts(): Iterable<JournaledAccount>
  saveAccount(address: string, account: ChainAccount | null): void
  /** Deletes the record of an account that a new chain would not have. */
  dropAccount(address: string): void
  /** Runs `work` in one durable transaction. */
  commit<T>(work: () => T): T
  /**
   * Writes a copy of the file beside it and returns its path; only this process can read the locked file. Throws
   * CopyTooSoonError while the last copy is younger than a minute and still exists.
   */
  copy(): string
  close(): void
}

/**
 * Opens or creates `chain.db` in a folder; without a folder the journal is only in memory. Throws ChainLockedError.
 */
export function openJournal(Database: typeof BetterSqlite3, dataDir: string | null): ChainJournal {
  const db = dataDir === null ? openInMemory(Database) : openFile(Database, dataDir)
  const select = db.prepare<[string], Buffer>('SELECT value FROM settings WHERE name = ?').pluck()
  const save = db.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)')
  const saveAccount = db.prepare('INSERT OR REPLACE INTO accounts VALUES (?, ?, ?, ?, ?)')
  const dropAccount = db.prepare('DELETE FROM accounts WHERE address = ?')
  const small = db.prepare<[number], [last: number | null, records: Buffer | null]>(SMALL_ACCOUNTS).raw()
  const large = db.prepare<[], Buffer>(LARGE_ACCOUNTS).pluck()
  let copied: { file: string; at: number } | null = null
  const begin = db.transaction(<T>(work: () => T) => work())
  return {
    ...openHistory(db),
    setting: (name) => select.get(name) ?? null,
    saveSetting: (name, value) => void save.run(name, Buffer.from(value as Uint8Array)),
    *accounts() {
      for (let last: number | null = 0; ; ) {
        const [next, records]: [number | null, Buffer | null] = small.get(last) ?? [null, null]
        if (next === null || records === null) break
        yield* accountsIn(records)
        last = next
      }
      for (const record of large.iterate()) yield* accountsIn(record)
    },
    saveAccount(address, account) {
      const { lamports, owner, executable, data } = account ?? REMOVED_ACCOUNT
      saveAccount.run(addressBytes(address), BigInt.asIntN(64, lamports), addressBytes(owner), Number(executable), data)
    },
    dropAccount: (address) => void dropAccount.run(addressBytes(address)),
    commit: (work) => begin.immediate(work) as ReturnType<typeof work>,
    copy() {
      if (dataDir === null) throw new Error('a chain in memory has no file to copy')
      if (copied !== null && Date.now() - copied.at < COPY_LIFE_MS && existsSync(copied.file)) {
        throw new CopyTooSoonError('a copy of the chain was made less than a minute ago: try again then')
      }
      removeCopies(dataDir)
      const target = join(dataDir, `chain.copy-${randomBytes(8).toString('hex')}.db`)
      makeOwnDatabase(target)
      try {
        db.prepare('VACUUM INTO ?').run(target)
      } catch (error) {
        rmSync(target, { force: true })
        throw error
      }
      copied = { file: target, at: Date.now() }
      return target
    },
    close: () => void db.close(),
  }
}

function openInMemory(Database: typeof BetterSqlite3): BetterSqlite3.Database {
  const db = new Database(':memory:')
  prepareSchema(db, 'memory')
  return db
}

function openFile(Database: typeof BetterSqlite3, dataDir: string): BetterSqlite3.Database {
  makeDataFolder(dataDir)
  const file = join(dataDir, 'chain.db')
  const pidFile = join(dataDir, 'chain.pid')
  makeOwnDatabase(file)
  const db = new Database(file, { timeout: 0 })
  try {
    db.pragma('locking_mode = EXCLUSIVE')
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('wal_autocheckpoint = 2000')
    db.transaction(() => prepareSchema(db, file)).immediate()
  } catch (error) {
    db.close()
    if (isBusy(error)) throw new ChainLockedError(file, readPid(pidFile))
    throw error
  }
  writeAtomically(pidFile, `${process.pid}\n`)
  return db
}

/** Removes copies that were not fetched. */
export function removeCopies(dataDir: string): void {
  for (const name of readdirSync(dataDir)) if (COPY_NAME.test(name)) rmSync(join(dataDir, name), { force: true })
}

/** An account in the file's form, so that a chain of many accounts opens without converting addresses to text. */
export interface JournaledAccount {
  address: Buffer
  lamports: bigint
  owner: Buffer
  executable: boolean
  data: Buffer
}

/** An account as one text: 16 hex digits of lamports, one of executable, 8 of the length of its data, and its bytes. */
const ACCOUNT_RECORD = "printf('%016x%x%08x', lamports, executable, length(data)) || address || owner || data"
const RECORD_HEADER = 25
/**
 * Accounts up to this size are read in groups, because SQLite's binding takes longer per value than per byte.
 */
const SMALL_BYTES = 1_024
const SMALL_TOGETHER = 500
const SMALL_ACCOUNTS = `
  SELECT max(place), CAST(group_concat(record, '') AS BLOB) FROM (
    SELECT rowid AS place, ${ACCOUNT_RECORD} AS record FROM accounts
    WHERE rowid > ? AND length(data) <= ${SMALL_BYTES} ORDER BY rowid LIMIT ${SMALL_TOGETHER}
  )`
const LARGE_ACCOUNTS = `SELECT CAST(${ACCOUNT_RECORD} AS BLOB) FROM accounts WHERE length(data) > ${SMALL_BYTES}`

/** Reads consecutive records. Accounts' data is a view of their bytes. */
function* accountsIn(records: Buffer): Iterable<JournaledAccount> {
  for (let at = 0; at < records.length; ) {
    const header = records.toString('latin1', at, at + RECORD_HEADER)
    const start = at + RECORD_HEADER
    at = start + 64 + Number.parseInt(header.slice(17), 16)
    yield {
      address: records.subarray(start, start + 32),
      lamports: BigInt(`0x${header.slice(0, 16)}`),
      owner: records.subarray(start + 32, start + 64),
      executable: header[16] !== '0',
      data: records.subarray(start + 64, at),
    }
  }
}

const REMOVED_ACCOUNT: ChainAccount = {
  lamports: 0n,
  owner: addressOf(new Uint8Array(32)),
  data: Buffer.alloc(0),
  executable: false,
}

function prepareSchema(db: BetterSqlite3.Database, file: string): void {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > JOURNAL_VERSION) {
    throw new Error(`${file} was written by a newer release (version ${version}): upgrade, or reset the embedded chain`)
  }
  if (version === 0) {
    db.exec(SCHEMA)
    db.pragma(`user_version = ${JOURNAL_VERSION}`)
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}

function readPid(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : null
  } catch {
    return null
  }
}
