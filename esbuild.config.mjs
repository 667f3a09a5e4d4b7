// Builds dist/: the command, the tree worker, and the files of the documentation page.
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { build } from 'esbuild'

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
if (process.argv.includes('--clean')) await rm('dist', { recursive: true, force: true })
await mkdir('dist/docs', { recursive: true })

/** Puts the whole file in its place at once: a process that starts meanwhile reads the earlier one or this one. */
async function put(path, bytes) {
  const aside = `${path}.${process.pid}`
  await writeFile(aside, bytes)
  if (path.endsWith('svc.js')) await chmod(aside, 0o755)
  await rename(aside, path)
}

const { outputFiles } = await build({
  entryPoints: { svc: 'bin/svc.ts', 'merkle-worker': 'src/merkle/worker.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  define: { 'process.env.SVC_VERSION': JSON.stringify(version) },
  logLevel: 'warning',
  write: false,
})
// Chunks are named by what they hold; what imports them comes after them.
const isEntry = ({ path }) => ['svc.js', 'merkle-worker.js'].includes(basename(path))
for (const { path, contents } of outputFiles.filter((file) => !isEntry(file))) await put(path, contents)
for (const { path, contents } of outputFiles.filter(isEntry)) await put(path, contents)
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE']) {
  await put(`dist/docs/${file}`, await readFile(`node_modules/swagger-ui-dist/${file}`))
}
