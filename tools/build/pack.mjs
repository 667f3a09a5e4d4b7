// Prepares the folder for `npm pack`: builds dist/, and replaces the manifest and lock file of the clone with the
// published manifest and its shrinkwrap. `--restore` undoes that when npm has packed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { installedBeside, lockedBeside } from './installed-beside.mjs'

const MANIFEST = 'package.json'
const KEPT = 'tools/build/package.json.kept'
const SHRINKWRAP = 'npm-shrinkwrap.json'
/** Fields of the clone's manifest that mean nothing, or something else, in an installed package. */
const OWN = ['scripts', 'devDependencies', 'overrides', 'allowScripts']

const json = (value) => `${JSON.stringify(value, null, 2)}\n`

function restore() {
  rmSync(SHRINKWRAP, { force: true })
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST)
}

restore()
if (!process.argv.includes('--restore')) {
  const { status } = spawnSync(process.execPath, ['tools/build.mjs'], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(1)
  const text = readFileSync(MANIFEST, 'utf8')
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const own = Object.entries(JSON.parse(text)).filter(([field]) => !OWN.includes(field))
  const manifest = { ...Object.fromEntries(own), ...installedBeside(lock) }
  const { files: _, exports: __, private: ___, ...root } = manifest
  writeFileSync(KEPT, text)
  writeFileSync(MANIFEST, json(manifest))
  writeFileSync(SHRINKWRAP, json({ ...lock, packages: { '': root, ...lockedBeside(lock) } }))
}
