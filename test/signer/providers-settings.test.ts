/** What keeps a signer from being opened: settings that are missing or unsafe, and keypair files that are. */
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { openConfiguredSigner } from '../../src/chain/signer/index.ts'
import { ConfigError, loadConfig, type SettingName } from '../../src/settings/config.ts'
import { signatureHolds } from '../../src/solana/signatures.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { signerConfig, testKey } from '../support/signer-keys.ts'

const folder = makeSharedFolder('svc-signer-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const key = testKey()
const other = testKey()
const SEED = JSON.stringify(key.secretKey.slice(0, 32)).slice(1, -1)

function fileWith(text: string, mode = 0o600): string {
  const file = join(folder, 'signer.json')
  rmSync(file, { force: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}
const KEYPAIR = JSON.stringify(key.secretKey)
const keypairSettings = (file: string) => ({ signer: 'keypair', 'signer.keypair': file })

async function refusalOf(settings: Partial<Record<SettingName, unknown>>): Promise<ConfigError> {
  try {
    await openConfiguredSigner(signerConfig(settings))
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).cause).toBeUndefined()
    const shown = `${inspect(error, { depth: null, showHidden: true })}${JSON.stringify(error)}`
    expect(shown).not.toContain(SEED)
    return error as ConfigError
  }
  throw new Error('it was opened')
}

it('the signer is absent unless a setting names one', async () => {
  expect(await openConfiguredSigner(signerConfig({}))).toBeNull()
  expect(await openConfiguredSigner(signerConfig({ signer: 'none', 'signer.keypair': '/nowhere' }))).toBeNull()
})

describe('a keypair file as signer', () => {
  it('signs, under its own address', async () => {
    const signer = (await openConfiguredSigner(signerConfig(keypairSettings(fileWith(KEYPAIR)))))!
    const message = Uint8Array.from({ length: 300 }, (_, i) => i % 256)
    const signature = await signer.sign(message)
    expect(signer).toMatchObject({ provider: 'keypair', address: key.address })
    expect(Buffer.from(signature).equals(key.sign(message))).toBe(true)
    await signer.check()
    expect(inspect(signer, { depth: null, showHidden: true })).not.toContain(SEED.slice(0, 12))
  })

  it('is read once: later changes of the file have no effect', async () => {
    const file = fileWith(KEYPAIR)
    const signer = (await openConfiguredSigner(signerConfig(keypairSettings(file))))!
    rmSync(file)
    expect(Buffer.from(await signer.sign(Buffer.from('x'))).equals(key.sign(Buffer.from('x')))).toBe(true)
  })

  it.each([0o644, 0o640, 0o604, 0o660, 0o777])('is refused with mode %o', async (mode) => {
    const file = fileWith(KEYPAIR, mode)
    expect((await refusalOf(keypairSettings(file))).message).toBe(
      `signer.keypair: the keypair file ${file} can be read by others (mode ${mode.toString(8)}); chmod 600 ${file}`,
    )
  })

  it('is refused behind a link, naming the file itself', async () => {
    const link = join(folder, 'link.json')
    rmSync(link, { force: true })
    const file = fileWith(KEYPAIR)
    symlinkSync(file, link)
    expect((await refusalOf(keypairSettings(link))).message).toMatch(
      new RegExp(`link\\.json is a symbolic link; use the file itself: .*${basename(file)}$`),
    )
  })

  it.runIf(process.getuid?.() === 0)("is refused as another user's", async () => {
    const file = fileWith(KEYPAIR)
    chownSync(file, 12345, 12345)
    expect((await refusalOf(keypairSettings(file))).message).toMatch(
      /belongs to another user \(uid 12345, not 0\); chown 0 /,
    )
  })

  it.each([
    ['no JSON', `{"seed": ${SEED}`, /is not JSON; a keypair file is a JSON array of 64 integers/],
    ['an object', JSON.stringify({ key: key.secretKey }), /is not a JSON array/],
    ['32 integers', JSON.stringify(key.secretKey.slice(0, 32)), /holds 32 integers: the public key.* is missing/],
    ['63 integers', JSON.stringify(key.secretKey.slice(1)), /holds 63 entries, not 64/],
    ['a text among them', JSON.stringify(['x', ...key.secretKey.slice(1)]), /not an integer from 0 to 255, at place 1/],
    ['halves of two keys', JSON.stringify([...key.secretKey.slice(0, 32), ...other.publicKey]), /does not belong/],
    ['nothing', '', /is empty/],
  ])('that contains %s is refused with a solution', async (_, text, message) => {
    const refusal = await refusalOf(keypairSettings(fileWith(text)))
    expect(refusal.message).toMatch(message)
    expect(refusal.message).toMatch(/^signer\.keypair: the keypair file \//)
  })

  it('that is missing, or a folder, is refused', async () => {
    const missing = join(folder, 'none.json')
    expect((await refusalOf(keypairSettings(missing))).message).toBe(
      `signer.keypair: the keypair file ${missing} does not exist; make one with \`solana-keygen new\``,
    )
    mkdirSync(join(folder, 'dir'), { mode: 0o700 })
    expect((await refusalOf(keypairSettings(join(folder, 'dir')))).message).toMatch(/is not a file/)
  })

  it('must be the key of signer.public-key if that is set', async () => {
    const settings = keypairSettings(fileWith(KEYPAIR))
    const expected = { ...settings, 'signer.public-key': other.address }
    expect((await refusalOf(expected)).message).toContain(`signer.public-key is ${other.address}`)
    expect(await openConfiguredSigner(signerConfig({ ...settings, 'signer.public-key': key.address }))).not.toBeNull()
  })

  it.each([
    ['the integers themselves', KEYPAIR],
    ['a secret key in base58', '5'.repeat(88)],
  ])('is never %s, and these are not repeated', async (_, text) => {
    const refusal = await refusalOf(keypairSettings(text))
    expect(refusal.message).toMatch(/^signer\.keypair .* must be the path of a keypair file, never the key itself$/)
    const swapped = await refusalOf({ ...keypairSettings('/nowhere'), 'signer.public-key': text })
    expect(swapped.message).toMatch(/^signer\.public-key .* must be a base58 address$/)
  })
})

describe('the settings of a provider', () => {
  const COMPLETE: Record<string, Partial<Record<SettingName, string>>> = {
    keypair: { 'signer.keypair': '/nowhere' },
    vault: {
      'signer.public-key': key.address,
      'signer.vault-url': 'https://vault.test:8200',
      'signer.vault-key': 'launches',
      'signer.vault-token': 'hvs.TOPSECRET',
    },
    turnkey: {
      'signer.public-key': key.address,
      'signer.turnkey-organization': 'o',
      'signer.turnkey-key': 'k',
      // The base point and the private key that it is the public half of.
      'signer.turnkey-api-public-key': '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
      'signer.turnkey-api-private-key': `${'0'.repeat(63)}1`,
    },
    privy: {
      'signer.public-key': key.address,
      'signer.privy-app': 'app',
      'signer.privy-secret': 'TOPSECRET',
      'signer.privy-wallet': 'wallet',
    },
    'aws-kms': { 'signer.public-key': key.address, 'signer.aws-key': 'k' },
  }
  const needed = Object.entries(COMPLETE).flatMap(([signer, settings]) =>
    Object.keys(settings).map((name) => [signer, name] as const),
  )

  it.each(needed)('of %s include %s', async (signer, name) => {
    const { [name as SettingName]: _, ...rest } = COMPLETE[signer]!
    const refusal = await refusalOf({ signer, ...rest })
    expect(refusal.message).toContain(`${name} is missing: signer ${signer} needs `)
  })

  it.each(['vault', 'turnkey', 'privy', 'aws-kms'])(
    'of %s suffice, without a request to the provider',
    async (name) => {
      const asked: unknown[] = []
      const fetch = async (url: unknown) => {
        asked.push(url)
        throw new Error('asked')
      }
      const signer = await openConfiguredSigner(signerConfig({ signer: name, ...COMPLETE[name] }), {
        fetch: fetch as never,
      })
      expect(signer).toMatchObject({ provider: name, address: key.address })
      expect(asked).toEqual([])
    },
  )

  it.each([
    ['vault', 'signer.vault-url', 'http://vault.test:8200', /must be an https URL/],
    ['vault', 'signer.vault-url', 'https://u:p@vault.test', /must be a plain URL/],
    ['vault', 'signer.vault-url', 'vault.test', /must be an http or https URL$/],
    ['vault', 'signer.vault-key', '../../sys/seal', /must be letters, digits/],
    ['vault', 'signer.vault-token', 'hvs.TOPSECRET\n', /holds a space, a line break/],
    ['vault', 'signer.public-key', 'z'.repeat(44), /is not a Solana address/],
    [
      'turnkey',
      'signer.turnkey-api-private-key',
      `${'0'.repeat(63)}2`,
      /does not belong to signer\.turnkey-api-public-key/,
    ],
    ['turnkey', 'signer.turnkey-api-private-key', 'TOPSECRET', /must be 64 hex digits$/],
    ['turnkey', 'signer.turnkey-url', 'http://api.test', /must be an https URL/],
    ['privy', 'signer.privy-url', 'http://api.test', /must be an https URL/],
    ['privy', 'signer.privy-wallet', 'a/../b', /must be letters, digits/],
    ['aws-kms', 'signer.aws-access-key', 'AKIA', /set together/],
    ['nobody', 'signer', 'nobody', /must be one of none, keypair, vault/],
    ['none', 'signer.cluster', 'mainnet', /must be one of any, embedded, mainnet-beta/],
  ])('of %s may not have %s = %j', async (signer, name, value, message) => {
    const refusal = await refusalOf({ signer, ...COMPLETE[signer], [name]: value })
    expect(refusal.message).toMatch(message)
    expect(refusal.message).toMatch(new RegExp(`^${name.replace('.', '\\.')} `))
    expect(refusal.message).not.toContain('TOPSECRET')
  })
})

it('the signer sends no token to an address from a project file', () => {
  const cwd = mkdtempSync(join(folder, 'project-'))
  writeFileSync(join(cwd, 'svc.json'), JSON.stringify({ 'signer.vault-url': 'https://elsewhere.test' }))
  const refusal = () => loadConfig({ cwd, env: { SVC_SIGNER: 'vault', SVC_SIGNER_VAULT_TOKEN: 'hvs.TOPSECRET' } })
  expect(refusal).toThrow(
    /svc\.json must not contain signer\.vault-url: it decides who signs, and where; set SVC_SIGNER_VAULT_URL instead/,
  )
})

it('the signer signs at a Vault in another process, which logs each signature', async () => {
  const logFile = join(folder, 'vault.log')
  const vault = fork(join(import.meta.dirname, '../support/vault-server.ts'), [logFile], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  try {
    const [line] = (await once(vault.stdout!, 'data')) as [Buffer]
    const settings = JSON.parse(line.toString()) as Record<string, string>
    const signer = (await openConfiguredSigner(signerConfig(settings)))!
    const message = Buffer.from('over there')
    const signature = await signer.sign(message)
    const decoded = { signatures: [signature], messageBytes: message, message: { keys: [signer.address] } }
    expect(signatureHolds(decoded as never, 0)).toBe(true)
    vault.send({ misbehave: 'fails after signing', times: 1 })
    await once(vault, 'message')
    await expect(signer.sign(message)).rejects.toMatchObject({ signed: 'unknown' })
    const hash = createHash('sha256').update(message).digest('hex')
    const logged = readFileSync(logFile, 'utf8').trim().split('\n')
    expect(logged.map((entry) => entry.split(' ')[0])).toEqual([hash, hash])
  } finally {
    vault.kill()
    await once(vault, 'exit')
  }
})
