// Run as a process: bundles bench/builds/process.ts into the folder of its argument, in chunks as dist/ has them.
import { copyFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { bundledProgram } from '../../tools/build/bundles.mjs'

const [, , folder] = process.argv
const files = await bundledProgram({ process: 'bench/builds/process.ts', 'merkle-worker': 'src/merkle/worker.ts' })
for (const { path, code } of files) await writeFile(join(folder, path), code)
await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }')
await copyFile('dist/merkle-engine.wasm', join(folder, 'merkle-engine.wasm'))
await symlink(resolve('node_modules'), join(folder, 'node_modules'))
