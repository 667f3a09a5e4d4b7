#!/usr/bin/env node
// Runs tests under other versions of Node.js: tools/checks/nodes.mjs /path/to/node… [-- files and flags of vitest].
// Each run has a copy of the clone with SQLite's native part for that version. Below 22 it is compiled, with the
// headers beside the binary (../include/node). From 22 on it is the package's newer version, which has binaries.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const NATIVE = 'better-sqlite3'
const NEWER = 'better-sqlite3-13'
const FIRST_OF_NEWER = 22

const dashes = process.argv.indexOf('--')
const nodes = process.argv.slice(2, dashes < 0 ? undefined : dashes).map((path) => resolve(path))
const chosen = dashes < 0 ? [] : process.argv.slice(dashes + 1)
if (nodes.length === 0) {
  process.stderr.write('usage: tools/checks/nodes.mjs /path/to/node… [-- files and flags of vitest]\n')
  process.exit(2)
}

/** A copy of the clone with its packages; the native ones are made for the version. */
function copyOfClone(folder) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  for (const file of listed.split('\0')) {
    if (file !== '' && existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(folder, file))
  }
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== NATIVE && name !== NEWER)
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
}

/** Compiles SQLite's module for this Node.js, from the sources in its package. */
function compile(folder, { node, home, run }) {
  const from = realpathSync(join(ROOT, 'node_modules', NATIVE))
  const to = join(folder, 'node_modules', NATIVE)
  cpSync(from, to, { recursive: true, filter: (path) => path !== join(from, 'build') })
  const headers = existsSync(join(home, 'include/node')) ? [`--nodedir=${home}`] : []
  const args = ['rebuild', '--release', '--loglevel=error', ...headers]
  return run(node, [nodeGyp(), ...args], to)
}

/** The node-gyp that comes with npm. */
function nodeGyp() {
  const packages = execFileSync('npm', ['root', '--global'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return join(packages.trim(), 'npm/node_modules/node-gyp/bin/node-gyp.js')
}

/** Installs the newer version of SQLite's module, which has binaries; tests find it by both names. */
function installNewer(folder, { run }) {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages[
    `node_modules/${NEWER}`
  ]
  const aside = join(folder, 'newer')
  mkdirSync(aside)
  writeFileSync(join(aside, 'package.json'), '{"private":true}')
  if (!run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`], aside)) return false
  renameSync(join(aside, 'node_modules', name), join(folder, 'node_modules', NEWER))
  symlinkSync(NEWER, join(folder, 'node_modules', NATIVE))
  return true
}

/** Whether the tests passed under this Node.js. */
function passes(node) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const folder = mkdtempSync(join(tmpdir(), 'svc-nodes-'))
  const home = resolve(dirname(node), '..')
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) }
  const run = (command, args, cwd) => spawnSync(command, args, { cwd, env, stdio: 'inherit' }).status === 0
  const prepare = Number.parseInt(version.slice(1), 10) >= FIRST_OF_NEWER ? installNewer : compile
  process.stdout.write(`== ${version} (${node})\n`)
  try {
    copyOfClone(folder)
    const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
    return prepare(folder, { node, home, run }) && run(node, [vitest, 'run', ...chosen], folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const failed = nodes.filter((node) => !passes(node))
for (const node of failed) process.stderr.write(`failed under ${node}\n`)
process.exitCode = failed.length > 0 ? 1 : 0
