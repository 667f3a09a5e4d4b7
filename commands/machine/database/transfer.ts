/** Moves a whole database through a file: `svc db export` and `svc db import`. */
import { once } from 'node:events'
import { closeSync, createReadStream, createWriteStream, existsSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { makeDataFolder, openOwnFile, replaceWith } from '../../../src/platform/files.ts'
import type { Config } from '../../../src/settings/config.ts'
import { databasePlace } from '../../../src/settings/config.ts'
import { storeOptions } from '../../../src/store/open.ts'
import { runningDaemon } from '../../cli/connection.ts'
import type { ExportFacts, StepProgress, TransferReport } from '../../database/installation.ts'
import { failure, Problem, usage } from '../../ui/problem.ts'
import { BACKUP_LIST } from './backup-list.ts'
import { databaseKind, refuseBesideDaemon } from './place.ts'

/** Writes every table as of one moment to a file (0600), which gets its name once it is complete. */
export async function exportTo(
  config: Config,
  typed: string,
  force: boolean,
  onProgress: StepProgress,
): Promise<TransferReport> {
  const file = resolve(typed)
  if (existsSync(file) && !statSync(file).isFile()) throw usage(`${file} is not a file: choose another name`)
  if (existsSync(file) && !force) throw usage(`${file} already exists: replace it with --force`, { param: '--force' })
  if (!existsSync(dirname(file))) throw usage(`${dirname(file)} does not exist: make it, or choose another folder`)
  if (databaseKind(config) === 'sqlite' && !existsSync(databasePlace(config))) {
    throw new Problem('not_found', `there is no database in ${config.dataDir}`, { next: 'name it with --data-dir' })
  }
  const { exportDatabase } = await import('../../../src/store/transfer/export.ts')
  const daemon = runningDaemon(config)
  try {
    const exported = await withResult(file, (draft) =>
      writingLines(draft, (write) => exportDatabase(storeOptions(config), write, onProgress)),
    )
    return transferReport(config, file, exported, daemon?.pid ?? null)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw failure(`${file} cannot be written: ${code === 'ENOSPC' ? 'the disk is full' : code}`, { cause: error })
  }
}

/** Creates the file (0600) and passes a function that writes to it; resolves when everything is on disk. */
async function writingLines<T>(file: string, work: (write: (line: string) => Promise<void>) => Promise<T>): Promise<T> {
  const out = createWriteStream(file, { mode: 0o600, flags: 'wx', highWaterMark: 1024 * 1024 })
  const failed = once(out, 'error').then(([error]) => Promise.reject(error))
  // After the last wait, a failure is reported by the rejection of that wait.
  failed.catch(() => {})
  const write = async (line: string) => {
    if (!out.write(line)) await Promise.race([once(out, 'drain'), failed])
  }
  try {
    const result = await Promise.race([failed, work(write)])
    out.end()
    await Promise.race([once(out, 'close'), failed])
    syncFile(file)
    return result
  } finally {
    out.destroy()
  }
}

/** Reads the first line, and checks that the key of the export is configured. */
export async function inspectExport(config: Config, typed: string): Promise<ExportFacts> {
  const file = resolve(typed)
  if (existsSync(join(file, BACKUP_LIST))) throw usage(`${file} is a backup`, { next: `svc db restore ${typed}` })
  const { parseExportHeader } = await import('../../../src/store/transfer/import.ts')
  let first = ''
  const lines = exportLines(file)
  for await (const line of lines) {
    first = line
    break
  }
  const header = parseExportHeader(first)
  await requireExportKey(config, file, header.fingerprint)
  const { created_at, version, kind, fingerprint } = header
  return {
    file,
    created_at,
    version,
    from: kind,
    to: databaseKind(config),
    place: databasePlace(config),
    fingerprint,
  }
}

/** Fills the empty database of the configuration; meanwhile no daemon of the data folder can start. */
export async function importFrom(config: Config, typed: string, onProgress: StepProgress): Promise<TransferReport> {
  const { file } = await inspectExport(config, typed)
  refuseBesideDaemon(config, 'an import needs the database for itself')
  makeDataFolder(config.dataDir)
  const { lockFolder } = await import('../../../src/platform/folder-lock.ts')
  const unlock = await lockFolder(config.dataDir)
  if (unlock === undefined)
    throw new Problem('conflict', `a daemon runs on ${config.dataDir}`, { next: 'stop it first' })
  try {
    const { openStore } = await import('../../../src/store/open.ts')
    const { importDatabase } = await import('../../../src/store/transfer/import.ts')
    // Creates the database and its tables if there is none.
    await (await openStore(storeOptions(config))).close()
    return transferReport(config, file, await importDatabase(storeOptions(config), exportLines(file), onProgress), null)
  } finally {
    unlock()
  }
}

async function requireExportKey(config: Config, file: string, fingerprint: string | null): Promise<void> {
  if (fingerprint === null) return
  const { configuredVault } = await import('../../../src/store/installation/vault.ts')
  const own = configuredVault(config.dataDir, config.values['encryption-key'])?.fingerprint ?? null
  if (own === fingerprint) return
  const has = own === null ? 'no key is configured here' : `the key configured here has fingerprint ${own}`
  throw failure(`${file} was sealed with the encryption key of fingerprint ${fingerprint}, and ${has}`, {
    next: `set SVC_ENCRYPTION_KEY to that installation's key (with SQLite, the content of its encryption.key)`,
  })
}

/** The lines of a file that nobody else can write; only one is in memory, whatever its characters. */
async function* exportLines(file: string): AsyncGenerator<string> {
  const input = createReadStream(file, { fd: openOwnFile(file), encoding: 'utf8', highWaterMark: 1024 * 1024 })
  let begun: string[] = []
  try {
    for await (const chunk of input as AsyncIterable<string>) {
      const [first = '', ...more] = chunk.split('\n')
      begun.push(first)
      for (const next of more) {
        yield begun.join('')
        begun = [next]
      }
    }
    const last = begun.join('')
    if (last !== '') yield last
  } finally {
    input.destroy()
  }
}

/** Like `replaceWith`, with the result of `write`. */
async function withResult<T>(file: string, write: (draft: string) => Promise<T>): Promise<T> {
  const results: T[] = []
  await replaceWith(file, async (draft) => {
    results.push(await write(draft))
  })
  const [result] = results
  if (result === undefined) throw failure(`${file} was not written`)
  return result
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

type Transferred = Awaited<ReturnType<typeof import('../../../src/store/transfer/export.ts').exportDatabase>>

function transferReport(
  config: Config,
  file: string,
  { header, tables }: Transferred,
  daemon: number | null,
): TransferReport {
  return {
    file,
    database: databaseKind(config),
    place: databasePlace(config),
    fingerprint: header.fingerprint,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    bytes: statSync(file).size,
    tables,
    daemon,
  }
}
