/** `svc wallet`: encrypted keys, keys in a keychain, and programs that sign; whatever is wrong is told without a key. */
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
import { shellQuoted, shellWords } from '../../commands/cli/shell-words.ts'
import { openSeed, type SealedSeed, sealedSeedSchema, sealSeed } from '../../commands/machine/wallets/encryption.ts'
import { derivedSeed, seedOfPhrase } from '../../commands/machine/wallets/recovery-phrase.ts'
import { isWalletName } from '../../commands/wallet/names.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { someone } from '../support/local-chain.ts'
import { commandLine, onTerminal } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const PASSPHRASE = 'correct horse battery'
const EXAMPLE = resolve(import.meta.dirname, '../../examples/signer-command/sign.mjs')

/** A configuration folder of its own, with the passphrase in a file. */
function fresh(name: string, passphrase = PASSPHRASE) {
  const env = {
    XDG_CONFIG_HOME: join(cli.home, `config-${name}`),
    SVC_WALLET_PASSPHRASE_FILE: cli.file(`passphrase-${name}`, `${passphrase}\n`, 0o600),
  }
  const wallets = join(env.XDG_CONFIG_HOME, 'svc/wallets')
  const run = async (...args: string[]) => svc(args, { env })
  const json = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await run(...args, '--json')
    expect(exitCode, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  return { env, run, json, wallets, fileOf: (wallet: string) => join(wallets, `${wallet}.json`) }
}
const keypairFile = (name: string, keypair = Keypair.generate()) => ({
  keypair,
  address: keypair.publicKey.toBase58(),
  path: cli.file(name, JSON.stringify([...keypair.secretKey]), 0o600),
})
/** An unsigned transfer of one lamport from the payer. */
function transferOf(payer: string): string {
  const payerKey = new PublicKey(payer)
  const instructions = [SystemProgram.transfer({ fromPubkey: payerKey, toPubkey: someone(), lamports: 1 })]
  const message = new TransactionMessage({ payerKey, recentBlockhash: someone().toBase58(), instructions })
  return Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize()).toString('base64')
}

describe('the encryption of a wallet', () => {
  const seed = Uint8Array.from({ length: 32 }, (_, i) => i)
  const CONTEXT = ['svc wallet 1', 'passphrase', 'address']
  /** Recorded: a later version has to open what an earlier one wrote. */
  const RECORDED: SealedSeed = {
    kdf: { name: 'scrypt', n: 16384, r: 8, p: 1, salt: 'YZbqonS7nSYotVgGi/aA0g==' },
    cipher: { name: 'aes-256-gcm', nonce: 'YOU/y1ixc3YWBPnq' },
    secret: 'C4oq7qHIb9zLsyEWqDtgqVRXxzIdyM9jg57K9yIwDa46jgo88MFBPBqv+vebuEU1',
  }

  it('opens what was written before', async () => {
    expect(await openSeed(RECORDED, 'pässphrase', CONTEXT)).toEqual(Buffer.from(seed))
    // The same letters of other code points, as another system writes them.
    expect(await openSeed(RECORDED, 'pa\u0308ssphrase', CONTEXT)).toEqual(Buffer.from(seed))
  })

  it('opens with no other passphrase, and not when any part of it was changed', async () => {
    const sealed = await sealSeed(seed, PASSPHRASE, CONTEXT, 2 ** 14)
    expect(await openSeed(sealed, PASSPHRASE, CONTEXT)).toEqual(Buffer.from(seed))
    expect(await openSeed(sealed, `${PASSPHRASE} `, CONTEXT)).toBeNull()
    expect(await openSeed(sealed, PASSPHRASE, ['svc wallet 1', 'passphrase', 'another'])).toBeNull()
    expect(await openSeed({ ...sealed, kdf: { ...sealed.kdf, n: 2 ** 15 } }, PASSPHRASE, CONTEXT)).toBeNull()
    const flipped = (text: string, at: number) => {
      const bytes = Buffer.from(text, 'base64')
      bytes[at]! ^= 1
      return bytes.toString('base64')
    }
    for (const at of [0, 15]) {
      const salt = flipped(sealed.kdf.salt, at)
      expect(await openSeed({ ...sealed, kdf: { ...sealed.kdf, salt } }, PASSPHRASE, CONTEXT)).toBeNull()
    }
    const nonce = flipped(sealed.cipher.nonce, 3)
    expect(await openSeed({ ...sealed, cipher: { ...sealed.cipher, nonce } }, PASSPHRASE, CONTEXT)).toBeNull()
    for (const at of [0, 31, 32, 47]) {
      expect(await openSeed({ ...sealed, secret: flipped(sealed.secret, at) }, PASSPHRASE, CONTEXT)).toBeNull()
    }
  })

  it('takes 128 MiB for a guess, and a file can ask for no more than 1 GiB', async () => {
    const { kdf } = await sealSeed(seed, PASSPHRASE, CONTEXT)
    expect(128 * kdf.n * kdf.r).toBe(128 * 1024 * 1024)
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
    expect(sealedSeedSchema.safeParse(RECORDED).success).toBe(true)
    for (const change of bad)
      expect(sealedSeedSchema.safeParse({ ...RECORDED, kdf: { ...RECORDED.kdf, ...change } }).success).toBe(false)
    expect(sealedSeedSchema.safeParse({ ...RECORDED, more: 1 }).success).toBe(false)
  })
})

