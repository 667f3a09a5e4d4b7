/** `svc wallet`: encrypted keys, keys in a keychain, and programs that sign; no message repeats a key. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { base58 } from '@scure/base'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shellWords } from '../../commands/cli/shell-words.ts'
import { openSecret, type SealedSecret, sealedSecretSchema, sealSecret } from '../../commands/machine/encryption.ts'
import { seedIn } from '../../commands/machine/wallets/key-text.ts'
import { derivedSeed, seedOfPhrase } from '../../commands/machine/wallets/recovery-phrase.ts'
import { isWalletName } from '../../commands/wallet/names.ts'
import { shellQuoted } from '../../src/platform/shell-quoted.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { anyText } from '../support/any-text.ts'
import { someone } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const PASSPHRASE = 'correct horse battery'
const EXAMPLE = resolve(import.meta.dirname, '../../examples/signer-command/sign.mjs')

/** The least cost that a wallet's file may state: opening it takes an eighth of the time of one that svc makes. */
const CHEAP = 2 ** 14

/** A configuration folder of its own, with the passphrase in a file. */
function fresh(name: string, passphrase = PASSPHRASE) {
  const env = {
    XDG_CONFIG_HOME: join(cli.home, `config-${name}`),
    SVC_WALLET_PASSPHRASE_FILE: cli.file(`passphrase-${name}`, `${passphrase}\n`, 0o600),
  }
  const wallets = join(env.XDG_CONFIG_HOME, 'svc/wallets')
  const fileOf = (wallet: string) => join(wallets, `${wallet}.json`)
  return {
    env,
    wallets,
    fileOf,
    run: (...args: string[]) => svc(args, { env }),
    json: (...args: string[]) => cli.json(args, { env }),
    /** Writes a wallet as an earlier run may have left it. */
    async sealed(wallet: string, kind = 'passphrase', secret = passphrase) {
      const { publicKey, secretKey } = Keypair.generate()
      const address = publicKey.toBase58()
      const key = await sealSecret(secretKey.slice(0, 32), secret, ['svc wallet 1', kind, address], CHEAP)
      mkdirSync(wallets, { recursive: true, mode: 0o700 })
      writeFileSync(fileOf(wallet), JSON.stringify({ version: 1, kind, address, key }), { mode: 0o600 })
      return { name: wallet, address, kind, file: fileOf(wallet) }
    },
  }
}
/** An unsigned transfer of one lamport from the payer. */
function transferOf(payer: string): string {
  const payerKey = new PublicKey(payer)
  const instructions = [SystemProgram.transfer({ fromPubkey: payerKey, toPubkey: someone(), lamports: 1 })]
  const message = new TransactionMessage({ payerKey, recentBlockhash: someone().toBase58(), instructions })
  return Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize()).toString('base64')
}

