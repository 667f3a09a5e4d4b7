/** Keypair files: where they are looked for, what is wrong with them, and that nothing of them is ever shown. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { Keypair } from '@solana/web3.js'
import { execaSync } from 'execa'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { keypairPath, readKeypair } from '../../commands/machine/wallets/keypair-file.ts'
import { Problem } from '../../commands/ui/problem.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { commandLine, MINT, STACK_FRAME } from './command-line.ts'

const folder = makeSharedFolder('svc-keypairs-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fileWith = (text: string | Uint8Array, mode = 0o600) => {
  const file = join(folder, 'key.json')
  rmSync(file, { force: true })
  writeFileSync(file, text, { mode })
  return file
}
const problemOf = (text: string | Uint8Array): Problem => {
  try {
    readKeypair(fileWith(text))
  } catch (error) {
    expect(error).toBeInstanceOf(Problem)
    return error as Problem
  }
  throw new Error('it was taken for a keypair')
}

/** Everything that may be said: none of it has room for what a file holds. */
const SAID = [
  /^is not JSON$/,
  /^is not a file$/,
  /^is empty$/,
  /^has \d+ bytes, too many for a keypair$/,
  /^is not a JSON array$/,
  /^holds 32 integers: the public key, its second half, is missing$/,
  /^holds \d+ entries, not 64$/,
  /^holds an entry that is not an integer from 0 to 255, at place \d\d?$/,
  /^is damaged: its public key does not belong to its seed$/,
  /^is UTF-16: save it as UTF-8$/,
  /^holds an address, which is public, and not the secret key$/,
  /^holds (?:base58|words) instead of JSON: `svc wallet import NAME FILE` takes a (?:key in base58|recovery phrase)$/,
]

