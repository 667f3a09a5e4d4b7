/** Hashes what dist/ is built from, so that a build knows whether dist/ is up to date. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDERS = ['bin', 'commands', 'daemon', 'src', 'tools']
const FILES = ['examples/ci/check-airdrops.sh', 'package-lock.json', 'package.json', 'tsconfig.json']

/** The file with the hash of what was built. */
export const INPUTS_FILE = 'dist/.inputs'

/** SHA-256 in hex over the names and contents of the sources, the build itself and the versions of packages. */
export function inputsHash() {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  )
  const hash = createHash('sha256')
  for (const path of [...FILES, ...sources].sort()) {
    const content = readFileSync(path)
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** Whether dist/ is up to date. */
export function isBuilt() {
  try {
    return existsSync('dist/svc.js') && readFileSync(INPUTS_FILE, 'utf8') === inputsHash()
  } catch {
    return false
  }
}
