// Prepares the folder for `npm pack`: builds dist/, and replaces the manifest and lock file of the clone with the
// published manifest and its shrinkwrap. `--restore` undoes that when npm has packed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { cliPackage } from './published.mjs'

const MANIFEST = 'package.json'
const KEPT = 'tools/build/package.json.kept'
const SHRINKWRAP = 'npm-shrinkwrap.json'

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
  const { manifest, shrinkwrap } = cliPackage(JSON.parse(text), JSON.parse(readFileSync('package-lock.json', 'utf8')))
  writeFileSync(KEPT, text)
  writeFileSync(MANIFEST, json(manifest))
  writeFileSync(SHRINKWRAP, json(shrinkwrap))
}
