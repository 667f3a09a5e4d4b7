// Writes the package of the typed client into a folder, for `npm pack` and `npm publish`, from dist/ as it was built.
//   node tools/build/client-package.mjs FOLDER
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { clientPackage } from './published.mjs'

const ROOT = resolve(import.meta.dirname, '../..')

/** Fills `folder` with manifest, module, declarations, licence and docs/client.md as the README. */
export function writeClientPackage(folder) {
  const clone = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(clientPackage(clone), null, 2)}\n`)
  for (const file of ['dist/client.mjs', 'dist/client.d.mts', 'LICENSE'])
    copyFileSync(join(ROOT, file), join(folder, file.replace('dist/', '')))
  // A registry shows the README without the pages beside it.
  const pages = `${clone.homepage.replace('#readme', '')}/blob/v${clone.version}/docs/`
  const guide = readFileSync(join(ROOT, 'docs/client.md'), 'utf8')
  writeFileSync(join(folder, 'README.md'), guide.replaceAll(/\]\((?!https?:|#)/g, `](${pages}`))
}

if (process.argv[1] === import.meta.filename) writeClientPackage(resolve(process.argv[2]))
