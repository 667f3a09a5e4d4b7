/** Opens the database of this installation for `svc db` directly, even while a daemon runs. */
import { type Config, databasePlace } from '../../../src/settings/config.ts'
import { storeOptions } from '../../../src/store/open.ts'
import type { Database, DatabaseStatus, MigrationList } from '../../database/installation.ts'
import type { Asking } from '../passphrases.ts'
import { completeRestore } from './interrupted-restore.ts'
import { databaseKind, refuseBesideDaemon } from './place.ts'

export function createDatabase(loadConfig: () => Promise<Config>, ui: Asking): Database {
  const load = async () => completeRestore(await loadConfig())
  return {
    async status(): Promise<DatabaseStatus> {
      const config = await load()
      const { reportDatabase } = await import('../../../src/store/installation/report.ts')
      const report = await reportDatabase(storeOptions(config))
      const at = { database: databaseKind(config), place: databasePlace(config) }
      if (report === null) {
        const nothing = { applied: [], pending: [], faults: [], fingerprint: null, bytes: 0, wal_bytes: 0, tables: [] }
        return { ...at, exists: false, ...nothing }
      }
      const { kind: _, ...rest } = report
      return { ...at, exists: true, ...rest }
    },
    async parts(target) {
      const [{ installationParts }, backup] = await Promise.all([import('./parts.ts'), import('./backup.ts')])
      const config = await load()
      const parts = installationParts(config)
      await backup.recordingFailure(config, () => backup.requireRoom(config, target))
      return parts
    },
    async backup(request, onProgress) {
      const { recordedBackUp } = await import('./backup.ts')
      return recordedBackUp(await load(), request, { ui, onProgress })
    },
    async passphraseFor(path, options) {
      const { passphraseFor } = await import('./restore.ts')
      return passphraseFor(await load(), path, { ...options, ui })
    },
    async inspectBackup(path, passphrase) {
      const { inspectBackup } = await import('./restore.ts')
      return inspectBackup(await load(), path, passphrase)
    },
    async restore(path, options, onProgress) {
      const { restoreBackup } = await import('./restore.ts')
      return restoreBackup(await load(), path, options, onProgress)
    },
    async export(file, force, onProgress) {
      const { exportTo } = await import('./transfer.ts')
      return exportTo(await load(), file, force, onProgress)
    },
    async inspectExport(file) {
      const { inspectExport } = await import('./transfer.ts')
      return inspectExport(await load(), file)
    },
    async import(file, onProgress) {
      const { importFrom } = await import('./transfer.ts')
      return importFrom(await load(), file, onProgress)
    },
    migrations: async () => listMigrations(await load()),
    async migrate(copyFirst) {
      const config = await load()
      refuseBesideDaemon(config, 'it works with the schema as it is')
      const before = await listMigrations(config)
      const { openStore } = await import('../../../src/store/open.ts')
      let copy: string | null = null
      const onMigrated = (report: { copy: string | null }) => {
        copy = report.copy
      }
      await (await openStore({ ...storeOptions(config), copyFirst, onMigrated })).close()
      return { ...before, copy }
    },
  }
}

async function listMigrations(config: Config): Promise<MigrationList> {
  const at = { database: databaseKind(config), place: databasePlace(config) }
  const { reportMigrations } = await import('../../../src/store/installation/report.ts')
  return { ...at, ...(await reportMigrations(storeOptions(config))) }
}
