/** Signing secrets on this machine: read from a file of one's own, or made for one session. */
import { randomBytes } from 'node:crypto'
import { type Stats, statSync } from 'node:fs'
import { readText, reason } from '../ui/files.ts'
import { Problem, usage } from '../ui/problem.ts'

export const makeSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** One secret a line, as a rotation needs; refuses a file that others can read, and what is no secret. */
export async function readSecrets(file: string): Promise<string[]> {
  const param = '--secret-file'
  let stats: Stats
  try {
    stats = statSync(file)
  } catch (error) {
    throw usage(`${file} cannot be read: ${reason(error)}`, { param })
  }
  if ((stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8)
    throw new Problem('forbidden', `${file} can be read by others (mode ${mode})`, { param, next: `chmod 600 ${file}` })
  }
  const secrets = (await readText(file)).split(/\r?\n/).map((line) => line.trim())
  const given = secrets.filter((line) => line !== '')
  if (given.length === 0 || !given.every((secret) => /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(secret))) {
    throw usage(`${file} must hold signing secrets alone, one a line: whsec_ and base64`, { param })
  }
  return given
}
