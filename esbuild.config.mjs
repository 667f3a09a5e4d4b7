// Builds dist/: the command, the tree worker, and the files of the documentation page.
import { chmod, copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { build } from 'esbuild'

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
if (process.argv.includes('--clean')) await rm('dist', { recursive: true, force: true })
await build({
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
})
await chmod('dist/svc.js', 0o755)
await mkdir('dist/docs', { recursive: true })
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE']) {
  await copyFile(`node_modules/swagger-ui-dist/${file}`, `dist/docs/${file}`)
}