describe('The encryption of a wallet', () => {
  const seed = Uint8Array.from({ length: 32 }, (_, i) => i)
  const CONTEXT = ['svc wallet 1', 'passphrase', 'address']
  /** Recorded: a later version has to open what an earlier one wrote. */
  const RECORDED: SealedSecret = {
    kdf: { name: 'scrypt', n: 16384, r: 8, p: 1, salt: 'YZbqonS7nSYotVgGi/aA0g==' },
    cipher: { name: 'aes-256-gcm', nonce: 'YOU/y1ixc3YWBPnq' },
    secret: 'C4oq7qHIb9zLsyEWqDtgqVRXxzIdyM9jg57K9yIwDa46jgo88MFBPBqv+vebuEU1',
  }

  it('opens what an earlier version wrote', async () => {
    expect(await openSecret(RECORDED, 'pässphrase', CONTEXT)).toEqual(Buffer.from(seed))
    // The same letters of other code points, as another system writes them.
    expect(await openSecret(RECORDED, 'pa\u0308ssphrase', CONTEXT)).toEqual(Buffer.from(seed))
  })

  it('does not open with another passphrase, or if any part of the file was changed', { tags: 'sampled' }, async () => {
    const sealed = await sealSecret(seed, PASSPHRASE, CONTEXT, CHEAP)
    expect(await openSecret(sealed, PASSPHRASE, CONTEXT)).toEqual(Buffer.from(seed))
    expect(await openSecret(sealed, `${PASSPHRASE} `, CONTEXT)).toBeNull()
    expect(await openSecret(sealed, PASSPHRASE, ['svc wallet 1', 'passphrase', 'another'])).toBeNull()
    expect(await openSecret({ ...sealed, kdf: { ...sealed.kdf, n: 2 ** 15 } }, PASSPHRASE, CONTEXT)).toBeNull()
    const flipped = (text: string, at: number) => {
      const bytes = Buffer.from(text, 'base64')
      bytes[at]! ^= 1
      return bytes.toString('base64')
    }
    for (const at of [15, 0].slice(0, runs(1, 2))) {
      const salt = flipped(sealed.kdf.salt, at)
      expect(await openSecret({ ...sealed, kdf: { ...sealed.kdf, salt } }, PASSPHRASE, CONTEXT)).toBeNull()
    }
    const nonce = flipped(sealed.cipher.nonce, 3)
    expect(await openSecret({ ...sealed, cipher: { ...sealed.cipher, nonce } }, PASSPHRASE, CONTEXT)).toBeNull()
    for (const at of [0, 47, 31, 32].slice(0, runs(2, 4))) {
      expect(await openSecret({ ...sealed, secret: flipped(sealed.secret, at) }, PASSPHRASE, CONTEXT)).toBeNull()
    }
  })

  it('refuses a file that demands more than 1 GiB, or less than svc ever wrote', () => {
    const bad = [
      { n: 2 ** 21 },
      { n: 2 ** 20 - 1 },
      { n: 2 ** 13 },
      { r: 16 },
      { p: 2 },
      { salt: '' },
      { salt: 'A'.repeat(4000) },
      { name: 'none' },
    ]
    expect(sealedSecretSchema.safeParse(RECORDED).success).toBe(true)
    for (const change of bad)
      expect(sealedSecretSchema.safeParse({ ...RECORDED, kdf: { ...RECORDED.kdf, ...change } }).success).toBe(false)
    expect(sealedSecretSchema.safeParse({ ...RECORDED, more: 1 }).success).toBe(false)
  })
})

describe('A recovery phrase', () => {
  it('derives the test vectors of SLIP-10', () => {
    const master = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
    expect(derivedSeed(master, []).toString('hex')).toBe(
      '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7',
    )
    expect(derivedSeed(master, [0]).toString('hex')).toBe(
      '68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3',
    )
    expect(derivedSeed(master, [0, 1, 2, 2, 1000000000]).toString('hex')).toBe(
      '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
    )
  })

  it('gives the addresses that Phantom and Solflare show', async () => {
    const phrase = `${'abandon '.repeat(11)}about`
    expect(keyPairOf(await seedOfPhrase(phrase, 0)).address).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk')
  })
})

describe('The name of a wallet', () => {
  it('differs from a path by its letters, whatever files exist', () => {
    for (const name of ['treasury', 'Ops-2', 'a_b', '7']) expect(isWalletName(name)).toBe(true)
    for (const path of ['id.json', './treasury', '/tmp/x', '~/id', 'a b', '', '-', '../x'])
      expect(isWalletName(path)).toBe(false)
  })

  it('never means a file of that name in the folder', async () => {
    const { run, json, sealed } = fresh('names')
    const file = cli.keypair('treasury')
    const missing = await run('wallet', 'address', 'treasury')
    expect(missing.exitCode).toBe(3)
    expect(missing.stderr).toContain('there is no wallet treasury')
    expect(missing.stderr).toContain('for the file of that name, write ./treasury')
    expect(await json('wallet', 'address', './treasury')).toEqual({ address: file.address })
    const made = await sealed('treasury')
    expect(await json('wallet', 'address', 'treasury')).toEqual({ address: made.address })
    const { missing_signers: unsigned } = await json('tx', 'sign', transferOf(made.address), '-k', 'treasury')
    expect(unsigned).toEqual([])
  })

  it.each(['Treasury', 'a b', '../x', '-x', 'a'.repeat(33), 'ä', 'x.json', ''])('must not be %j', async (name) => {
    const { exitCode, stderr } = await fresh('refused').run('wallet', 'new', '--', name)
    expect(exitCode).toBe(2)
    expect(stderr).not.toMatch(/\n\s+at /)
  })
})

