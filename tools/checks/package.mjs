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

const FIELDS = ['name', 'version', 'bin', 'engines', 'dependencies', 'optionalDependencies', 'devDependencies']
for (const field of FIELDS) {
  if (!isDeepStrictEqual(manifest[field], root[field]))
    faults.push(`"${field}" differs between package-lock.json and package.json: npm install --package-lock-only`)
}
if (manifest.private !== true)
  faults.push('package.json must say "private": true, so that nothing is published by mistake')
if (existsSync(join(ROOT, 'npm-shrinkwrap.json')))
  faults.push('npm-shrinkwrap.json was left behind by an interrupted npm pack: node tools/build/pack.mjs --restore')

for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length > 0 ? 1 : 0
