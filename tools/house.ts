/** `npx tsx tools/house.ts`: the size of the source, and what a reader must know before adding a resource. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOM_PATHS } from './rooms.ts'
import { circlesOf, IMPORTS, ROOT } from './source.ts'

const CODE = /\.(ts|mjs|cjs|js|css|html)$/
const lineCount = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1
const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => CODE.test(file))

function sizeOf(...folders: string[]): string {
  const files = tracked.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)))
  return `${files.reduce((sum, file) => sum + lineCount(file), 0)} lines in ${files.length} files`
}

/** What the template resource consists of: its own files, and the lines that it adds to other files. */
function templateFigures(): string {
  const own = tracked.filter((file) => file.startsWith('examples/template/'))
  const wiring: Record<string, { insert: string[] }[]> = JSON.parse(
    readFileSync(join(ROOT, 'examples/template/wiring.json'), 'utf8'),
  )
  const inserted = Object.values(wiring)
    .flat()
    .flatMap(({ insert }) => insert)
  const ownLines = own.reduce((sum, file) => sum + lineCount(file), 0)
  return `${own.length} new files (${ownLines} lines), ${inserted.length} lines in ${Object.keys(wiring).length} others`
}

const figures: Record<string, string | number> = {
  product: sizeOf('bin', 'commands', 'daemon', 'src'),
  ...Object.fromEntries(['bin', 'commands', 'daemon', 'src'].map((folder) => [`  ${folder}`, sizeOf(folder)])),
  tests: sizeOf('test'),
  bench: sizeOf('bench'),
  tools: sizeOf('tools', '.ci'),
  rooms: ROOM_PATHS.length,
  'circles of imports': circlesOf(IMPORTS).length,

  'a new resource': templateFigures(),
}
for (const [what, figure] of Object.entries(figures)) process.stdout.write(`${what.padEnd(20)} ${figure}\n`)
