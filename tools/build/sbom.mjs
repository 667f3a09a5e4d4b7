// The software bill of materials of the command line (CycloneDX): every package inside dist/ or installed beside it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundles } from './bundles.mjs'
import { lockedBeside, pathOf } from './installed-beside.mjs'
import { bundledPackages } from './third-party-licenses.mjs'

const ROOT = resolve(import.meta.dirname, '../..')
// Two development packages have code in dist/, too: the runtime of the tree engine and the reference page.
const LINKS = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies']
const read = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))

/**
 * Returns the text of the bill. `npm sbom` writes it from a lock file that has only what ships; in the lock file of the
 * clone it finds development packages, and refuses those whose version an override has replaced.
 */
export async function sbom() {
  const lock = read('package-lock.json')
  // node_modules may be a link, and the bundler names files by their real paths.
  const bundled = (await bundledPackages(await bundles())).map(({ folder }) => /node_modules\/.*/.exec(folder)[0])
  const shipped = new Set([...bundled, ...Object.keys(lockedBeside(lock))])
  const linked = (path) => {
    const names = LINKS.flatMap((field) => Object.keys(lock.packages[path][field] ?? {}))
    const found = names.filter((name) => shipped.has(pathOf(lock, path, name)))
    return Object.fromEntries(found.map((name) => [name, '*']))
  }
  const entries = [...shipped].sort().map((path) => {
    const { name, version, integrity, license } = lock.packages[path]
    return [path, { name, version, integrity, license, dependencies: linked(path) }]
  })
  const { name, version, license, description } = read('package.json')
  const root = { name, version, license, description, dependencies: linked('') }
  const temporary = mkdtempSync(join(tmpdir(), 'svc-sbom-'))
  // npm names the product by its folder.
  const folder = join(temporary, name)
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify(root))
    const packages = { '': root, ...Object.fromEntries(entries) }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ name, version, lockfileVersion: 3, packages }))
    const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 })
    if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`)
    return stdout
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
