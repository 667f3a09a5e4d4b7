/** Signing secrets on this machine, read from the user's file. */
import { FileFault, readOwn } from '../../src/platform/files.ts'
import { Problem, usage } from '../ui/problem.ts'

/**
 * Reads one secret a line, as a rotation requires; throws for a file that others can read, and for text that is not a
 * secret.
 */
export function readSecrets(file: string): string[] {
  const param = '--secret-file'
  let text: string
  try {
    text = readOwn(file, { secret: true })
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { kind, problem, what, next } = error
    if (kind === 'exposed') throw new Problem('forbidden', problem, { param, next })
    throw usage(`${file} cannot be read: ${kind === 'missing' ? 'there is no such file' : `it ${what}`}`, { param })
  }
  const secrets = text.split(/\r?\n/).map((line) => line.trim())
  const filled = secrets.filter((line) => line !== '')
  if (filled.length === 0 || !filled.every((secret) => /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(secret))) {
    throw usage(`${file} must hold only signing secrets, one per line: whsec_ and base64`, { param })
  }
  return filled
}
