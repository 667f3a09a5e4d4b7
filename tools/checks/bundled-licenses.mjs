/** Fails if a package inside dist/ has a licence that is not on the list in docs/packages.md. */
import { readFileSync } from 'node:fs'
import { bundles } from '../build/bundles.mjs'
import { bundledPackages } from '../build/third-party-licenses.mjs'

const [, list] = /^Bundled packages have one of these licences: (.*)$/m.exec(readFileSync('docs/packages.md', 'utf8'))
const allowed = new Set(Array.from(list.matchAll(/`([^`]+)`/g), ([, name]) => name))
const words = (license) => license.split(/[\s()]+/).filter((word) => word !== '' && word !== 'AND' && word !== 'OR')

for (const { id, license } of await bundledPackages(await bundles())) {
  if (words(license).every((name) => allowed.has(name))) continue
  process.stderr.write(`${id} is bundled, and its licence ${license} is not on the list in docs/packages.md\n`)
  process.exitCode = 1
}
