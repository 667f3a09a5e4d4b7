/**
 * Signs with a program of the user's own, such as a hardware wallet's: the message on stdin, the signature on stdout.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { base58 } from '@scure/base'
import { execa } from 'execa'
import { exposedOnTheWay } from '../../../src/platform/files.ts'
import { homeFolder } from '../../../src/settings/config.ts'
import { isSignatureOf } from '../../../src/solana/signatures.ts'
import { shellWords } from '../../cli/shell-words.ts'
import { terminal } from '../../cli/terminal.ts'
import { failure, Problem, usage } from '../../ui/problem.ts'
import { walletsFolder } from './folder.ts'
import type { CommandWallet } from './wallet-files.ts'

/** Time to find a device, unlock it and press its button. A blockhash expires sooner. */
const PATIENCE_MS = 180_000
const SIGNATURE_BYTES = 64
const MOST_OUTPUT = 65_536
const WRITABLE_BY_OTHERS = 0o022
const PARAM = { param: '--signer-command' }

/** The program with its absolute path, and the arguments. Throws a usage problem. */
export function signerCommand(line: string): string[] {
  const words = shellWords(line, (what) =>
    usage(`the command ${what}`, {
      ...PARAM,
      next: 'it is not run in a shell: give a program and its arguments, with quotes if needed',
    }),
  )
  const [program, ...args] = words
  if (program === undefined) throw usage('the command is empty', PARAM)
  const path = programPath(program)
  if (path === undefined) throw usage(`there is no program ${program}`, { ...PARAM, next: 'give its full path' })
  requireOwnProgram(path)
  return [path, ...args]
}

/** The program's current path, so that the working folder or PATH of a later call cannot choose another. */
function programPath(program: string): string | undefined {
  const { cwd, env } = terminal()
  if (program.startsWith('~/')) return existing(join(homeFolder(env), program.slice(2)))
  if (program.includes('/')) return existing(resolve(cwd(), program))
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute)
  return folders.map((folder) => existing(join(folder, program))).find((path) => path !== undefined)
}

function existing(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? path : undefined
  } catch {
    return undefined
  }
}

/** Refuses a program that another user can change, or replace through a folder of its path. */
function requireOwnProgram(path: string): void {
  const { mode, uid } = statSync(path)
  const user = process.getuid?.()
  if (user !== undefined && uid !== user && uid !== 0)
    throw new Problem('forbidden', `${path} belongs to another user (uid ${uid})`, {
      next: 'use a program of your own',
    })
  if ((mode & WRITABLE_BY_OTHERS) !== 0)
    throw new Problem('forbidden', `${path} can be written by others`, { next: `chmod go-w ${path}` })
  const exposed = exposedOnTheWay(path)
  if (exposed !== null)
    throw new Problem('forbidden', `${path} can be replaced: the folder ${exposed.folder} ${exposed.what}`, {
      next: exposed.next,
    })
}

/** The user's variables, without those with keys and settings of `svc`. */
function environment(address: string): Record<string, string | undefined> {
  const own = Object.entries(terminal().env).filter(([name]) => !name.startsWith('SVC_'))
  return { ...Object.fromEntries(own), SVC_SIGNER_ADDRESS: address }
}

/**
 * Returns the verified 64-byte signature of a message. `note` gets the lines of the program's stderr, which say what
 * to do on a device.
 */
export async function signByCommand(
  { name, address, command: [program = '', ...args] }: CommandWallet & { name: string },
  message: Uint8Array,
  note: (line: string) => void,
): Promise<Uint8Array> {
  const what = `the signer command of the wallet ${name}`
  if (existing(program) === undefined) throw failure(`${what} is gone: there is no program ${program}`)
  requireOwnProgram(program)
  const child = execa(program, args, {
    input: message,
    cwd: walletsFolder(),
    env: environment(address),
    extendEnv: false,
    reject: false,
    timeout: PATIENCE_MS,
    maxBuffer: MOST_OUTPUT,
  })
  createInterface({ input: child.stderr }).on('line', note)
  const { failed, timedOut, isMaxBuffer, exitCode, signal, stdout } = await child
  if (timedOut) throw failure(`${what} gave no signature in ${PATIENCE_MS / 1000} s`)
  if (isMaxBuffer) throw failure(`${what} printed more than ${MOST_OUTPUT} bytes`)
  if (failed)
    throw failure(
      `${what} ended with ${signal ? `signal ${signal}` : `exit code ${exitCode ?? 'none'}`}; nothing was signed`,
    )
  const signature = signatureIn(stdout)
  if (signature === undefined) throw failure(`${what} printed no signature: base58 or base64 of 64 bytes is expected`)
  if (isSignatureOf(address, message, signature)) return signature
  throw failure(`${what} printed a signature that is not of ${address} for this message`)
}

/** Base64 of 64 bytes ends in `==`; base58 has no `=`. */
function signatureIn(text: string): Uint8Array | undefined {
  const word = text.trim()
  if (word.length > 100) return undefined
  try {
    const bytes = word.endsWith('==') ? Buffer.from(word, 'base64') : base58.decode(word)
    return bytes.length === SIGNATURE_BYTES ? bytes : undefined
  } catch {
    return undefined
  }
}
