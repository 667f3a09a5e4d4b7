/** Checks that a database and its key files belong to the same installation, and reports missing parts and the remedy. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { FileFault } from '../../platform/files.ts'
import { DATABASE_FILE, ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE } from '../../settings/config.ts'
import { isEmptyWhenNew, TABLES } from '../schema.ts'
import { findSetting, settleSetting } from '../settings.ts'
import type { Store } from '../store.ts'

export const KEY_VARIABLE = 'SVC_ENCRYPTION_KEY'

export const FINGERPRINT = 'vault_fingerprint'
/**
 * Setting stored before the first key file is created. If the database lacks it, a key file in the folder belongs to
 * another database.
 */
const KEY_CREATION_STARTED = 'vault_begun'

interface InstallationPlace {
  store: Store
  dataDir: string
  /** Whether the key comes from the environment rather than from the file in `dataDir`. */
  keyFromEnvironment: boolean
}

/** Fingerprint of the key that sealed this database; null before the first key. */
export const sealedWith = (store: Store) => findSetting(store.db, FINGERPRINT)

/** Stores the fingerprint unless one exists. Returns the stored one. */
export const settleFingerprint = (store: Store, fingerprint: string) =>
  store.write((tx) => settleSetting(tx, FINGERPRINT, fingerprint))

export const markKeyCreation = (store: Store) => store.write((tx) => settleSetting(tx, KEY_CREATION_STARTED, 'yes'))

/**
 * Returns the fingerprint of this database, or null for a new one. Throws internal_error for a database with data but
 * without a fingerprint, and for an empty one next to key files of another database.
 */
export async function requireInstallation(place: InstallationPlace): Promise<string | null> {
  const { store } = place
  const known = await sealedWith(store)
  if (known !== null) return known
  const fault = (await holdsRows(store)) ? foreignDatabase(place) : await orphanedKeyFault(place)
  // Another process may have created this installation meanwhile; it stores the fingerprint before anything else.
  return fault === undefined ? null : sealedWith(store).then((settled) => settled ?? Promise.reject(fault))
}

/** Reports the expected key and the location of the key that was found. */
export function otherKey(place: InstallationPlace, own: string, expected: string): FileFault {
  const holder = place.keyFromEnvironment ? KEY_VARIABLE : join(place.dataDir, ENCRYPTION_KEY_FILE)
  return installationRefusal(
    `${databaseName(place)} was sealed with the encryption key of fingerprint ${expected}, but ${holder} has the key of ${own}: ` +
      'they belong to two installations, or the key was replaced',
    `restore the earlier ${KEY_VARIABLE}, or the earlier ${ENCRYPTION_KEY_FILE} with ${KEY_VARIABLE} unset, or choose another ${alternative(place)}`,
  )
}

const foreignDatabase = (place: InstallationPlace): FileFault =>
  installationRefusal(
    `${databaseName(place)} has data but no fingerprint of an encryption key: another program made it, or it was changed`,
    `restore it from a backup, or choose another ${alternative(place)}`,
  )

/** Returns undefined for a new database in a folder without key files of an earlier one. */
async function orphanedKeyFault(place: InstallationPlace): Promise<FileFault | undefined> {
  const { store, dataDir, keyFromEnvironment } = place
  const files = (keyFromEnvironment ? [OPERATOR_KEY_FILE] : [ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE]).filter((name) =>
    existsSync(join(dataDir, name)),
  )
  if (files.length === 0 || (await findSetting(store.db, KEY_CREATION_STARTED)) !== null) return undefined
  const named = files.join(' and ')
  return installationRefusal(
    `${databaseName(place)} is empty, and ${named} in ${dataDir} ${files.length > 1 ? 'belong' : 'belongs'} to an installation with another database`,
    `restore that from a backup, choose another ${alternative(place)}, or remove ${named} to start a new installation`,
  )
}

const installationRefusal = (problem: string, next: string) => new FileFault('content', problem, problem, next)

const databaseName = ({ store, dataDir }: InstallationPlace) =>
  store.kind === 'sqlite' ? `the database ${join(dataDir, DATABASE_FILE)}` : 'the database at SVC_DATABASE_URL'

const alternative = ({ store }: InstallationPlace) =>
  store.kind === 'sqlite' ? 'data folder with --data-dir' : 'database with SVC_DATABASE_URL'

async function holdsRows({ db }: Store): Promise<boolean> {
  for (const name of TABLES.filter(isEmptyWhenNew)) {
    const row = await db
      .selectFrom(name)
      .select((eb) => eb.lit(1).as('one'))
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) return true
  }
  return false
}
