/** Gets the passphrase of a wallet or a backup from a file, or from the person at the terminal. */
import { resolve } from 'node:path'
import { readSecretFile } from '../../src/settings/secret-files.ts'
import { asUsage } from '../cli/config-problems.ts'
import { terminal } from '../cli/terminal.ts'
import { Problem, usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'

const PASSPHRASE_VARIABLE = 'SVC_WALLET_PASSPHRASE_FILE'
const PASSPHRASE_FLAG = '--passphrase-file'
const LEAST_LETTERS = 8
const MOST_LETTERS = 1024

export type Asking = Pick<Ui, 'interactive' | 'askSecret'>

/** Where a script has the passphrase: the file, the variable or flag that names it, and the remedy without one. */
interface PassphraseSource {
  file: string | undefined
  named: string
  missing: string
}

const walletSource = (): PassphraseSource => {
  const file = terminal().env[PASSPHRASE_VARIABLE]
  const isEmpty = file === ''
  return {
    file: isEmpty ? undefined : file,
    named: PASSPHRASE_VARIABLE,
    missing: `name a file (0600) with it in ${PASSPHRASE_VARIABLE}${isEmpty ? ', which is empty' : ''}`,
  }
}

const backupSource = (file: string | undefined): PassphraseSource => ({
  file: file === undefined ? undefined : resolve(file),
  named: PASSPHRASE_FLAG,
  missing: `name a file (0600) with it: ${PASSPHRASE_FLAG} FILE`,
})

/** Throws a usage problem if there is neither the file nor a terminal. */
export const passphraseOf = ({ name, address }: { name: string; address: string }, ui: Asking): Promise<string> =>
  existing(`Passphrase of the wallet ${name} (${address})`, walletSource(), ui)

/** A new passphrase, typed twice. */
export const newPassphrase = (name: string, ui: Asking): Promise<string> =>
  chosen(`Passphrase for the new wallet ${name}`, walletSource(), ui)

/** The passphrase of a sealed backup; `given` is the file of the flag. */
export const backupPassphrase = (file: string, given: string | undefined, ui: Asking): Promise<string> =>
  existing(`Passphrase of the backup ${file}`, backupSource(given), ui)

export const newBackupPassphrase = (given: string | undefined, ui: Asking): Promise<string> =>
  chosen('Passphrase for this backup', backupSource(given), ui)

const existing = async (message: string, source: PassphraseSource, ui: Asking): Promise<string> =>
  fromFile(source) ?? (await asked(message, source, ui))

async function chosen(message: string, source: PassphraseSource, ui: Asking): Promise<string> {
  const given = fromFile(source)
  const wrong = given === undefined ? undefined : faultOf(given)
  if (wrong !== undefined) throw usage(`the passphrase in the file of ${source.named} ${wrong}`)
  if (given !== undefined) return given
  const passphrase = await asked(`${message}, at least ${LEAST_LETTERS} characters`, source, ui, faultOf)
  await asked('Repeat the passphrase', source, ui, (again) => (again === passphrase ? undefined : 'does not match'))
  return passphrase
}

export const wrongPassphrase = (name: string): Problem =>
  new Problem('forbidden', `the wallet ${name} does not open: the passphrase is wrong, or its file was changed`, {
    next: 'try again; without the passphrase, import the key again from your backup',
  })

function faultOf(passphrase: string): string | undefined {
  const letters = [...passphrase].length
  if (letters < LEAST_LETTERS) return `has fewer than ${LEAST_LETTERS} characters`
  return letters > MOST_LETTERS ? `has more than ${MOST_LETTERS} characters` : undefined
}

function fromFile({ file, named }: PassphraseSource): string | undefined {
  if (file === undefined) return undefined
  try {
    return readSecretFile(named, file)
  } catch (error) {
    throw asUsage(error)
  }
}

async function asked(
  message: string,
  { missing }: PassphraseSource,
  ui: Asking,
  check?: (text: string) => string | undefined,
): Promise<string> {
  if (ui.interactive) return ui.askSecret(message, check)
  throw usage('a passphrase is needed, and there is no terminal to ask on', { next: missing })
}