describe('svc wallet', () => {
  it('new writes a file that only this user can read, encrypted at 128 MiB a guess, and signs with it', async () => {
    const { json, fileOf, wallets } = fresh('new')
    const made = await json('wallet', 'new', 'ops')
    expect(made).toEqual({ name: 'ops', address: expect.any(String), kind: 'passphrase', file: fileOf('ops') })
    expect(statSync(wallets).mode & 0o777).toBe(0o700)
    expect(statSync(fileOf('ops')).mode & 0o777).toBe(0o600)
    const content = JSON.parse(readFileSync(fileOf('ops'), 'utf8'))
    expect(content).toMatchObject({ version: 1, address: made.address })
    const { n, r } = content.key.kdf
    expect(128 * n * r).toBe(128 * 1024 * 1024)
    const signed = await json('tx', 'sign', transferOf(made.address), '-k', 'ops')
    expect(signed).toMatchObject({ signed_by: [made.address], missing_signers: [] })
  })

  it('use chooses the wallet of every command; SVC_KEYPAIR and -k take precedence', async () => {
    const { run, json, env, sealed } = fresh('use')
    const [one, two] = [await sealed('one'), await sealed('two')]
    expect((await run('wallet', 'use', 'three')).exitCode).toBe(3)
    // The profiles lie one folder above.
    expect((await run('wallet', 'use', '../profiles')).exitCode).toBe(3)
    await json('wallet', 'use', 'one')
    expect(await json('wallet', 'address')).toEqual({ address: one.address })
    expect(await json('wallet', 'list')).toEqual([
      { ...one, in_use: true },
      { ...two, in_use: false },
    ])
    const other = await svc(['wallet', 'address', '--json'], { env: { ...env, SVC_KEYPAIR: 'two' } })
    expect(JSON.parse(other.stdout)).toEqual({ address: two.address })
    const used = await svc(['wallet', 'use', 'one'], { env: { ...env, SVC_KEYPAIR: 'two' } })
    expect(used.stderr).toContain('SVC_KEYPAIR is set and takes precedence: two')
    expect((await run('wallet', 'delete', 'one', '--yes')).stderr).toContain('It is still the one in use')
    const gone = await run('tx', 'sign', transferOf(one.address))
    expect(gone.exitCode).toBe(3)
    expect(gone.stderr).toContain('there is no wallet one')
  })

  it('is never chosen by the svc.json of a folder', async () => {
    const { env } = fresh('project')
    const folder = join(cli.home, 'hostile')
    mkdirSync(folder)
    writeFileSync(join(folder, 'svc.json'), JSON.stringify({ keypair: 'ops' }))
    const { exitCode, stderr } = await svc(['wallet', 'address'], { env, cwd: folder })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('keypair')
  })

  it('import reads keypair files, base58 and phrases of any account', async () => {
    const { secretKey } = Keypair.generate()
    const seed = secretKey.slice(0, 32)
    expect(await seedIn(JSON.stringify([...secretKey]), 0)).toEqual(seed)
    expect(await seedIn(`${base58.encode(secretKey)}\n`, 0)).toEqual(seed)
    const phrase = `${'abandon '.repeat(11)}about`
    for (const account of [0, 1]) {
      const typed = await seedIn(`${'Abandon  '.repeat(11)}about\n`, account)
      expect(typed).toEqual(await seedOfPhrase(phrase, account))
    }
  })

  it('import takes the key of a phrase once, and export writes no file twice', async () => {
    const { run, json, fileOf, sealed } = fresh('import')
    const phrase = cli.file('phrase.txt', `${'Abandon  '.repeat(11)}about\n`, 0o600)
    const second = await json('wallet', 'import', 'words-1', phrase, '--account', '1')
    expect(second.address).toBe(keyPairOf(await seedIn(readFileSync(phrase, 'utf8'), 1)).address)

    const kept = await sealed('kept')
    await json('wallet', 'export', 'kept', 'exported.json', '--yes')
    const exported = Uint8Array.from(JSON.parse(readFileSync(join(cli.home, 'exported.json'), 'utf8')))
    expect(Keypair.fromSecretKey(exported).publicKey.toBase58()).toBe(kept.address)
    expect(statSync(join(cli.home, 'exported.json')).mode & 0o777).toBe(0o600)
    const existing = await run('wallet', 'export', 'kept', 'exported.json', '--yes')
    expect(existing.exitCode).toBe(2)
    expect(existing.stderr).toContain('already exists and was not changed')
    const before = readFileSync(fileOf('kept'), 'utf8')
    const taken = await run('wallet', 'import', 'kept', phrase)
    expect(taken.exitCode).toBe(5)
    expect(readFileSync(fileOf('kept'), 'utf8')).toBe(before)
  })

  it('import never quotes a key that it cannot read, and refuses one that others can read', async () => {
    const { run } = fresh('bad-keys')
    const secret = 'supersecretword'
    const bad = [
      `[1,2,${secret}]`,
      `[${Array.from({ length: 32 }, () => 1)}]`,
      `${secret} `.repeat(12),
      base58.encode(new Uint8Array(63).fill(7)),
      `${secret}0OIl`,
      'A'.repeat(3000),
      '',
    ]
    for (const [i, text] of bad.entries()) {
      const { exitCode, stderr, stdout } = await run('wallet', 'import', 'bad', cli.file(`bad-${i}`, text, 0o600))
      expect(exitCode, text).toBe(2)
      expect(stderr + stdout).not.toContain(secret)
    }
    const open = await run('wallet', 'import', 'bad', cli.file('open.json', '[]', 0o644))
    expect(open.exitCode).toBe(4)
    expect(open.stderr).toContain('chmod 600')
  })

  it('does not open with another passphrase, nor from a malformed file, one that others can read, or a link', async () => {
    const { run, env, fileOf, wallets, sealed } = fresh('opening')
    const { address } = await sealed('ops')
    const signs = async (more: Record<string, string> = {}) =>
      svc(['tx', 'sign', transferOf(address), '-k', 'ops'], { env: { ...env, ...more } })
    const wrong = await signs({ SVC_WALLET_PASSPHRASE_FILE: cli.file('wrong', 'another one', 0o600) })
    expect(wrong.exitCode).toBe(4)
    expect(wrong.stderr).toContain('the wallet ops does not open: the passphrase is wrong, or its file was changed')
    const { SVC_WALLET_PASSPHRASE_FILE: _, ...without } = env
    const nobody = await svc(['tx', 'sign', transferOf(address), '-k', 'ops'], { env: without })
    expect(nobody.exitCode).toBe(2)
    expect(nobody.stderr).toContain('SVC_WALLET_PASSPHRASE_FILE')

    const text = readFileSync(fileOf('ops'), 'utf8')
    const content = JSON.parse(text)
    writeFileSync(fileOf('ops'), JSON.stringify({ ...content, address: someone().toBase58() }))
    const changed = JSON.parse(readFileSync(fileOf('ops'), 'utf8')).address
    const other = await run('tx', 'sign', transferOf(changed), '-k', 'ops')
    expect(other.exitCode).toBe(4)
    for (const broken of [
      '',
      '{}',
      'x'.repeat(20_000),
      text.replace(String(CHEAP), '1073741824'),
      text.slice(0, -20),
    ]) {
      writeFileSync(fileOf('ops'), broken)
      const { exitCode, stderr } = await run('wallet', 'address', 'ops')
      expect(exitCode).toBe(2)
      expect(stderr).toContain(fileOf('ops'))
    }
    writeFileSync(fileOf('ops'), text)
    chmodSync(fileOf('ops'), 0o640)
    expect((await run('wallet', 'address', 'ops')).stderr).toContain(`chmod 600 ${fileOf('ops')}`)
    chmodSync(fileOf('ops'), 0o600)
    chmodSync(wallets, 0o777)
    expect((await run('wallet', 'address', 'ops')).exitCode).toBe(4)
    chmodSync(wallets, 0o700)
    renameSync(fileOf('ops'), join(wallets, 'aside'))
    symlinkSync(join(wallets, 'aside'), fileOf('ops'))
    expect((await run('wallet', 'address', 'ops')).stderr).toContain('symbolic link')
  })

  it('is written once by runs at the same time, and no unfinished file stays', async () => {
    const { run, wallets } = fresh('race')
    const command = ['--address', someone().toBase58(), '--signer-command', 'cat']
    const runs = await Promise.all([1, 2, 3].map(() => run('wallet', 'import', 'ops', ...command)))
    expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 5, 5])
    expect(readdirSync(wallets)).toEqual(['ops.json'])
  })
})

