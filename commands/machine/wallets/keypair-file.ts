/** Reads and writes keypair files in the format of the Solana CLI; messages never contain anything from a file. */
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  KEYPAIR_SHAPE,
  KeypairFileError,
  readKeypairFile,
  readSecretKeyFile,
} from '../../../src/chain/signer/keypair-file.ts'
import { homeFolder } from '../../../src/settings/config.ts'
import { type KeyPair, keyPairOf } from '../../../src/solana/signatures.ts'
import { terminal } from '../../cli/terminal.ts'
import { Problem, usage } from '../../ui/problem.ts'

const SOLANA_FOLDER = '.config/solana'
/** The largest settings file of the Solana CLI that is read, in bytes; a real one is far smaller. */
const MAX_SETTINGS_BYTES = 65_536
const GET_A_KEYPAIR =
  'make one with `svc localnet wallet FILE` or `solana-keygen new`, and name it with -k FILE or SVC_KEYPAIR'
const GET_A_MINT = 'make one with `svc tokens grind --ends-with TEXT --out FILE` or `solana-keygen new`'

export type Environment = Record<string, string | undefined>

/**
 * The file or the URL of a device of `-k` or of the setting `keypair`, as `requested`; otherwise `keypair_path` of the
 * Solana CLI's settings, or the CLI's default file.
 */
export function keypairPath(requested: string | undefined, env: Environment = terminal().env): string {
  const home = homeFolder(env)
  const file = requested ?? configuredPath(home) ?? join(home, SOLANA_FOLDER, 'id.json')
  // The Solana CLI also accepts prompt: and stdin: here; svc does not.
  if (file === '-' || file === 'ASK' || /^(prompt|stdin|file):/.test(file)) {
    const subject = requested === undefined ? "the Solana CLI's keypair_path is" : 'the keypair is given as'
    throw usage(`${subject} ${file}, and svc signs with a keypair file, a wallet or a Ledger`, {
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
export const readKeypair = (file: string): KeyPair =>
  asProblems(file, { param: '--keypair', next: GET_A_KEYPAIR }, () => readKeypairFile(file))

/** Reads the key of a mint, with its 64 secret integers. Throws as `readKeypair` does, and names --mint-keypair. */
export const readMintKey = (file: string): KeyPair & { secretKey: number[] } =>
  asProblems(file, { param: '--mint-keypair', next: GET_A_MINT }, () => readSecretKeyFile(file))

/** The same for the creator of a raise, who signs beside the payer. */
export const readCreatorKey = (file: string): KeyPair & { secretKey: number[] } =>
  asProblems(file, { param: '--creator', next: GET_A_KEYPAIR }, () => readSecretKeyFile(file))

function asProblems<T>(file: string, { param, next: source }: { param: string; next: string }, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof KeypairFileError)) throw error
    const { fault, message, next } = error
    const problem = `the keypair file ${file} ${message}`
    if (fault === 'exposed') throw new Problem('forbidden', problem, next === undefined ? {} : { next })
    if (fault === 'missing') throw usage(`there is no keypair at ${file}`, { param, next: source })
    throw usage(problem, { param, next: fault === 'unreadable' ? source : KEYPAIR_SHAPE })
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
