#!/usr/bin/env node
// Checks that npm would publish both packages as they are: `npm publish --dry-run` in copies that have the published
// manifests and dist/ as it was built. Nothing is sent, and no registry is asked.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { writeClientPackage } from '../build/client-package.mjs'
import { cliPackage } from '../build/published.mjs'

const ROOT = resolve(import.meta.dirname, '../..')
/** Nothing listens there, so that the check is the same with and without a network. */
const NO_REGISTRY = ['--registry=http://127.0.0.1:9/', '--fetch-retries=0']
const FILES = ['README.md', 'CHANGELOG.md', 'LICENSE']
const NEEDED = {
  cli: ['dist/svc.js', 'dist/client.mjs', 'dist/openapi.json', 'npm-shrinkwrap.json', ...FILES],
  client: ['client.mjs', 'client.d.mts', 'README.md', 'LICENSE'],
}

/** Fills `folder` as `npm pack` finds the clone, without files of earlier builds. */
function writeCliPackage(folder) {
  const read = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
  const { manifest, shrinkwrap } = cliPackage(read('package.json'), read('package-lock.json'))
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), JSON.stringify(shrinkwrap))
  for (const file of FILES) cpSync(join(ROOT, file), join(folder, file))
  const ignored = join(ROOT, 'dist/.npmignore')
  const earlier = new Set(existsSync(ignored) ? readFileSync(ignored, 'utf8').split('\n') : [])
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (path) => !earlier.has(`/${relative(join(ROOT, 'dist'), path)}`),
  })
}

/** What is wrong with the package, as lines. */
async function faults(folder) {
  const child = spawn('npm', ['publish', '--dry-run', '--json', ...NO_REGISTRY], { cwd: folder })
  const text = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) child[stream].on('data', (chunk) => (text[stream] += chunk))
  const code = await new Promise((done) => child.on('close', done))
  if (code !== 0) return [text.stderr]
  const corrected = /auto-corrected[\s\S]*/.exec(text.stderr)
  // Versions of npm differ in whether the answer is below the name of the package.
  const told = JSON.parse(text.stdout)
  const { files } = 'files' in told ? told : Object.values(told)[0]
  const paths = files.map(({ path }) => path)
  const missing = NEEDED[basename(folder)].filter((path) => !paths.includes(path))
  return [
    ...(corrected ? [`npm would change package.json: ${corrected[0]}`] : []),
    ...missing.map((path) => `${path} is missing`),
  ]
}

if (!existsSync(join(ROOT, 'dist/svc.js'))) {
  process.stderr.write('there is no dist/: npm run build\n')
  process.exit(1)
}
const temporary = mkdtempSync(join(tmpdir(), 'svc-publish-'))
try {
  writeCliPackage(join(temporary, 'cli'))
  writeClientPackage(join(temporary, 'client'))
  const check = async (name) => (await faults(join(temporary, name))).map((fault) => `${name}: ${fault}\n`)
  for (const fault of (await Promise.all(['cli', 'client'].map(check))).flat()) {
    process.stderr.write(fault)
    process.exitCode = 1
  }
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
