/** The vault: what it seals opens unchanged, for its purpose and under its key alone. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openVault } from '../../src/store/installation/vault.ts'
import { numbers, opened, temporaryFolder } from './databases.ts'

async function fresh() {
  const dataDir = temporaryFolder()
  const store = await opened({ dataDir })
  return { store, dataDir, keyFile: join(dataDir, 'encryption.key') }
}

describe('the vault', () => {
  test('opens what it sealed, byte for byte, and never seals alike twice', async () => {
    const vault = await openVault(await fresh())
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (plain, purpose) => {
        const sealed = vault.seal(plain, purpose)
        expect(vault.open(sealed, purpose)).toEqual(Buffer.from(plain))
        expect(vault.seal(plain, purpose).equals(sealed)).toBe(false)
      }),
    )
    expect(vault.open(vault.seal('ä €', 'p'), 'p').toString()).toBe('ä €')
  })

  test('refuses sealed bytes of which any byte was changed or is missing', async () => {
    const vault = await openVault(await fresh())
    const sealed = vault.seal('the secret', 'webhook secret')
    for (const at of numbers(sealed.length)) {
      const changed = Buffer.from(sealed)
      changed[at]! ^= 1
      expect(() => vault.open(changed, 'webhook secret')).toThrow('a sealed value (webhook secret) cannot be opened')
      expect(() => vault.open(sealed.subarray(0, at), 'webhook secret')).toThrow('cannot be opened')
    }
  })

  test('refuses to open a value for another purpose', async () => {
    const vault = await openVault(await fresh())
    const sealed = vault.seal('the secret', 'webhook secret')
    expect(() => vault.open(sealed, 'response')).toThrow('a sealed value (response) cannot be opened')
  })

  test('makes a private key file, and uses it again', async () => {
    const options = await fresh()
    const first = await openVault(options)
    expect(statSync(options.keyFile).mode & 0o777).toBe(0o600)
    const text = readFileSync(options.keyFile, 'utf8')
    expect(Buffer.from(text, 'base64')).toHaveLength(32)
    const second = await openVault(options)
    expect(second.open(first.seal('x', 'p'), 'p').toString()).toBe('x')
    expect(readFileSync(options.keyFile, 'utf8')).toBe(text)
    expect(first.fingerprint).toMatch(/^[0-9a-f]{16}$/)
  })

  test('refuses a key file that others can read, that is a link, or that holds no key', async () => {
    const options = await fresh()
    await openVault(options)
    for (const mode of [0o640, 0o604, 0o660]) {
      chmodSync(options.keyFile, mode)
      await expect(openVault(options)).rejects.toThrow(/encryption\.key can be read by others .*chmod 600/)
    }
    writeFileSync(options.keyFile, 'dG9vIHNob3J0')
    chmodSync(options.keyFile, 0o600)
    const error = await openVault(options).catch((thrown) => thrown)
    expect(error.message).toMatch(/encryption\.key must be 32 bytes as base64 or hex/)
    expect(error.message).not.toContain('dG9vIHNob3J0')
    rmSync(options.keyFile)
    symlinkSync('/dev/zero', options.keyFile)
    await expect(openVault(options)).rejects.toThrow('cannot read')
  })

  test('makes no new key if the database was sealed with one that is missing', async () => {
    const options = await fresh()
    const { fingerprint } = await openVault(options)
    rmSync(options.keyFile)
    await expect(openVault(options)).rejects.toThrow(
      `encryption.key is missing, and this database was sealed with it (fingerprint ${fingerprint})`,
    )
    expect(existsSync(options.keyFile)).toBe(false)
  })

  test('takes a key of 32 bytes in hex, base64 or base64url from the environment, and then writes no file', async () => {
    const options = await fresh()
    const bytes = Buffer.from(numbers(32).map((n) => 255 - n))
    const texts = [
      bytes.toString('hex'),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      ` ${bytes.toString('base64')}\n`,
    ]
    const prints = await Promise.all(
      texts.map(async (keyText) => (await openVault({ ...options, keyText })).fingerprint),
    )
    expect(new Set(prints).size).toBe(1)
    expect(existsSync(options.keyFile)).toBe(false)
    for (const keyText of ['short', 'g'.repeat(64), bytes.subarray(1).toString('base64')]) {
      const error = await openVault({ ...options, keyText }).catch((thrown) => thrown)
      expect(error.message).toMatch(/^SVC_ENCRYPTION_KEY must be 32 bytes/)
      expect(error.message).not.toContain(keyText)
    }
  })

  test('refuses a key whose fingerprint is not that of the database, naming both', async () => {
    const options = await fresh()
    const { fingerprint } = await openVault(options)
    const other = openVault({ ...options, keyText: '07'.repeat(32) })
    await expect(other).rejects.toMatchObject({ code: 'internal_error', message: expect.stringContaining(fingerprint) })
  })

  test('continues if the first start was killed between the key file and its fingerprint', async () => {
    const options = await fresh()
    await openVault(options)
    await options.store.write((tx) => tx.deleteFrom('settings').where('name', '=', 'vault_fingerprint').execute())
    expect((await openVault(options)).fingerprint).toMatch(/^[0-9a-f]{16}$/)
    await options.store.write((tx) => tx.deleteFrom('settings').execute())
    await expect(openVault(options)).rejects.toThrow('is empty, and encryption.key in')
  })

  test('agrees on one key if many open it at once in a new folder', async () => {
    const { store } = await fresh()
    const dataDir = join(temporaryFolder(), 'made')
    mkdirSync(dataDir, { mode: 0o700 })
    const vaults = await Promise.all(numbers(8).map(() => openVault({ store, dataDir })))
    expect(new Set(vaults.map((vault) => vault.fingerprint)).size).toBe(1)
  })
})
