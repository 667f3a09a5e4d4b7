/** Reads a key for `svc wallet import` from a private file, standard input or a prompt, and never from an argument. */
import { FileFault, readOwn } from '../../src/platform/files.ts'
import { privateFileProblem, readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'

/** A recovery phrase of 24 words has some 200 characters, and 64 integers fewer than 300. */
const MAX_KEY_BYTES = 4096

/** The text of the key. Throws a problem for a file that others can read, and if there is no terminal to ask on. */
export async function readSecretText(file: string | undefined, ui: Ui): Promise<string> {
  if (file === '-') {
    const bytes = await readBytes('-')
    if (bytes.length > MAX_KEY_BYTES) throw usage('standard input holds more than a key', { param: '<file>' })
    return Buffer.from(bytes).toString('utf8')
  }
  if (file !== undefined) return privateText(file)
  if (ui.interactive) return ui.askSecret('Key in base58, or recovery phrase (it is not shown)')
  throw usage('there is no key', { param: '<file>', next: 'name a file (0600) that holds it, or - for standard input' })
}

function privateText(file: string): string {
  try {
    return readOwn(file, { secret: true, maxBytes: MAX_KEY_BYTES })
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    throw privateFileProblem(error, { param: '<file>' })
  }
}
