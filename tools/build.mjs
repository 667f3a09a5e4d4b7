// Builds dist/: the command with its workers, the tree engine, the typed client, the pages of claims and raises, and the reference page.
// Native modules are not bundled; every other package is, in the version of the lock file. `--if-changed` builds
// only if a source has changed. Files are replaced by renaming, and files of earlier builds stay for a month, so that
// a daemon can run from dist/ meanwhile.
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { INPUTS_FILE, inputsHash, isBuilt } from './build/inputs.mjs'

if (process.argv.includes('--if-changed') && isBuilt()) process.exit(0)

// The compilers take a second to load, so they are loaded only for a build.
const { tsImport } = await import('tsx/esm/api')
const { bundles } = await import('./build/bundles.mjs')
const { clientTypes } = await import('./build/client-types.mjs')
const { keepEarlierFiles } = await import('./build/earlier-files.mjs')
const { merkleEngine } = await import('./build/merkle-engine.mjs')
const { JQ, SWAGGER_UI, thirdPartyLicenses } = await import('./build/third-party-licenses.mjs')

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
const inputs = inputsHash()
const FOLDERS = ['docs', 'help', 'man', 'claim-page/texts', 'raise-page/texts', 'console', 'passport-page']
for (const folder of FOLDERS.map((name) => `dist/${name}`)) await mkdir(folder, { recursive: true })
// If this build fails, the next one has to run.
await rm(INPUTS_FILE, { force: true })

const written = new Set()

/** Replaces the file in one step: a process that starts meanwhile reads the earlier one or this one. */
async function put(path, bytes) {
  written.add(relative('', path))
  const aside = `${path}.${process.pid}`
  await writeFile(aside, bytes)
  if (/svc\.js$|\.sh$/.test(path)) await chmod(aside, 0o755)
  await rename(aside, path)
}

const [bundled, engine] = await Promise.all([bundles(), merkleEngine()])
// Help is data, so that showing it loads nothing. The commands are written in TypeScript, hence `tsx`.
const { nounHelp } = await tsImport('../commands/cli/program.ts', import.meta.url)
const { NOUNS } = await tsImport('../commands/cli/nouns.ts', import.meta.url)
const { commandTree } = await tsImport('../commands/cli/command-tree.ts', import.meta.url)
const { manualPages } = await tsImport('../commands/cli/manual-pages.ts', import.meta.url)
const { apiDocument } = await tsImport('./api-document.ts', import.meta.url)
for (const { name, load } of NOUNS) {
  await put(`dist/help/${name}.json`, JSON.stringify(nounHelp(name, await load())))
}
// The sources get the version of this package only when they are built.
const commands = { ...(await commandTree()), version }
for (const noun of commands.commands) await put(`dist/help/${noun.name}.commands.json`, JSON.stringify(noun))
await put('dist/help/commands.json', `${JSON.stringify(commands, undefined, 2)}\n`)
for (const [file, page] of manualPages(commands)) await put(`dist/man/${file}`, page)

await put('dist/package.json', '{ "type": "commonjs" }\n')
await put('dist/merkle-engine.wasm', engine)
await put('dist/jq.wasm', await readFile(`${JQ}/dist/build/jq.wasm`))
await put('dist/client.d.mts', clientTypes())
// The pages of claims and of raises have one frame; a placeholder that a page does not name is empty.
const frame = await readFile('src/claim-page/browser/index.html', 'utf8')
const PAGES = {
  'claim-page': {
    title: 'Claim',
    subject: 'airdrops.json',
    script: 'claim.js',
    workers: "worker-src 'self'; ",
    policy: 'claim-page',
    needed: 'to look up your wallet and to build the claim',
  },
  'raise-page': {
    title: 'Raise',
    subject: 'raise.json',
    script: 'raise.js',
    policy: "'none'",
    needed: 'to read the raise and to build transactions',
    sale: '<section id="sale" class="card" aria-labelledby="sale-heading" hidden></section>\n',
  },
}
for (const [page, words] of Object.entries(PAGES)) {
  await put(
    `dist/${page}/index.html`,
    frame.replace(/\{(\w+)\}/g, (_, name) => words[name] ?? ''),
  )
  await put(`dist/${page}/claim.css`, await readFile('src/claim-page/browser/claim.css'))
}
for (const file of ['index.html', 'passport.css']) {
  await put(`dist/passport-page/${file}`, await readFile(`src/passport-page/${file}`))
}
const consoleStyles = ['src/console-page/console.css', 'node_modules/uplot/dist/uPlot.min.css']
await put('dist/console/console.css', (await Promise.all(consoleStyles.map((file) => readFile(file)))).join('\n'))
// English is part of the script, and here for the head of the page.
for (const file of await readdir('src/claim-page/browser/texts')) {
  const texts = JSON.parse(await readFile(`src/claim-page/browser/texts/${file}`, 'utf8'))
  await put(`dist/claim-page/texts/${file}`, JSON.stringify(texts))
}
// A raise has texts of its own, and the claim page's for all that both pages do.
for (const file of await readdir('src/claim-page/browser/raise/texts')) {
  const [shared, own] = await Promise.all(
    [`texts/${file}`, `raise/texts/${file}`].map((path) => readFile(`src/claim-page/browser/${path}`, 'utf8')),
  )
  await put(`dist/raise-page/texts/${file}`, JSON.stringify({ ...JSON.parse(shared), ...JSON.parse(own) }))
}
// The check of recipient lists is run from the package, so that CI needs no clone.
await put('dist/check-airdrops.sh', await readFile('examples/ci/check-airdrops.sh'))
await put('dist/openapi.json', JSON.stringify(await apiDocument()))
for (const file of ['index.html', 'page.css']) {
  await put(`dist/docs/${file}`, await readFile(`src/reference-page/${file}`))
}
for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css']) {
  await put(`dist/docs/${file}`, await readFile(`${SWAGGER_UI}/${file}`))
}
await put('dist/THIRD-PARTY-LICENSES.txt', await thirdPartyLicenses(bundled))
// The entries are written last, because they load the other files.
for (const { path, code } of bundled.toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry))) {
  await put(`dist/${path}`, code)
}
await keepEarlierFiles(written, put)
await put(INPUTS_FILE, inputs)