describe('A keypair file', () => {
  it('of web3.js is read, with any white space', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.constantFrom(0, 2), (seed, indent) => {
        const keypair = Keypair.fromSeed(seed)
        const file = fileWith(`${JSON.stringify([...keypair.secretKey], null, indent)}\n`)
        expect(readKeypair(file).address).toBe(keypair.publicKey.toBase58())
      }),
      { numRuns: 25 },
    )
  })

  it('with a byte order mark is read', () => {
    const { secretKey, publicKey } = Keypair.generate()
    const file = fileWith(`\ufeff${JSON.stringify([...secretKey])}`)
    expect(readKeypair(file).address).toBe(publicKey.toBase58())
  })

  it.each([
    ['UTF-16', (key: Keypair) => Buffer.from(`\ufeff${JSON.stringify([...key.secretKey])}`, 'utf16le'), /is UTF-16/],
    ['an address', (key: Keypair) => `${key.publicKey.toBase58()}\n`, /holds an address, which is public/],
    ['a key in base58', (key: Keypair) => base58.encode(key.secretKey), /base58 instead of JSON.*svc wallet import/],
    ['a key in quotes', (key: Keypair) => JSON.stringify(base58.encode(key.secretKey)), /base58 instead of JSON/],
    ['a phrase', () => `${'abandon '.repeat(11)}about`, /words instead of JSON.*svc wallet import/],
  ])('that holds %s is refused by that name', (_, text, what) => {
    const key = Keypair.generate()
    const { message } = problemOf(text(key))
    expect(message).toMatch(what)
    expect(message).not.toContain(base58.encode(key.secretKey).slice(0, 20))
  })

  it('that is malformed is refused in one sentence that quotes nothing of it', () => {
    const secret = [...Keypair.generate().secretKey]
    const entry = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null), fc.integer({ min: 0, max: 255 }))
    const broken = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(entry, { maxLength: 70 }).map((entries) => JSON.stringify(entries)),
      // One entry too many, too few or changed, of a real key.
      fc.nat(62).map((length) => JSON.stringify(secret.slice(0, length))),
      fc.nat(255).map((byte) => JSON.stringify([...secret, byte])),
      fc
        .tuple(fc.nat(63), fc.oneof(fc.integer({ min: 256 }), fc.integer({ max: -1 }), fc.constant(1.5)))
        .map(([place, value]) => JSON.stringify(secret.with(place, value))),
      fc
        .tuple(fc.nat(63), fc.integer({ min: 1, max: 255 }))
        .map(([place, more]) => JSON.stringify(secret.with(place, (secret[place]! + more) % 256))),
      fc.nat(200).map((cut) => JSON.stringify(secret).slice(0, cut)),
      fc.constant(JSON.stringify({ secretKey: secret })),
      fc.constant('5JueXZhcG6MGMFQ6mAi4X3fGJMvSTPFLnbJZ7UE9a4dTsr7Yh1kT1pVqYQ2Xo3i4'),
      fc.constant(' '.repeat(70_000)),
    )
    fc.assert(
      fc.property(broken, (text) => {
        const { code, message, next, cause } = problemOf(text)
        const prefix = `the keypair file ${join(folder, 'key.json')} `
        expect(code).toBe('bad_request')
        expect(message.startsWith(prefix)).toBe(true)
        const said = message.slice(prefix.length)
        expect(
          SAID.some((pattern) => pattern.test(said)),
          said,
        ).toBe(true)
        expect(next).toBe('a keypair file is a JSON array of 64 integers, as `solana-keygen new` writes it')
        // A cause would be printed with --debug, and JSON.parse quotes what it reads.
        expect(cause).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  it('has the fault of each usual mistake named', () => {
    const secret = [...Keypair.generate().secretKey]
    const other = [...Keypair.generate().publicKey.toBytes()]
    expect(problemOf('').message).toContain('is empty')
    expect(problemOf('[1,2').message).toContain('is not JSON')
    expect(problemOf('{}').message).toContain('is not a JSON array')
    expect(problemOf(JSON.stringify(secret.slice(0, 32))).message).toContain('its second half, is missing')
    expect(problemOf(JSON.stringify(secret.with(5, 256))).message).toContain('at place 6')
    expect(problemOf(JSON.stringify([...secret.slice(0, 32), ...other])).message).toContain('does not belong')
  })

  it('is refused if others can read it, or if it is a folder or a pipe', () => {
    const text = JSON.stringify([...Keypair.generate().secretKey])
    for (const mode of [0o640, 0o604, 0o660, 0o620, 0o602]) {
      const file = fileWith(text)
      chmodSync(file, mode)
      expect(() => readKeypair(file)).toThrow(
        expect.objectContaining({
          code: 'forbidden',
          next: `chmod 600 ${file}`,
          message: expect.stringContaining('mode'),
        }),
      )
    }
    expect(() => readKeypair(folder)).toThrow('is not a file')
    const pipe = join(folder, 'pipe')
    execaSync('mkfifo', ['-m', '600', pipe])
    expect(() => readKeypair(pipe)).toThrow('is not a file')
  })
})

describe('The keypair of the Solana CLI', () => {
  const home = join(folder, 'home')
  const settings = (text: string) => {
    mkdirSync(join(home, '.config/solana/cli'), { recursive: true })
    writeFileSync(join(home, '.config/solana/cli/config.yml'), text)
    return keypairPath(undefined, { HOME: home })
  }

  it('is the one of its settings; a given file takes precedence', () => {
    const fallback = join(home, '.config/solana/id.json')
    expect(keypairPath(undefined, { HOME: home })).toBe(fallback)
    expect(settings('---\njson_rpc_url: "x"\nkeypair_path: /keys/one.json\ncommitment: confirmed\n')).toBe(
      '/keys/one.json',
    )
    expect(settings('keypair_path: "/keys/with space.json" # mine\n')).toBe('/keys/with space.json')
    expect(settings("keypair_path: '~/two.json'\r\n")).toBe(join(home, 'two.json'))
    expect(settings('keypair_path: /keys/with space.json\n')).toBe('/keys/with space.json')
    for (const useless of ['', 'keypair_path:\n', '  keypair_path: /nested.json\n', 'address_labels: {}\n', '\0']) {
      expect(settings(useless)).toBe(fallback)
    }
    expect(keypairPath('mine.json', { HOME: home })).toBe('mine.json')
  })

  it('may be a Ledger, and is refused with the way out if it is neither that nor a file', () => {
    expect(settings('keypair_path: usb://ledger?key=0\n')).toBe('usb://ledger?key=0')
    for (const path of ['prompt://', 'ASK', 'stdin://']) {
      expect(() => settings(`keypair_path: ${path}\n`)).toThrow(`keypair_path is ${path}`)
    }
    expect(() => keypairPath('-', { HOME: home })).toThrow('svc signs with a keypair file, a wallet or a Ledger')
  })
})

describe('svc', () => {
  const cli = commandLine()

  it('-k refuses an address or a key, and does not repeat a key', async () => {
    const { secretKey, publicKey } = Keypair.generate()
    const send = (key: string) => cli.svc(['wallet', 'send', publicKey.toBase58(), '1', '-k', key, '--dry-run'])
    const address = await send(publicKey.toBase58())
    expect(address).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is an address, not a key') })
    const key = await send(base58.encode(secretKey))
    expect(key).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('never the key itself') })
    expect(key.stderr).not.toContain(base58.encode(secretKey).slice(0, 20))
  })

  it('says what is wrong with a keypair file and nothing of its content, even with --debug', async () => {
    const secret = [...Keypair.generate().secretKey]
    const broken = cli.file('broken.json', `${JSON.stringify(secret).slice(0, -1)},"x`, 0o600)
    const open = cli.file('open.json', JSON.stringify(secret), 0o644)
    const runs: [string, number, string][] = [
      [broken, 2, 'is not JSON'],
      [open, 4, `chmod 600 ${open}`],
      [join(cli.home, 'absent.json'), 2, 'solana-keygen new'],
    ]
    for (const [file, exitCode, said] of runs) {
      for (const more of [[], ['--json'], ['--debug']]) {
        const run = await cli.svc(['tokens', 'revoke', MINT, 'mint', '-k', file, ...more])
        expect(run, `${file} ${more}`).toMatchObject({ exitCode, stdout: '' })
        if (more[0] !== '--json') expect(run.stderr).toContain(said)
        expect(run.stderr).not.toContain(secret.slice(0, 4).join(','))
        if (more[0] !== '--debug') expect(run.stderr).not.toMatch(STACK_FRAME)
      }
    }
  })

  it('says how to get a keypair if there is none', async () => {
    const { exitCode, stderr } = await cli.svc(['tokens', 'revoke', MINT, 'mint'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`there is no keypair at ${join(cli.home, '.config/solana/id.json')}`)
    expect(stderr).toContain(
      'next: make one with `svc localnet wallet FILE` or `solana-keygen new`, and name it with -k',
    )
  })

  it('signs with the file of -k, of SVC_KEYPAIR or of the profile, in this order, and never with one of a svc.json', async () => {
    const [flagged, variable, profiled, folder] = ['flag', 'variable', 'profile', 'folder'].map((name) => {
      const pair = Keypair.generate()
      return {
        address: pair.publicKey.toBase58(),
        file: cli.file(`${name}.json`, JSON.stringify([...pair.secretKey]), 0o600),
      }
    })
    const create = [
      ...['tokens', 'create', '--name', 'A', '--symbol', 'A', '--uri', 'https://example.com/a'],
      ...['--supply', '1', '--token-program', 'token2022'],
    ]
    /** Who has to sign what is built; what was said where nothing was. */
    const signer = async (flags: string[], env: Record<string, string> = {}, cwd = cli.home) => {
      const { stdout, stderr } = await cli.svc([...create, '--build-only', '--json', ...flags], { env, cwd })
      return stdout === '' ? stderr : JSON.parse(stdout).missing_signers[0]
    }
    expect((await cli.svc(['config', 'set', 'keypair', profiled!.file])).exitCode).toBe(0)
    const said = [
      await signer([]),
      await signer([], { SVC_KEYPAIR: variable!.file }),
      await signer(['-k', flagged!.file], { SVC_KEYPAIR: variable!.file }),
    ]
    expect(said).toEqual([profiled, variable, flagged].map((own) => own!.address))
    const cwd = join(cli.home, 'cloned')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'svc.json'), JSON.stringify({ keypair: folder!.file }))
    expect(await signer([], {}, cwd)).toMatch(/svc\.json.*keypair.*it decides who signs/s)
    // A path that somebody wrote by hand.
    const profiles = join(cli.home, '.config', 'svc', 'profiles.json')
    writeFileSync(profiles, readFileSync(profiles, 'utf8').replace(profiled!.file, 'wallet.json'))
    expect(await signer([])).toContain('keypair in your profile must be an absolute path')
    await cli.svc(['config', 'unset', 'keypair'])
  })
})
