#!/usr/bin/env node
// Checks in milliseconds that the package would ship what the lock file says; the soak run packs and installs it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
const read = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
const [manifest, lock] = [read('package.json'), read('package-lock.json')]
const root = lock.packages['']
const faults = []

const FIELDS = [
  ...['name', 'version', 'bin', 'engines'],
  ...['dependencies', 'optionalDependencies', 'devDependencies', 'peerDependencies', 'peerDependenciesMeta'],
]
for (const field of FIELDS) {
  if (!isDeepStrictEqual(manifest[field], root[field]))
    faults.push(`"${field}" differs between package-lock.json and package.json: npm install --package-lock-only`)
}
// npm publishes with provenance only from the release workflow, so nothing is published by mistake.
if (manifest.publishConfig?.provenance !== true) faults.push('"publishConfig" in package.json must demand provenance')
if (!existsSync(join(ROOT, `docs/releases/${manifest.version}.md`)))
  faults.push(`docs/releases/${manifest.version}.md, the release notes of this version, is missing`)
if (existsSync(join(ROOT, 'npm-shrinkwrap.json')))
  faults.push('npm-shrinkwrap.json was left behind by an interrupted npm pack: node tools/build/pack.mjs --restore')

for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length > 0 ? 1 : 0
