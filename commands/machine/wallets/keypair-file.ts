/** Reads and writes keypair files in the format of the Solana CLI; messages never contain anything from a file. */
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { KEYPAIR_SHAPE, KeypairFileError, readKeypairFile } from '../../../src/chain/signer/keypair-file.ts'
import { homeFolder } from '../../../src/settings/config.ts'
import { type KeyPair, keyPairOf } from '../../../src/solana/signatures.ts'
import { terminal } from '../../cli/terminal.ts'
import { Problem, usage } from '../../ui/problem.ts'

const SOLANA_FOLDER = '.config/solana'
/** The largest settings file of the Solana CLI that is read, in bytes; a real one is far smaller. */
const MAX_SETTINGS_BYTES = 65_536
const GET_A_KEYPAIR =
  'make one with `svc localnet wallet FILE` or `solana-keygen new`, and name it with -k FILE or SVC_KEYPAIR'

export type Environment = Record<string, string | undefined>

/**
 * The file of `-k` or of the setting `keypair`, as `requested`; otherwise `keypair_path` of the Solana CLI's settings,
 * or the CLI's default file.
 */
export function keypairPath(requested: string | undefined, env: Environment = terminal().env): string {
  const home = homeFolder(env)
  const file = requested ?? configuredPath(home) ?? join(home, SOLANA_FOLDER, 'id.json')
  // The Solana CLI also accepts usb://ledger, prompt: and stdin: here; svc does not.
  if (file === '-' || file === 'ASK' || /^(usb|prompt|stdin|file):/.test(file)) {
    const subject = requested === undefined ? "the Solana CLI's keypair_path is" : 'the keypair is given as'
    throw usage(`${subject} ${file}, and svc signs only with a keypair file`, {
      param: '--keypair',
      next: GET_A_KEYPAIR,
    })
  }
  return file
}

/**
 * Reads the key pair of a file. Throws a usage problem that names the file and its fault, or `forbidden` if others can
 * read it.
 */
export function readKeypair(file: string): KeyPair {
  try {
    return readKeypairFile(file)
  } catch (error) {
    if (!(error instanceof KeypairFileError)) throw error
    const { fault, message, next } = error
    const problem = `the keypair file ${file} ${message}`
    if (fault === 'exposed') throw new Problem('forbidden', problem, next === undefined ? {} : { next })
    if (fault === 'missing') throw usage(`there is no keypair at ${file}`, { param: '--keypair', next: GET_A_KEYPAIR })
    throw usage(problem, { param: '--keypair', next: fault === 'unreadable' ? GET_A_KEYPAIR : KEYPAIR_SHAPE })
  }
}

/** Writes a new key in the Solana CLI's format; returns false and changes nothing if the file exists. */
export const makeKeypair = (file: string): boolean => writeKeypair(file, randomBytes(32))

/** Writes the key of a 32-byte seed (0600); returns false and changes nothing if the file exists. */
export function writeKeypair(file: string, seed: Uint8Array): boolean {
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

/** The `keypair_path` of the Solana CLI's settings; undefined if the file is missing or cannot be parsed. */
function configuredPath(home: string): string | undefined {
  const file = join(home, SOLANA_FOLDER, 'cli/config.yml')
  try {
    const stats = statSync(file)
    if (!stats.isFile() || stats.size > MAX_SETTINGS_BYTES) return undefined
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
