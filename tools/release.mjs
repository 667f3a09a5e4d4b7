// Makes the files of a release in a folder: both packages and the documentation site as tarballs, the bill of materials,
// and their checksums.
//   node tools/release.mjs FOLDER
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { writeClientPackage } from './build/client-package.mjs'
import { sbom } from './build/sbom.mjs'

const ROOT = resolve(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const [out] = process.argv.slice(2)
if (out === undefined) {
  process.stderr.write('usage: node tools/release.mjs FOLDER\n')
  process.exit(2)
}
const folder = resolve(out)
mkdirSync(folder, { recursive: true })
if (readdirSync(folder).length > 0) {
  process.stderr.write(`${folder} is not empty: checksums would name files of another release\n`)
  process.exit(2)
}
process.chdir(ROOT)

/** Runs a command of the release; its failure ends the release. */
function run(command, args, cwd = ROOT) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed`)
}

/** Packs the package in `from` into the folder of the release. */
const pack = (from) => run('npm', ['pack', '--silent', '--pack-destination', folder], from)

/** Calls `work` with a folder that is removed afterwards. */
function inTemporary(name, work) {
  const temporary = mkdtempSync(join(tmpdir(), name))
  try {
    work(temporary)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

try {
  pack(ROOT)
  inTemporary('svc-client-', (client) => {
    writeClientPackage(client)
    pack(client)
  })
  inTemporary('svc-site-', (site) => {
    run('node_modules/.bin/vitepress', ['build', 'docs', '--outDir', site])
    run('tar', ['-czf', join(folder, `svc-launch-docs-${version}.tgz`), '-C', site, '.'])
  })
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
writeFileSync(join(folder, `svc-launch-cli-${version}.cdx.json`), await sbom())
// As `sha256sum --check` reads them.
const sums = readdirSync(folder)
  .sort()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')}  ${name}\n`,
  )
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
