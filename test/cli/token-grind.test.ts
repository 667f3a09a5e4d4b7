/** `svc tokens grind`: how rare an address is, the keys that it finds, and where it leaves them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { BASE58_ALPHABET, impossibleLetters, matcherOf, probabilityOf, tryKeys } from '../../src/solana/grinding.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { commandLine } from './command-line.ts'
import { started } from './following.ts'

const folder = makeSharedFolder('svc-grind-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pattern = (startsWith: string, endsWith = '', ignoreCase = false) => ({ startsWith, endsWith, ignoreCase })
const letters = fc.string({ unit: fc.constantFrom(...BASE58_ALPHABET), minLength: 1, maxLength: 2 })

describe('The probability of an address', () => {
  it('is 1 over all first letters, over all pairs of them, and over all last letters', () => {
    const all = [...BASE58_ALPHABET]
    const sum = (each: (letter: string) => number) => all.reduce((total, letter) => total + each(letter), 0)
    expect(sum((letter) => probabilityOf(pattern(letter)))).toBeCloseTo(1, 12)
    expect(sum((first) => sum((second) => probabilityOf(pattern(first + second))))).toBeCloseTo(1, 12)
    expect(sum((letter) => probabilityOf(pattern('', letter)))).toBeCloseTo(1, 12)
  })

  it('is that of random bytes, within what chance allows', () => {
    const count = 40_000
    const addresses = Array.from({ length: count }, () => base58.encode(crypto.getRandomValues(new Uint8Array(32))))
    for (const each of [pattern('2'), pattern('J'), pattern('K'), pattern('a', '', true), pattern('', 'x', true)]) {
      const expected = count * probabilityOf(each)
      const seen = addresses.filter(matcherOf(each)).length
      // Seven standard deviations.
      expect(Math.abs(seen - expected), JSON.stringify(each)).toBeLessThan(7 * Math.sqrt(expected) + 7)
    }
  })

  it('counts the spellings of a letter that the alphabet has', () => {
    expect(probabilityOf(pattern('', 'l', true))).toBe(probabilityOf(pattern('', 'L')))
    expect(probabilityOf(pattern('', 'k', true))).toBe(2 * probabilityOf(pattern('', 'k')))
    expect(impossibleLetters('l0OI1é', false)).toEqual(['l', '0', 'O', 'I', 'é'])
    expect(impossibleLetters('l0OI1é', true)).toEqual(['0', 'é'])
  })
})

describe('A ground key', () => {
  it('is the seed of the address that matched, as web3.js has it', () => {
    const seeds = tryKeys((address) => /^[2-9]/.test(address), 100)
    expect(seeds.length).toBeGreaterThan(5)
    for (const seed of seeds) {
      const { address } = keyPairOf(seed)
      expect(address).toMatch(/^[2-9]/)
      expect(Keypair.fromSeed(seed).publicKey.toBase58()).toBe(address)
    }
    expect(new Set(seeds.map((seed) => base58.encode(seed))).size).toBe(seeds.length)
  })

  it('matches as its text says', () => {
    fc.assert(
      fc.property(letters, letters, fc.uint8Array({ minLength: 32, maxLength: 32 }), (start, end, bytes) => {
        const address = base58.encode(bytes)
        const [own, other] = [address.slice(0, start.length), address.slice(-end.length)]
        expect(matcherOf(pattern(own, other))(address)).toBe(true)
        expect(matcherOf(pattern(own.toLowerCase(), other.toUpperCase(), true))(address)).toBe(true)
        expect(matcherOf(pattern(start, end))(address)).toBe(own === start && other === end)
      }),
    )
  })
})

describe('svc tokens grind', () => {
  const cli = commandLine()
  const grind = (...args: string[]) => cli.svc(['tokens', 'grind', ...args])

  it('tells the expected time, and leaves each key in a private file', async () => {
    const out = join(folder, 'keys')
    mkdirSync(out)
    const { exitCode, stderr } = await grind('--ends-with', 'a', '--ignore-case', '--count', '3', '--out', out)
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/^one address in 29 is like that; .*\nexpected time /),
    ])
    expect(stderr).toMatch(
      /`svc pools create --mint-keypair \S+\.json` launches it; `svc tokens create --mint-keypair /,
    )
    const files = readdirSync(out)
    expect(files).toHaveLength(3)
    for (const file of files) {
      expect(statSync(join(out, file)).mode & 0o777).toBe(0o600)
      const key = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(join(out, file), 'utf8'))))
      expect(`${key.publicKey.toBase58()}.json`).toBe(file)
      expect(file).toMatch(/a\.json$/i)
    }
  })

  it('answers with the address and never with the key', async () => {
    const out = join(folder, 'one.json')
    const { stdout, stderr } = await grind('--ends-with', 'b', '--out', out, '--json')
    const { keys } = JSON.parse(stdout)
    expect(keys).toEqual([{ address: expect.stringMatching(/b$/), file: out }])
    const secret = JSON.parse(readFileSync(out, 'utf8')).join(',')
    expect(`${stdout}${stderr}`.includes(secret)).toBe(false)
  })

  it.each([
    [['--starts-with', 'SOL0'], '--starts-with: no address contains "O", "0"'],
    [['--ends-with', 'pool'], '--ends-with: no address contains "l"'],
    [['--starts-with', '$', '--ignore-case'], '--starts-with: no address contains "$"'],
    [['--starts-with', 'abcdef', '--ends-with', 'abcdef'], 'have more than 10 letters together'],
    [[], 'missing --starts-with or --ends-with'],
    [['--ends-with', 'a', '--out', join(folder, 'missing', 'x.json')], 'no key can be written into'],
    [['--ends-with', 'a', '--out', join(folder, 'missing'), '--count', '2'], 'must be an existing folder for 2 keys'],
  ])('refuses %j before it searches', async (args, message) => {
    const { exitCode, stderr } = await grind(...args)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('leaves an existing file as it is', async () => {
    const out = join(folder, 'kept.json')
    writeFileSync(out, 'mine')
    const { exitCode, stderr } = await grind('--ends-with', 'a', '--out', out)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${out} already exists and was not changed`)])
    expect(readFileSync(out, 'utf8')).toBe('mine')
  })

  it('ends on Ctrl-C, and says what it found', async () => {
    const running = started(cli, ['tokens', 'grind', '--starts-with', 'zzzzzzz'])
    await running.says('expected time')
    expect(await running.stopped('SIGINT')).toBe(130)
    expect(running.stderr()).toMatch(/stopped; no key was found\nCancelled\.\n$/)
    expect(readdirSync(cli.home).filter((name) => name.endsWith('.json'))).toEqual([])
  })
})
