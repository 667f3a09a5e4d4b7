/** Gets the passphrase of a wallet from a file that the environment names, or from the person at the terminal. */
import { readSecretFile } from '../../../src/settings/secret-files.ts'
import { asUsage } from '../../cli/config-problems.ts'
import { terminal } from '../../cli/terminal.ts'
import { Problem, usage } from '../../ui/problem.ts'
import type { Ui } from '../../ui/ui.ts'

export const PASSPHRASE_VARIABLE = 'SVC_WALLET_PASSPHRASE_FILE'
const LEAST_LETTERS = 8
const MOST_LETTERS = 1024

export type Asking = Pick<Ui, 'interactive' | 'askSecret'>

/** Throws a usage problem if there is neither the file nor a terminal. */
export async function passphraseOf(wallet: { name: string; address: string }, ui: Asking): Promise<string> {
  return fromFile() ?? (await asked(`Passphrase of the wallet ${wallet.name} (${wallet.address})`, ui))
}

/** A new passphrase, asked for twice. */
export async function newPassphrase(name: string, ui: Asking): Promise<string> {
  const given = fromFile()
  const wrong = given === undefined ? undefined : faultOf(given)
  if (wrong !== undefined) throw usage(`the passphrase in the file of ${PASSPHRASE_VARIABLE} ${wrong}`)
  if (given !== undefined) return given
  const passphrase = await asked(
    `Passphrase for the new wallet ${name}, at least ${LEAST_LETTERS} characters`,
    ui,
    faultOf,
  )
  await asked('Repeat the passphrase', ui, (again) => (again === passphrase ? undefined : 'does not match'))
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

function fromFile(): string | undefined {
  const file = terminal().env[PASSPHRASE_VARIABLE]
  if (file === undefined || file === '') return undefined
  try {
    return readSecretFile(PASSPHRASE_VARIABLE, file)
  } catch (error) {
    throw asUsage(error)
  }
}

async function asked(message: string, ui: Asking, check?: (text: string) => string | undefined): Promise<string> {
  if (ui.interactive) return ui.askSecret(message, check)
  const isEmpty = terminal().env[PASSPHRASE_VARIABLE] === ''
  throw usage('the wallet needs its passphrase, and there is no terminal to ask on', {
    next: `name a file (0600) with it in ${PASSPHRASE_VARIABLE}${isEmpty ? ', which is empty' : ''}`,
  })
}