describe('a recovery phrase', () => {
  it('derives by SLIP-10, with the vectors of that standard', () => {
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

describe('the name of a wallet', () => {
  it('is told from a path by its letters, whatever files there are', () => {
    for (const name of ['treasury', 'Ops-2', 'a_b', '7']) expect(isWalletName(name)).toBe(true)
    for (const path of ['id.json', './treasury', '/tmp/x', '~/id', 'a b', '', '-', '../x'])
      expect(isWalletName(path)).toBe(false)
  })

  it('never means a file of the folder that bears it', async () => {
    const { run, json } = fresh('names')
    const file = keypairFile('treasury')
    const missing = await run('wallet', 'address', 'treasury')
    expect(missing.exitCode).toBe(3)
    expect(missing.stderr).toContain('there is no wallet treasury')
    expect(missing.stderr).toContain('for the file of that name, write ./treasury')
    expect(await json('wallet', 'address', './treasury')).toEqual({ address: file.address })
    const made = await json('wallet', 'new', 'treasury')
    expect(made.address).not.toBe(file.address)
    expect(await json('wallet', 'address', 'treasury')).toEqual({ address: made.address })
    const { missing_signers: unsigned } = await json('tx', 'sign', transferOf(made.address), '-k', 'treasury')
    expect(unsigned).toEqual([])
  })

  it.each(['Treasury', 'a b', '../x', '-x', 'a'.repeat(33), 'ä', 'x.json', ''])('is not %s', async (name) => {
    const { exitCode, stderr } = await fresh('refused').run('wallet', 'new', '--', name)
    expect(exitCode).toBe(2)
    expect(stderr).not.toMatch(/\n\s+at /)
  })
})

describe('svc wallet', () => {
  it('makes a wallet that only this user can read, encrypted, and signs with it', async () => {
    const { json, fileOf, wallets } = fresh('new')
    const made = await json('wallet', 'new', 'ops')
    expect(made).toEqual({ name: 'ops', address: expect.any(String), kind: 'passphrase', file: fileOf('ops') })
    expect(statSync(wallets).mode & 0o777).toBe(0o700)
    expect(statSync(fileOf('ops')).mode & 0o777).toBe(0o600)
    const content = JSON.parse(readFileSync(fileOf('ops'), 'utf8'))
    expect(content).toMatchObject({ version: 1, address: made.address, key: { kdf: { n: 131072 } } })
    const signed = await json('tx', 'sign', transferOf(made.address), '-k', 'ops')
    expect(signed).toMatchObject({ signed_by: [made.address], missing_signers: [] })
  })

  it('uses one of them everywhere, and SVC_KEYPAIR and -k go before it', async () => {
    const { run, json, env } = fresh('use')
    const [one, two] = [await json('wallet', 'new', 'one'), await json('wallet', 'new', 'two')]
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

  it('cannot be chosen by the svc.json of a folder', async () => {
    const { env } = fresh('project')
    const folder = join(cli.home, 'hostile')
    mkdirSync(folder)
    writeFileSync(join(folder, 'svc.json'), JSON.stringify({ keypair: 'ops' }))
    const { exitCode, stderr } = await svc(['wallet', 'address'], { env, cwd: folder })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('keypair')
  })

  it('imports a keypair file, base58 and a phrase, exports them again, and replaces nothing', async () => {
    const { run, json, fileOf } = fresh('import')
    const { keypair, address, path } = keypairFile('id.json')
    expect(await json('wallet', 'import', 'cli', path)).toMatchObject({ name: 'cli', address })
    const typed = cli.file('base58.txt', `${base58.encode(keypair.secretKey)}\n`, 0o600)
    expect(await json('wallet', 'import', 'base', typed)).toMatchObject({ address })
    const phrase = cli.file('phrase.txt', `${'Abandon  '.repeat(11)}about\n`, 0o600)
    const first = await json('wallet', 'import', 'words', phrase)
    expect(first.address).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk')
    expect((await json('wallet', 'import', 'words-1', phrase, '--account', '1')).address).not.toBe(first.address)
    const { recovery_phrase, address: made } = await json('wallet', 'new', 'phrase', '--phrase')
    expect(recovery_phrase.split(' ')).toHaveLength(12)
    const again = cli.file('again.txt', recovery_phrase, 0o600)
    expect((await json('wallet', 'import', 'phrase-again', again)).address).toBe(made)

    await json('wallet', 'export', 'base', 'exported.json', '--yes')
    expect(JSON.parse(readFileSync(join(cli.home, 'exported.json'), 'utf8'))).toEqual([...keypair.secretKey])
    expect(statSync(join(cli.home, 'exported.json')).mode & 0o777).toBe(0o600)
    const kept = await run('wallet', 'export', 'words', 'exported.json', '--yes')
    expect(kept.exitCode).toBe(2)
    expect(kept.stderr).toContain('already exists and was not changed')
    const before = readFileSync(fileOf('cli'), 'utf8')
    const taken = await run('wallet', 'import', 'cli', phrase)
    expect(taken.exitCode).toBe(5)
    expect(readFileSync(fileOf('cli'), 'utf8')).toBe(before)
  })

  it('quotes no key that it cannot read, and takes none that others can read', async () => {
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

  it('refuses another passphrase, files of another shape, files that others can read, and links', async () => {
    const { run, json, env, fileOf, wallets } = fresh('opening')
    const { address } = await json('wallet', 'new', 'ops')
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
    const other = await run(
      'tx',
      'sign',
      transferOf(JSON.parse(readFileSync(fileOf('ops'), 'utf8')).address),
      '-k',
      'ops',
    )
    expect(other.exitCode).toBe(4)
    for (const broken of ['', '{}', 'x'.repeat(20_000), text.replace('131072', '1073741824'), text.slice(0, -20)]) {
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

  it('is made once by two at the same time, and leaves no draft', async () => {
    const { run, wallets } = fresh('race')
    const codes = (await Promise.all([1, 2, 3].map(() => run('wallet', 'new', 'ops')))).map(({ exitCode }) => exitCode)
    expect(codes.sort()).toEqual([0, 5, 5])
    expect(readdirSync(wallets)).toEqual(['ops.json'])
  })

  it('asks for the passphrase on a terminal without showing it', async () => {
    const { env } = fresh('typed')
    const { SVC_WALLET_PASSPHRASE_FILE: _, ...without } = env
    const { exitCode, screen } = await onTerminal(
      { ...cli, env: { ...cli.env, ...without } },
      ['wallet', 'new', 'ops'],
      [
        ['Passphrase for the new wallet', 'short\r'],
        ['has fewer than 8', `${'\u007f'.repeat(5)}${PASSPHRASE}\r`],
        ['Repeat the passphrase', 'another one\r'],
        ['does not match', `${'\u007f'.repeat(11)}${PASSPHRASE}\r`],
      ],
    )
    expect(screen).toContain('The wallet ops has the address')
    expect(exitCode).toBe(0)
    expect(screen).not.toContain('horse')
  })
})

describe('a keychain', () => {
  it('keeps the passphrase, which never stands in an argument', async () => {
    const { env, json, run } = fresh('keychain')
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
    const signed = await ran('tx', 'sign', transferOf(made.address), '-k', 'ops')
    expect(JSON.parse(signed.stdout)).toMatchObject({ missing_signers: [] })
    const kept = readFileSync(join(bin, 'kept-ops'), 'utf8')
    expect(kept).toMatch(/^[0-9a-f]{64}$/)
    expect(readFileSync(join(bin, 'arguments'), 'utf8')).not.toContain(kept)
    await ran('wallet', 'delete', 'ops', '--yes')
    expect(readdirSync(bin).sort()).toEqual(['arguments', 'secret-tool'])

    const none = await run('wallet', 'new', 'elsewhere', '--keychain')
    expect(none.exitCode).toBe(2)
    expect(none.stderr).toContain('there is no keychain here')
    expect(await json('wallet', 'list')).toEqual([])
  })
})

describe('a signer command', () => {
  const program = (name: string, body: string) => cli.file(name, `#!/bin/sh\n${body}\n`, 0o755)
  const imported = async (own: ReturnType<typeof fresh>, name: string, address: string, command: string) =>
    own.run('wallet', 'import', name, '--address', address, '--signer-command', command)

  it('signs the bytes of the message, and what it says is shown', async () => {
    const own = fresh('command')
    const { address, path } = keypairFile('device.json')
    await imported(own, 'device', address, `${shellQuoted(EXAMPLE)} ${shellQuoted(path)}`)
    const { exitCode, stdout, stderr } = await own.run('tx', 'sign', transferOf(address), '-k', 'device', '--json')
    expect(exitCode, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ signed_by: [address], missing_signers: [] })
    expect(stderr).toMatch(new RegExp(`signing \\d+ bytes for ${address}`))
    expect(await own.json('wallet', 'list')).toMatchObject([{ name: 'device', kind: 'command', address }])
    const exported = await own.run('wallet', 'export', 'device', 'out.json', '--yes')
    expect(exported.stderr).toContain('a program signs for it')
  })

  it('gets neither keys nor settings from the environment, and no shell reads its line', async () => {
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
  ])('that %s signs nothing, and the wallet is named', async (what, body, told) => {
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

  it('is refused where others could change it, where it is gone, and where only a shell could read it', async () => {
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

  it('has its words read as a shell reads them', () => {
    const refuse = (what: string) => new Error(what)
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }).filter((word) => !word.includes('\0'))), (words) => {
        expect(shellWords(words.map(shellQuoted).join(' '), refuse)).toEqual(words)
      }),
    )
    expect(shellWords(String.raw`a\ b  "c \"d\" \x" 'e'"f"g`, refuse)).toEqual(['a b', String.raw`c "d" \x`, 'efg'])
  })
})

describe('on the embedded chain', () => {
  it('an encrypted wallet and one that signs by a program create tokens, and balance shows them', async () => {
    const own = fresh('chain')
    const device = keypairFile('chain-device.json')
    await own.json('wallet', 'new', 'ops')
    const command = `${shellQuoted(EXAMPLE)} ${shellQuoted(device.path)}`
    await own.run('wallet', 'import', 'device', '--address', device.address, '--signer-command', command)
    for (const name of ['ops', 'device']) {
      const { address } = await own.json('wallet', 'address', name)
      await own.json('localnet', 'airdrop', address, '2')
      const token = ['--name', 'Own', '--symbol', 'OWN', '--uri', 'https://example.com/own.json', '--supply', '7']
      const create = [
        'tokens',
        'create',
        ...token,
        '--token-program',
        'token2022',
        '--decimals',
        '3',
        '-k',
        name,
        '--yes',
      ]
      const { mint } = await own.json(...create)
      const { lamports, tokens } = await own.json('wallet', 'balance', name)
      expect(BigInt(lamports)).toBeLessThan(2_000_000_000n)
      expect(tokens).toMatchObject([{ mint, amount: '7000', decimals: 3, symbol: 'OWN', token_program: 'token2022' }])
    }
  })
})