describe('A keychain', () => {
  it('stores the passphrase, which is never an argument', async () => {
    const { env, json, run, sealed } = fresh('keychain')
    const bin = join(cli.home, 'keychain-bin')
    mkdirSync(bin)
    // Keeps what it gets beside itself, by the name of the wallet, and writes down its arguments.
    const tool = `#!/bin/sh
for last; do :; done
echo "$@" >> "${bin}/arguments"
case "$1" in
  store) cat > "${bin}/kept-$last" ;;
  lookup) cat "${bin}/kept-$last" ;;
  clear) rm "${bin}/kept-$last" ;;
esac
`
    writeFileSync(join(bin, 'secret-tool'), tool, { mode: 0o755 })
    const { SVC_WALLET_PASSPHRASE_FILE: _, ...without } = env
    const PATH = `${bin}:${process.env.PATH}`
    const ran = async (...args: string[]) => svc([...args, '--json'], { env: { ...without, PATH } })
    const made = JSON.parse((await ran('wallet', 'new', 'ops', '--keychain')).stdout)
    expect(made.kind).toBe('keychain')
    const kept = readFileSync(join(bin, 'kept-ops'), 'utf8')
    expect(kept).toMatch(/^[0-9a-f]{64}$/)
    expect(readFileSync(join(bin, 'arguments'), 'utf8')).not.toContain(kept)
    await ran('wallet', 'delete', 'ops', '--yes')
    expect(readdirSync(bin).sort()).toEqual(['arguments', 'secret-tool'])

    const earlier = await sealed('earlier', 'keychain', kept)
    writeFileSync(join(bin, 'kept-earlier'), kept)
    const signed = await ran('tx', 'sign', transferOf(earlier.address), '-k', 'earlier')
    expect(JSON.parse(signed.stdout)).toMatchObject({ missing_signers: [] })
    await ran('wallet', 'delete', 'earlier', '--yes')

    const none = await run('wallet', 'new', 'elsewhere', '--keychain')
    expect(none.exitCode).toBe(2)
    expect(none.stderr).toContain('there is no keychain here')
    expect(await json('wallet', 'list')).toEqual([])
  })
})

