/** Lists the packages inside dist/ with their versions and licences. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ENGINE_LIBRARY } from './merkle-engine.mjs'

/** jq, compiled to WebAssembly. */
export const JQ = 'node_modules/jq-wasm'
/** The interactive page of the API reference, which is copied as its package ships it. */
export const SWAGGER_UI = 'node_modules/swagger-ui-dist'

/** The file in which Swagger UI names the authors of the code inside its bundle. */
const LICENSE_FILE = /^(licen[cs]e|copying|notice)|-bundle\.js\.LICENSE\.txt$/i
const RULE = '-'.repeat(80)
/** Packages that name their licence only in a LICENSE file. */
const STATED_IN_FILE = { 'text-encoding-utf-8': 'Unlicense' }

/** The name, version, licence and folder of each package that has code in these files of `bundles`, sorted. */
export async function bundledPackages(files) {
  // These are not compiled in by the bundler.
  const folders = new Set([ENGINE_LIBRARY, JQ, SWAGGER_UI])
  for (const { modules } of files) {
    for (const [file, { renderedLength }] of Object.entries(modules)) {
      const folder = /.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]
      if (folder !== undefined && renderedLength > 0) folders.add(folder)
    }
  }
  const packages = await Promise.all([...folders].map(describedPackage))
  return packages.sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function describedPackage(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return { id: `${name}@${version}`, license: license?.type ?? license ?? STATED_IN_FILE[name] ?? 'none', folder }
}

/** The text of dist/THIRD-PARTY-LICENSES.txt. */
export async function thirdPartyLicenses(files) {
  const texts = new Set(await Promise.all((await bundledPackages(files)).map(licenseText)))
  // The package of jq's WebAssembly does not name the licences of what was compiled into it.
  const jqNotices = await readFile('tools/build/jq-notices.txt', 'utf8')
  return `dist/ contains code of these ${texts.size} packages.\n\n${[...texts].join('')}${jqNotices}`
}

async function licenseText({ id, license, folder }) {
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file) && !/\.[cm]?[jt]s$/.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return `${RULE}\n${id} (${license})\n${RULE}\n${texts.map((text) => `${text.trim()}\n\n`).join('')}`
}
