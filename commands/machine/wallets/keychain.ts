/**
 * Keeps the passphrase of a wallet in the system's keychain: `security` on macOS, `secret-tool` (libsecret) on Linux.
 */
import { randomBytes } from 'node:crypto'
import { execa } from 'execa'
import { terminal } from '../../cli/terminal.ts'
import { failure, Problem } from '../../ui/problem.ts'

const SERVICE = 'svc-wallet'
/** The user may have to unlock the keychain first. */
const PATIENCE_MS = 120_000

interface Keychain {
  program: string
  /** Secrets go through standard input, because others can see arguments. */
  store(name: string, secret: string): { args: string[]; input: string }
  lookup(name: string): string[]
  remove(name: string): string[]
}

const MACOS: Keychain = {
  program: 'security',
  store: (name, secret) => ({ args: ['-i'], input: `add-generic-password -U -s ${SERVICE} -a ${name} -w ${secret}\n` }),
  lookup: (name) => ['find-generic-password', '-s', SERVICE, '-a', name, '-w'],
  remove: (name) => ['delete-generic-password', '-s', SERVICE, '-a', name],
}
const LINUX: Keychain = {
  program: 'secret-tool',
  store: (name, secret) => ({
    args: ['store', `--label=svc wallet ${name}`, 'service', SERVICE, 'wallet', name],
    input: secret,
  }),
  lookup: (name) => ['lookup', 'service', SERVICE, 'wallet', name],
  remove: (name) => ['clear', 'service', SERVICE, 'wallet', name],
}
const keychainOf = (platform: NodeJS.Platform): Keychain => (platform === 'darwin' ? MACOS : LINUX)

/** Puts a random passphrase into the keychain and returns it. Wallet names are plain words, which need no quoting. */
export async function storeInKeychain(name: string, platform = process.platform): Promise<string> {
  const secret = randomBytes(32).toString('hex')
  const keychain = keychainOf(platform)
  const { args, input } = keychain.store(name, secret)
  await run(keychain, args, input)
  if ((await lookupInKeychain(name, platform)) === secret) return secret
  throw failure(`${keychain.program} does not return what it stored`)
}

export async function lookupInKeychain(name: string, platform = process.platform): Promise<string> {
  const keychain = keychainOf(platform)
  const found = await run(keychain, keychain.lookup(name))
  if (/^[0-9a-f]{64}$/.test(found)) return found
  throw new Problem('not_found', `the keychain has no passphrase of the wallet ${name}`, {
    next: 'it is in the keychain of the user and the machine that made the wallet',
  })
}

export async function removeFromKeychain(name: string, platform = process.platform): Promise<void> {
  const keychain = keychainOf(platform)
  await run(keychain, keychain.remove(name))
}

async function run({ program }: Keychain, args: readonly string[], input = ''): Promise<string> {
  const { env } = terminal()
  const ran = await execa(program, args, {
    input,
    env,
    extendEnv: false,
    reject: false,
    timeout: PATIENCE_MS,
    maxBuffer: 65_536,
  })
  if (!ran.failed) return ran.stdout
  if (ran.code === 'ENOENT') {
    throw new Problem('bad_request', `there is no keychain here: ${program} is not installed`, {
      next: 'leave --keychain out, and choose a passphrase',
    })
  }
  // Its messages may quote the secret, so they are not shown.
  throw failure(`${program} failed (exit code ${ran.exitCode ?? 'none'}); unlock the keychain and try again`)
}
