/** Reads keypair files as the Solana CLI writes them; nothing of what a file holds is ever said. */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Problem, usage } from '../commands/ui/problem.ts'
import { type KeyPair, keyPairOf } from '../src/chain/localnet/signatures.ts'

const SOLANA_FOLDER = '.config/solana'
/** Far above both files: nothing larger is read. */
const MAX_BYTES = 65_536
const WAY_OUT = 'make one with `solana-keygen new`, or name one with -k FILE'
const SHAPE = 'a keypair file is a JSON array of 64 integers, as `solana-keygen new` writes it'

export type Environment = Record<string, string | undefined>

/** The file given, else `keypair_path` of the Solana CLI's settings, else its default file. */
export function keypairPath(given: string | undefined, env: Environment = process.env): string {
  const home = env.HOME || homedir()
  const file = given ?? configuredPath(home) ?? join(home, SOLANA_FOLDER, 'id.json')
  // The Solana CLI also takes usb://ledger, prompt: and stdin: here.
  if (file === '-' || file === 'ASK' || /^(usb|prompt|stdin|file):/.test(file)) {
    const said = given === undefined ? "the Solana CLI's keypair_path is" : 'the keypair is given as'
    throw usage(`${said} ${file}, and svc signs only with a keypair file`, { param: '--keypair', next: WAY_OUT })
  }
  return file
}

/** Key pair of a file. Throws a usage problem naming the file and its fault, `forbidden` when others can read it. */
export function readKeypair(file: string): KeyPair {
  let numbers: unknown
  try {
    numbers = JSON.parse(readPrivate(file))
  } catch (error) {
    // JSON.parse quotes what it read: its message goes no further.
    if (error instanceof Problem) throw error
    throw fault(file, 'is not JSON')
  }
  return keyPairFrom(numbers, (what) => fault(file, what))
}

/** Writes a new key as the Solana CLI does; false, and nothing is touched, where the file exists. */
export function makeKeypair(file: string): boolean {
  const seed = randomBytes(32)
  const text = `[${[...seed, ...keyPairOf(seed).publicKey].join(',')}]\n`
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    throw usage(`the keypair file ${file} cannot be made: ${code === 'ENOENT' ? 'there is no such folder' : code}`, {
      param: '<file>',
    })
  }
}

/** Key pair of 64 integers, seed then public key; `refuse` makes the error of what is wrong with them. */
export function keyPairFrom(numbers: unknown, refuse: (what: string) => Error): KeyPair {
  if (!Array.isArray(numbers)) throw refuse('holds no JSON array')
  if (numbers.length === 32) throw refuse('holds 32 integers: the public key, its second half, is missing')
  if (numbers.length !== 64) throw refuse(`holds ${numbers.length} entries, not 64`)
  const wrong = numbers.findIndex((byte) => !Number.isInteger(byte) || byte < 0 || byte > 255)
  if (wrong >= 0) throw refuse(`holds an entry that is no integer from 0 to 255, at place ${wrong + 1}`)
  const bytes = Uint8Array.from(numbers as number[])
  const pair = keyPairOf(bytes.subarray(0, 32))
  const fits = Buffer.from(pair.publicKey).equals(bytes.subarray(32))
  bytes.fill(0)
  if (!fits) throw refuse('is damaged: its public key does not belong to its seed')
  return pair
}

const fault = (file: string, what: string) =>
  usage(`the keypair file ${file} ${what}`, { param: '--keypair', next: SHAPE })

function readPrivate(file: string): string {
  let descriptor: number
  try {
    // A pipe without a writer would block the opening itself.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw unreadable(file, (error as NodeJS.ErrnoException).code)
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw fault(file, 'is not a file')
    if ((stats.mode & 0o077) !== 0) {
      const mode = (stats.mode & 0o777).toString(8)
      throw new Problem('forbidden', `the keypair file ${file} can be read by others (mode ${mode})`, {
        next: `chmod 600 ${file}`,
      })
    }
    if (stats.size === 0) throw fault(file, 'is empty')
    if (stats.size > MAX_BYTES) throw fault(file, `has ${stats.size} bytes, too many for a keypair`)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

function unreadable(file: string, code: string | undefined): Problem {
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return usage(`there is no keypair at ${file}`, { param: '--keypair', next: WAY_OUT })
  }
  const why = code === 'EACCES' || code === 'EPERM' ? 'permission denied' : (code ?? 'it does not open')
  return usage(`the keypair file ${file} cannot be read: ${why}`, { param: '--keypair', next: WAY_OUT })
}

/** Null bytes, folders and a file that is not understood count for nothing here. */
function configuredPath(home: string): string | undefined {
  const file = join(home, SOLANA_FOLDER, 'cli/config.yml')
  try {
    const stats = statSync(file)
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined
    const line = /^keypair_path:[ \t]+(?:"([^"\\\n]*)"|'([^'\n]*)'|([^\n"'#][^\n#]*?))[ \t]*(?:#.*)?\r?$/m.exec(
      readFileSync(file, 'utf8'),
    )
    const path = (line?.[1] ?? line?.[2] ?? line?.[3])?.trim()
    if (path === undefined || path === '') return undefined
    return path.startsWith('~/') ? join(home, path.slice(2)) : path
  } catch {
    return undefined
  }
}
