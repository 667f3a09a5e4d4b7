// Builds dist/: the command, the tree worker and its engine, the typed client, the claim page, and the reference page.
// What has a native part stays outside of dist/; all other packages are bundled into it, in the versions of the lock
// file. `--if-changed` builds nothing where dist/ is of these sources already. Files are written beside and renamed, and
// those of earlier builds stay for a month, so that what runs from dist/ goes on.
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, relative } from 'node:path'
import { build } from 'esbuild'
import { tsImport } from 'tsx/esm/api'
import { bundledPackages } from './.build/bundled-packages.mjs'
import { clientTypes } from './.build/client-types.mjs'
import { writeCodeCaches } from './.build/code-caches.mjs'
import { commonJsOnDemand } from './.build/common-js.mjs'
import { commonJsChunks, importsBesideEntry } from './.build/common-js-chunks.mjs'
import { keepEarlierFiles } from './.build/earlier-files.mjs'
import { INPUTS_FILE, inputsHash, isBuilt } from './.build/inputs.mjs'
import { installedBeside } from './.build/installed-beside.mjs'
import { ENGINE_LIBRARY, merkleEngine } from './.build/merkle-engine.mjs'
import { oneLocale } from './.build/one-locale.mjs'
import { packedChunks, withLoader } from './.build/packs.mjs'

if (process.argv.includes('--if-changed') && isBuilt()) process.exit(0)

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
const { dependencies, optionalDependencies } = installedBeside(JSON.parse(await readFile('package-lock.json', 'utf8')))
const inputs = inputsHash()
for (const folder of ['dist/docs', 'dist/help', 'dist/man', 'dist/claim-page/texts'])
  await mkdir(folder, { recursive: true })
// Until the end of this build dist/ is of no known state.
await rm(INPUTS_FILE, { force: true })

const written = new Set()

/** Puts the whole file in its place at once: a process that starts meanwhile reads the earlier one or this one. */
async function put(path, bytes) {
  written.add(relative('', path))
  const aside = `${path}.${process.pid}`
  await writeFile(aside, bytes)
  if (path.endsWith('svc.js')) await chmod(aside, 0o755)
  await rename(aside, path)
}

/** jq, compiled to WebAssembly. */
const JQ = 'node_modules/jq-wasm'

const common = { outdir: 'dist', bundle: true, format: 'esm', logLevel: 'warning', legalComments: 'none', write: false }
const node = {
  ...common,
  entryPoints: { main: 'bin/main.ts' },
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  define: { 'process.env.SVC_VERSION': JSON.stringify(version) },
  // Without `module`, a condition of bundlers alone, the files are those that Node itself would take.
  conditions: [],
  external: [
    ...Object.keys({ ...dependencies, ...optionalDependencies }),
    // Optional native parts, each of which its package does without.
    ...['pg-native', 'bufferutil', 'utf-8-validate', './litesvm.*', 'litesvm-*'],
  ],
  plugins: [commonJsOnDemand, oneLocale],
  metafile: true,
}
// One small file each: help and version read no other, and a thread has what it needs at once.
const entry = {
  ...node,
  entryPoints: { svc: 'bin/svc.ts', 'merkle-worker': 'src/merkle/worker.ts', 'jq-worker': 'commands/ui/jq-worker.ts' },
  splitting: false,
  plugins: [importsBesideEntry],
}
const client = {
  ...common,
  entryPoints: { client: 'src/client.ts' },
  platform: 'neutral',
  target: 'es2022',
  outExtension: { '.js': '.mjs' },
}
const claimPage = {
  ...common,
  entryPoints: ['claim.ts', 'verify.ts', 'claim.css'].map((file) => `src/claim-page/${file}`),
  outdir: 'dist/claim-page',
  platform: 'browser',
  target: 'es2022',
  minify: true,
}

const referencePage = {
  ...common,
  entryPoints: ['page.ts', 'page.css'].map((file) => `src/reference-page/${file}`),
  outdir: 'dist/docs',
  // The colours that a reader chose stand before anything is drawn, so the script is an ordinary one.
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  minify: true,
}

const [program, start, page, engine, claim, reference] = await Promise.all([
  build(node),
  build(entry),
  build(client),
  merkleEngine(),
  build(claimPage),
  build(referencePage),
])
// Help is data, so that showing it loads nothing. The commands are written in TypeScript, hence `tsx`.
const { nounHelp } = await tsImport('./bin/program.ts', import.meta.url)
const { NOUNS } = await tsImport('./bin/nouns.ts', import.meta.url)
const { commandTree } = await tsImport('./bin/command-tree.ts', import.meta.url)
const { manualPages } = await tsImport('./bin/manual/pages.ts', import.meta.url)
const { builtReferencePage } = await tsImport('./bin/reference-page/built-page.ts', import.meta.url)
for (const { name, load } of NOUNS) {
  await put(`dist/help/${name}.json`, JSON.stringify(nounHelp(name, await load())))
}
// The version is this package's, which the sources know only once they are built.
const commands = { ...(await commandTree()), version }
for (const noun of commands.commands) await put(`dist/help/${noun.name}.commands.json`, JSON.stringify(noun))
await put('dist/help/commands.json', `${JSON.stringify(commands, undefined, 2)}\n`)
for (const [file, page] of manualPages(commands)) await put(`dist/man/${file}`, page)
const { files: chunks, fileOf, packs } = packedChunks(await commonJsChunks(program), program.metafile)
const entries = await commonJsChunks(start)
// The package is one of ES modules, which Node starts more slowly; the client alone remains one, by its ending.
await put('dist/package.json', '{ "type": "commonjs" }\n')
// Files are named by what they hold; what names them comes after them.
for (const { path, contents } of [...chunks, ...page.outputFiles, ...claim.outputFiles, ...reference.outputFiles])
  await put(path, contents)
await put('dist/docs/index.html', await builtReferencePage(version))
await put('dist/merkle-engine.wasm', engine)
await put('dist/jq.wasm', await readFile(`${JQ}/dist/build/jq.wasm`))
for (const file of entries) {
  const { path, contents } = basename(file.path) === 'svc.js' ? withLoader(file, fileOf) : file
  await put(path, contents)
}
await put('dist/claim-page/index.html', await readFile('src/claim-page/index.html'))
for (const file of await readdir('src/claim-page/texts')) {
  // English is in the script.
  const texts = JSON.parse(await readFile(`src/claim-page/texts/${file}`, 'utf8'))
  if (file !== 'en.json') await put(`dist/claim-page/texts/${file}`, JSON.stringify(texts))
}
const licenses = await bundledPackages(program.metafile, [ENGINE_LIBRARY, JQ])
// jq's WebAssembly holds what its package names no licence of.
await put('dist/THIRD-PARTY-LICENSES.txt', licenses + (await readFile('.build/jq-notices.txt', 'utf8')))
await put('dist/client.d.mts', clientTypes())
await writeCodeCaches(packs, put)
await keepEarlierFiles(written, put)
await put(INPUTS_FILE, inputs)
