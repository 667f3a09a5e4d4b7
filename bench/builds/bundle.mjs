// Run as a process: bundles bench/builds/process.ts into the folder of its argument, in chunks as dist/ has them.
import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { commonJsOnDemand } from '../../.build/common-js.mjs'
import { commonJsChunks } from '../../.build/common-js-chunks.mjs'
import { installedBeside } from '../../.build/installed-beside.mjs'
import { oneLocale } from '../../.build/one-locale.mjs'

const [, , folder] = process.argv
const { dependencies, optionalDependencies } = installedBeside(JSON.parse(await readFile('package-lock.json', 'utf8')))
const program = await build({
  entryPoints: { process: 'bench/builds/process.ts', 'merkle-worker': 'src/merkle/worker.ts' },
  outdir: folder,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  conditions: [],
  define: { 'process.env.SVC_VERSION': '"bench"' },
  external: [
    ...Object.keys({ ...dependencies, ...optionalDependencies }),
    ...['pg-native', 'bufferutil', 'utf-8-validate', './litesvm.*', 'litesvm-*'],
  ],
  plugins: [commonJsOnDemand, oneLocale],
  metafile: true,
  write: false,
})
for (const { path, contents } of await commonJsChunks(program)) await writeFile(join(folder, basename(path)), contents)
await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }')
await copyFile('dist/merkle-engine.wasm', join(folder, 'merkle-engine.wasm'))
await symlink(resolve('node_modules'), join(folder, 'node_modules'))
