/** The program's version: set at build time, or read from package.json when run from source. */
import { readFileSync } from 'node:fs'

export const VERSION: string =
  process.env.SVC_VERSION || JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
