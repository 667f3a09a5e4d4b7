/** Lists the parts of an installation beside its database, and what a backup loses without each. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CHAIN_FILE, type Config, ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE } from '../../../src/settings/config.ts'
import { ASSETS_FOLDER } from '../../../src/storage/local.ts'
import { profilesFile } from '../../cli/profiles.ts'
import type { InstallationPart, PartName } from '../../database/installation.ts'
import { usage } from '../../ui/problem.ts'

/** Names of the parts in a backup. */
export const PART_FILES = {
  'encryption-key': ENCRYPTION_KEY_FILE,
  'operator-key': OPERATOR_KEY_FILE,
  assets: ASSETS_FOLDER,
  chain: CHAIN_FILE,
  profiles: 'profiles.json',
} as const satisfies Record<PartName, string>

const TEXTS: Record<PartName, { about: string; without: string }> = {
  'encryption-key': {
    about: 'opens what the database stores encrypted: webhook secrets, stored answers, plans; proves the audit log',
    without: 'no command can open the database, unless you have a copy of the key elsewhere',
  },
  'operator-key': {
    about: "the local operator's bearer key",
    without: 'the restored installation makes a new one; revoke the old one',
  },
  assets: {
    about: 'images and metadata that tokens on the chain refer to',
    without: 'tokens lose their images permanently if no other copy exists',
  },
  chain: {
    about: 'the embedded chain: balances, programs, history',
    without: 'records of the database refer to an embedded chain that no longer exists',
  },
  profiles: { about: 'settings of this user', without: 'you must make the settings again' },
}

/** Throws on PostgreSQL, with the command to use there. */
export function installationParts(config: Config): readonly InstallationPart[] {
  if (config.values['database-url'] !== undefined) {
    throw usage('the database is PostgreSQL, which has its own backup', {
      next: 'pg_dump --format=custom --file=FILE "$SVC_DATABASE_URL"; or `svc db export FILE`, which SQLite can import too',
    })
  }
  const keyIsElsewhere = config.values['encryption-key'] !== undefined
  return (Object.keys(PART_FILES) as PartName[]).map((name) => {
    const path = name === 'profiles' ? profilesFile() : join(config.dataDir, PART_FILES[name])
    const exists = existsSync(path) && !(name === 'encryption-key' && keyIsElsewhere)
    const elsewhere = name === 'assets' ? assetsElsewhere(config) : null
    return { name, path: exists ? path : null, bytes: exists ? bytesBelow(path) : 0, elsewhere, ...TEXTS[name] }
  })
}

/** Assets in a bucket are not in the data folder, and have their own ways of backup. */
const assetsElsewhere = ({ values }: Config): string | null =>
  values.storage === 's3'
    ? `assets are in the bucket ${values['s3.bucket']}: give it versioning or a replica, or fetch them with \`SVC_STORAGE=local svc storage copy\` first`
    : null

function bytesBelow(path: string): number {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
}
