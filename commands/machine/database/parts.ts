/** Lists the parts of an installation beside its database, and what a backup loses without each. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CHAIN_FILE, type Config, ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE } from '../../../src/settings/config.ts'
import { ASSETS_FOLDER } from '../../../src/storage/local.ts'
import { profilesFile } from '../../cli/profiles.ts'
import type { InstallationPart, PartName } from '../../database/installation.ts'
import { usage } from '../../ui/problem.ts'
import { walletNames, walletsFolder } from '../wallets/folder.ts'
import { readWallet } from '../wallets/wallet-files.ts'

/** Names of the parts in a backup. */
export const PART_FILES = {
  'encryption-key': ENCRYPTION_KEY_FILE,
  'operator-key': OPERATOR_KEY_FILE,
  'signer-key': 'signer.json',
  assets: ASSETS_FOLDER,
  chain: CHAIN_FILE,
  profiles: 'profiles.json',
  wallets: 'wallets',
} as const satisfies Record<PartName, string>

const TEXTS: Record<PartName, { about: string; without: string }> = {
  'encryption-key': {
    about: 'opens what the database stores encrypted: webhook secrets, stored answers, plans; proves the audit log',
    without: 'no command can open the database, unless you have another copy of the key',
  },
  'operator-key': {
    about: "the local operator's bearer key",
    without: 'the restored installation makes a new one; revoke the old one',
  },
  'signer-key': {
    about: "the platform wallet's keypair file",
    without:
      'the platform wallet cannot sign, unless you have another copy of signer.keypair; seal the backup to include it',
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
  wallets: {
    about: 'named wallets of this user, each under its own passphrase',
    without: 'they are lost, unless you have another copy',
  },
}

/** Throws on PostgreSQL, with the command to use there. */
export function installationParts(config: Config): readonly InstallationPart[] {
  if (config.values['database-url'] !== undefined) {
    throw usage('the database is PostgreSQL, which has its own backup', {
      next: 'pg_dump --format=custom --file=FILE "$SVC_DATABASE_URL"; or `svc db export FILE`, which SQLite can import too',
    })
  }
  return (Object.keys(PART_FILES) as PartName[]).map((name) => {
    const path = placeOf(name, config)
    const isSetting = name === 'encryption-key' && config.values['encryption-key'] !== undefined
    const exists = path !== null && existsSync(path) && !isSetting
    return {
      name,
      path: exists ? path : null,
      bytes: exists ? bytesBelow(path) : 0,
      isSetting,
      elsewhere: elsewhereOf(name, config),
      ...TEXTS[name],
    }
  })
}

function placeOf(name: PartName, { dataDir, values }: Config): string | null {
  if (name === 'profiles') return profilesFile()
  if (name === 'wallets') return walletNames().length === 0 ? null : walletsFolder()
  if (name !== 'signer-key') return join(dataDir, PART_FILES[name])
  return values.signer === 'keypair' && values['signer.keypair'] ? resolve(values['signer.keypair']) : null
}

function elsewhereOf(name: PartName, config: Config): string | null {
  if (name === 'assets') return assetsElsewhere(config)
  if (name === 'wallets') return keychainWallets()
  return name === 'signer-key' ? signerElsewhere(config) : null
}

function signerElsewhere(config: Config): string | null {
  const { signer } = config.values
  if (signer === 'none') return null
  const file = placeOf('signer-key', config)
  if (signer !== 'keypair') return `the platform wallet's key is with ${signer}, and its credentials are settings`
  if (file === null) return "the platform wallet's key: signer.keypair is not set"
  return existsSync(file) ? null : `the platform wallet's key: ${file} (signer.keypair) does not exist`
}

/** Assets in a bucket are not in the data folder, and have their own ways of backup. */
const assetsElsewhere = ({ values }: Config): string | null =>
  values.storage === 's3'
    ? `assets are in the bucket ${values['s3.bucket']}: give it versioning or a replica, or fetch them with \`SVC_STORAGE=local svc storage copy\` first`
    : null

/** The file of such a wallet is encrypted with a passphrase that only this machine's keychain has. */
function keychainWallets(): string | null {
  const names = walletNames().filter((name) => readWallet(name).kind === 'keychain')
  return names.length === 0
    ? null
    : `the passphrases in this machine's keychain of the wallets ${names.join(', ')}: \`svc wallet export NAME FILE\` writes a key`
}

function bytesBelow(path: string): number {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
}