describe('A signer command', () => {
  const program = (name: string, body: string) => cli.file(name, `#!/bin/sh\n${body}\n`, 0o755)
  const imported = async (own: ReturnType<typeof fresh>, name: string, address: string, command: string) =>
    own.run('wallet', 'import', name, '--address', address, '--signer-command', command)

  it('signs the bytes of the message, and its stderr is shown', async () => {
    const own = fresh('command')
    const { address, file } = cli.keypair('device.json')
    await imported(own, 'device', address, `${shellQuoted(EXAMPLE)} ${shellQuoted(file)}`)
    const { exitCode, stdout, stderr } = await own.run('tx', 'sign', transferOf(address), '-k', 'device', '--json')
    expect(exitCode, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ signed_by: [address], missing_signers: [] })
    expect(stderr).toMatch(new RegExp(`signing \\d+ bytes for ${address}`))
    expect(await own.json('wallet', 'list')).toMatchObject([{ name: 'device', kind: 'command', address }])
    const exported = await own.run('wallet', 'export', 'device', 'out.json', '--yes')
    expect(exported.stderr).toContain('a program signs for it')
  })

  it('gets no key or setting from the environment, and its line is not read by a shell', async () => {
    const own = fresh('bare')
    const address = someone().toBase58()
    const spy = program(
      'spy',
      `env > ${shellQuoted(join(cli.home, 'seen'))}; printf '%s\\n' "$@" >> ${shellQuoted(join(cli.home, 'seen'))}`,
    )
    await imported(own, 'spy', address, `${shellQuoted(spy)} 'a $(touch pwned) b' "c\\"d"`)
    await svc(['tx', 'sign', transferOf(address), '-k', 'spy'], { env: { ...own.env, SVC_API_KEY: 'svc_secret' } })
    const seen = readFileSync(join(cli.home, 'seen'), 'utf8')
    expect(seen).toContain(`SVC_SIGNER_ADDRESS=${address}`)
    expect(seen.match(/^SVC_/gm)).toHaveLength(1)
    expect(seen).toContain('a $(touch pwned) b\nc"d\n')
    expect(readdirSync(cli.home)).not.toContain('pwned')
  })

  it.each([
    ['fails', 'echo "locked \u001b[31mdevice" >&2; exit 3', 'ended with exit code 3; nothing was signed'],
    ['prints nothing', 'cat > /dev/null', 'printed no signature'],
    ['prints another text', 'cat > /dev/null; echo signature', 'printed no signature'],
    ['prints too much', 'cat > /dev/null; yes | head -c 200000', 'printed more than 65536 bytes'],
    ['signs something else', `cat > /dev/null; echo ${'1'.repeat(64)}`, 'is not of'],
    ['is killed', 'kill -9 $$', 'signal SIGKILL'],
  ])('%s: nothing is signed, and the message names the wallet', async (what, body, told) => {
    const own = fresh(`faulty-${what.replaceAll(' ', '-')}`)
    const address = someone().toBase58()
    await imported(own, 'device', address, shellQuoted(program(`faulty-${what.replaceAll(' ', '-')}`, body)))
    const { exitCode, stdout, stderr } = await own.run('tx', 'sign', transferOf(address), '-k', 'device')
    expect(exitCode).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain('the signer command of the wallet device')
    expect(stderr).toContain(told)
    expect(stderr).not.toContain('\u001b')
  })

  it('is refused if others could change it, if it is gone, or if only a shell could read it', async () => {
    const own = fresh('refusals')
    const address = someone().toBase58()
    const open = program('open-program', 'true')
    chmodSync(open, 0o777)
    expect((await imported(own, 'device', address, shellQuoted(open))).stderr).toContain('can be written by others')
    // Every folder on the way counts, and so does the way that a link leads.
    const [outer, inner] = [join(cli.home, 'outer'), join(cli.home, 'outer', 'inner')]
    mkdirSync(inner, { recursive: true })
    const nested = program('outer/inner/signer', 'true')
    symlinkSync(nested, join(cli.home, 'linked-signer'))
    for (const folder of [inner, outer]) {
      chmodSync(folder, 0o777)
      for (const path of [nested, join(cli.home, 'linked-signer')]) {
        const { exitCode, stderr } = await imported(own, 'device', address, shellQuoted(path))
        expect(exitCode).toBeGreaterThan(0)
        expect(stderr.replace(/\s+/g, ' ')).toContain(`the folder ${folder} can be written by others (mode 777)`)
      }
      chmodSync(folder, 0o755)
    }
    for (const line of [
      '',
      'no-such-program-here',
      './nothing',
      'cat | tee x',
      'cat "unfinished',
      'cat > file',
      'echo $HOME',
    ])
      expect((await imported(own, 'device', address, line)).exitCode, line).toBe(2)
    expect((await imported(own, 'device', 'no address', 'cat')).stderr).toContain('--address')
    const later = program('later', 'true')
    await imported(own, 'device', address, shellQuoted(later))
    chmodSync(later, 0o777)
    expect((await own.run('tx', 'sign', transferOf(address), '-k', 'device')).exitCode).toBe(4)
    renameSync(later, `${later}-moved`)
    expect((await own.run('tx', 'sign', transferOf(address), '-k', 'device')).stderr).toContain('is gone')
  })

  it('is split into words as a shell does', () => {
    const refuse = (what: string) => new Error(what)
    fc.assert(
      fc.property(fc.array(anyText().filter((word) => !word.includes('\0'))), (words) => {
        expect(shellWords(words.map(shellQuoted).join(' '), refuse)).toEqual(words)
      }),
      { numRuns: 20 },
    )
    expect(shellWords(String.raw`a\ b  "c \"d\" \x" 'e'"f"g`, refuse)).toEqual(['a b', String.raw`c "d" \x`, 'efg'])
  })
})

describe('On the embedded chain', () => {
  it('an encrypted wallet and one that a program signs for create tokens, and svc wallet balance shows them', async () => {
    const own = fresh('chain')
    const device = cli.keypair('chain-device.json')
    await own.sealed('ops')
    const command = `${shellQuoted(EXAMPLE)} ${shellQuoted(device.file)}`
    await own.run('wallet', 'import', 'device', '--address', device.address, '--signer-command', command)
    for (const name of ['ops', 'device']) {
      const { address } = await own.json('wallet', 'address', name)
      await own.json('localnet', 'airdrop', address, '2')
      const token = ['--name', 'Own', '--symbol', 'OWN', '--uri', 'https://example.com/own.json', '--supply', '7']
      const program = ['--token-program', 'token2022', '--decimals', '3']
      const { mint } = await own.json('tokens', 'create', ...token, ...program, '-k', name, '--yes')
      const { lamports, tokens } = await own.json('wallet', 'balance', name)
      expect(BigInt(lamports)).toBeLessThan(2_000_000_000n)
      expect(tokens).toMatchObject([{ mint, amount: '7000', decimals: 3, symbol: 'OWN', token_program: 'token2022' }])
    }
  })
})
