/** Reads and writes the folder of program binaries and cloned accounts for the embedded chain, and its manifest. */

import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolders, writeAtomically } from '../../platform/files.ts'
import { ConfigError } from '../../settings/config.ts'
import { readFiledAccount } from '../../solana/account-file.ts'
import { PROGRAMS, type Program } from '../../solana/programs.ts'

export const programFile = (id: string) => `${id}.so`
export const accountFile = (address: string) => join('accounts', `${address}.json`)
export const MANIFEST_FILE = 'manifest.json'

/** Source and checksum of an entry. */
export interface ManifestEntry {
  /** SHA-256 of the file, hex. */
  sha256: string
  size: number
  source: string
  slot: number | null
  /** Time in ISO 8601. */
  fetched_at: string
}
export interface Manifest {
  version: 1
  programs: Record<string, ManifestEntry & { name: string; loader: string | null }>
  accounts: Record<string, ManifestEntry>
}

/** An account in the form that the embedded chain reads. */
export interface AccountFile {
  /** Balance in digits. */
  lamports: string
  owner: string
  /** Data in base64. */
  data: string
  executable: boolean
  /** In digits; without it u64::MAX. */
  rentEpoch?: string
}

/**
 * Parses this form and that of the Solana CLI (`solana account -o json`). Throws for another form or another account.
 */
export function parseAccountFile(parsed: unknown, address: string): AccountFile {
  const { lamports, owner, data, executable, rentEpoch } = readFiledAccount(parsed, address).account
  const text = Buffer.from(data).toString('base64')
  const file = { lamports: String(lamports), owner, data: text, executable }
  return rentEpoch === undefined ? file : { ...file, rentEpoch: String(rentEpoch) }
}

/** Returns null when the folder has no manifest. Throws ConfigError when it cannot be read. */
export function readManifest(folder: string): Manifest | null {
  const file = join(folder, MANIFEST_FILE)
  if (!existsSync(file)) return null
  try {
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest
    if (manifest.version !== 1) throw new Error('it is of another version of svc')
    return { version: 1, programs: { ...manifest.programs }, accounts: { ...manifest.accounts } }
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}; remove it and pull again`)
  }
}

interface CachedProgram {
  key: string
  program: Program
  /** SHA-256 of the file, or null when it is missing. */
  sha256: string | null
  size: number
  /** The manifest's entry for the program, or null when it has none. */
  entry: Manifest['programs'][string] | null
}

/** Returns every program that svc builds on, with its state in the folder. */
export function readCache(folder: string): CachedProgram[] {
  const manifest = readManifest(folder)
  return Object.entries(PROGRAMS).map(([key, program]) => {
    const bytes = readIfThere(join(folder, programFile(program.id)))
    return {
      key,
      program,
      sha256: bytes && hash('sha256', bytes, 'hex'),
      size: bytes?.length ?? 0,
      entry: manifest?.programs[program.id] ?? null,
    }
  })
}

export function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Replaces a file that everyone may read. Readers see the old or the whole new file, even after a crash. */
export function writeWhole(file: string, content: string | Uint8Array): void {
  makeFolders(dirname(file), 0o777)
  writeAtomically(file, content, { mode: 0o644 })
}
