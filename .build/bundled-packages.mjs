/** The packages inside dist/ with their versions and licences, for those who ask what they run and whose it is. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i
const RULE = '-'.repeat(80)

/**
 * The text of dist/THIRD-PARTY-LICENSES.txt: each package of which code is in the outputs, with its licence. `compiledIn`
 * are the folders of those that another compiler put in.
 */
export async function bundledPackages({ outputs }, compiledIn = []) {
  const folders = new Set(compiledIn)
  for (const { inputs } of Object.values(outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = /^(?:[\w-]+:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder)
    }
  }
  const texts = await Promise.all([...folders].map(licenseOf))
  const sorted = [...new Set(texts)].sort()
  return `dist/ contains code of these ${sorted.length} packages.\n\n${sorted.join('')}`
}

async function licenseOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file) && !/\.[cm]?[jt]s$/.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const terms = typeof license === 'string' ? license : (license?.type ?? 'see below')
  return `${RULE}\n${name}@${version} (${terms})\n${RULE}\n${texts.map((text) => `${text.trim()}\n\n`).join('')}`
}
