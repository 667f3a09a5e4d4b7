/** Encrypts values that must not be readable in the database with AES-256-GCM and one key per installation. */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { internal } from '../../platform/errors.ts'
import { makeDataFolder, readOwnIfThere, writeAtomically } from '../../platform/files.ts'
import { ENCRYPTION_KEY_FILE } from '../../settings/config.ts'
import { pooledBytes } from '../id.ts'
import type { Store } from '../store.ts'
import { KEY_VARIABLE, markKeyCreation, otherKey, requireInstallation, settleFingerprint } from './installation.ts'

const VAULT_VERSION = 1
const VAULT_KEY_BYTES = 32
const GCM_NONCE_BYTES = 12
const TAG_BYTES = 16

export interface Vault {
  /** First 16 hex digits of an HMAC with the key. They identify the key without revealing it. */
  readonly fingerprint: string
  /** Encrypts a value for one `purpose`. It cannot be decrypted for any other purpose. */
  seal(plain: Uint8Array | string, purpose: string): Buffer
  /**
   * Returns the HMAC-SHA256 in hex, with a key derived from the vault's for this purpose only. The few derived keys
   * are cached.
   */
  mac(text: string, purpose: string): string
  /** Decrypts a value. Throws if it was changed, or sealed for another purpose or with another key. */
  open(sealed: Uint8Array, purpose: string): Buffer
}

export interface VaultOptions {
  store: Store
  dataDir: string
  /** 32 bytes as hex or base64 from `SVC_ENCRYPTION_KEY`; without it the key is a file in `dataDir` (SQLite only). */
  keyText?: string | undefined
  /** The remedy if a `keyText` is required and missing. */
  wayIn?: string
}

/** Opens the vault and checks by fingerprint that database and key belong to the same installation. */
export async function openVault({
  store,
  dataDir,
  keyText,
  wayIn = `set ${KEY_VARIABLE}`,
}: VaultOptions): Promise<Vault> {
  const configuredKey = keyText ? parseKey(keyText, KEY_VARIABLE) : undefined
  if (configuredKey === undefined && store.kind === 'postgres') {
    throw internal(`${wayIn} (32 bytes as base64 or hex, the same for every daemon): on PostgreSQL it is required`)
  }
  const place = { store, dataDir, keyFromEnvironment: configuredKey !== undefined }
  const known = await requireInstallation(place)
  const vault = makeVault(configuredKey ?? (await keyFromFile(store, dataDir, known)))
  const stored = known ?? (await settleFingerprint(store, vault.fingerprint))
  if (stored !== vault.fingerprint) throw otherKey(place, vault.fingerprint, stored)
  return vault
}

const fingerprintOf = (key: Buffer): string =>
  createHmac('sha256', key).update('svc vault fingerprint').digest('hex').slice(0, 16)

/** Returns the vault that `openVault` would open: from `keyText`, else from the folder's file; null without a key. */
export function configuredVault(dataDir: string, keyText: string | undefined): Vault | null {
  if (keyText) return makeVault(parseKey(keyText, KEY_VARIABLE))
  return vaultOfFile(join(dataDir, ENCRYPTION_KEY_FILE))
}

/** Returns the vault of the key in a file, or null without the file. Throws if the content is not a key. */
export function vaultOfFile(file: string): Vault | null {
  const key = readVaultKey(file)
  return key === null ? null : makeVault(key)
}

function makeVault(bytes: Buffer): Vault {
  // Key objects are prepared once; raw bytes would be imported by every call.
  const key = createSecretKey(bytes)
  const macKeys = new Map<string, KeyObject>()

  function macKey(purpose: string): KeyObject {
    let own = macKeys.get(purpose)
    if (own === undefined) {
      own = createSecretKey(createHmac('sha256', key).update(`svc vault mac\n${purpose}`).digest())
      macKeys.set(purpose, own)
    }
    return own
  }

  return {
    fingerprint: fingerprintOf(bytes),
    seal(plain, purpose) {
      // Each nonce is 96 random bits from the system that are used nowhere else.
      const nonce = pooledBytes(GCM_NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(boundTo(purpose))
      const sealed = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
      return Buffer.concat([VERSION_PREFIX, nonce, sealed, cipher.final(), cipher.getAuthTag()])
    },
    mac: (text, purpose) => createHmac('sha256', macKey(purpose)).update(text).digest('hex'),
    open(sealed, purpose) {
      if (sealed.length < 1 + GCM_NONCE_BYTES + TAG_BYTES || sealed[0] !== VAULT_VERSION) throw unreadable(purpose)
      const nonce = sealed.subarray(1, 1 + GCM_NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(boundTo(purpose))
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(1 + GCM_NONCE_BYTES, -TAG_BYTES)), decipher.final()])
      } catch {
        throw unreadable(purpose)
      }
    },
  }
}

const VERSION_PREFIX = Buffer.of(VAULT_VERSION)

const boundTo = (purpose: string) => Buffer.from(`svc vault ${VAULT_VERSION}\n${purpose}`)

const unreadable = (purpose: string) =>
  internal(
    `a sealed value (${purpose}) cannot be opened: it was changed, sealed for another purpose or under another key`,
  )

/** Parses the key. Errors never repeat the text, because it is secret. */
function parseKey(text: string, from: string): Buffer {
  const trimmed = text.trim()
  const key = /^[0-9a-fA-F]{64}$/.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : Buffer.from(/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) ? trimmed : '', 'base64')
  if (key.length !== VAULT_KEY_BYTES) {
    throw internal(`${from} must be 32 bytes as base64 or hex: make one with \`openssl rand -base64 32\``)
  }
  return key
}

async function keyFromFile(store: Store, dataDir: string, known: string | null): Promise<Buffer> {
  const file = join(dataDir, ENCRYPTION_KEY_FILE)
  const existing = readVaultKey(file)
  if (existing) return existing
  if (known !== null) {
    throw internal(
      `${file} is missing, and this database was sealed with it (fingerprint ${known}): restore the file or set ${KEY_VARIABLE}`,
    )
  }
  await markKeyCreation(store)
  createKeyFile(dataDir, file)
  const created = readVaultKey(file)
  if (!created) throw internal(`${file} disappeared while it was being created`)
  return created
}

function readVaultKey(file: string): Buffer | null {
  const text = readOwnIfThere(file, { secret: true, folder: 'own' })
  return text === null ? null : parseKey(text, file)
}

/**
 * Creates the key file. If several processes race, one creates it and the others read it. Sealed values need it
 * permanently.
 */
function createKeyFile(dataDir: string, file: string): void {
  makeDataFolder(dataDir)
  const text = `${randomBytes(VAULT_KEY_BYTES).toString('base64')}\n`
  writeAtomically(file, text, { exclusive: true, syncFolder: true })
}
