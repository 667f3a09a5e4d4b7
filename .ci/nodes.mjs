#!/usr/bin/env node
// Runs tests under other versions of Node.js: .ci/nodes.mjs /path/to/node… [-- files and flags of vitest].
// Each runs in a copy of the clone, where SQLite's native part is made for that version; headers that stand beside the
// binary (../include/node) are used for that.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const NATIVE = 'better-sqlite3'

const dashes = process.argv.indexOf('--')
const nodes = process.argv.slice(2, dashes < 0 ? undefined : dashes).map((path) => resolve(path))
const chosen = dashes < 0 ? [] : process.argv.slice(dashes + 1)
if (nodes.length === 0) {
  process.stderr.write('usage: .ci/nodes.mjs /path/to/node… [-- files and flags of vitest]\n')
  process.exit(2)
}

/** A copy whose packages are those of the clone, but for the native one, which is left to be built. */
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
    const [from, to] = [join(ROOT, 'node_modules', name), join(folder, 'node_modules', name)]
    const isBuild = (path) => path === join(from, 'build')
    if (name === NATIVE) cpSync(from, to, { recursive: true, filter: (path) => !isBuild(path) })
    else symlinkSync(from, to)
  }
}

/** Resolves with whether the tests passed under this Node.js. */
function passes(node) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const folder = mkdtempSync(join(tmpdir(), 'svc-nodes-'))
  const home = resolve(dirname(node), '..')
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) }
  if (existsSync(join(home, 'include/node'))) env.npm_config_nodedir = home
  const run = (command, args, cwd) => spawnSync(command, args, { cwd, env, stdio: 'inherit' }).status === 0
  process.stdout.write(`== ${version} (${node})\n`)
  try {
    copyOfClone(folder)
    return (
      run('npm', ['run', 'install', '--silent'], join(folder, 'node_modules', NATIVE)) &&
      run(node, [join(folder, 'node_modules/vitest/vitest.mjs'), 'run', ...chosen], folder)
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const failed = nodes.filter((node) => !passes(node))
for (const node of failed) process.stderr.write(`failed under ${node}\n`)
process.exitCode = failed.length > 0 ? 1 : 0
