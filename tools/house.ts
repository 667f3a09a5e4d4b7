/** `npx tsx tools/house.ts`: figures of the source itself, of what a stranger must hold in mind to read or extend it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript-5'
import {
  circlesOf,
  FILES,
  IMPORTS,
  importsOfLocalnet,
  ROOT,
  shareOfRepeatedNames,
  textOf,
  topLevelNames,
} from '../test/support/house.ts'

const lineCount = (text: string) => text.split('\n').length - 1
const lines = FILES.reduce((sum, file) => sum + lineCount(textOf(file)), 0)

function nonNullAssertions(file: string): number {
  let count = 0
  const visit = (node: ts.Node): void => {
    if (ts.isNonNullExpression(node)) count++
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest))
  return count
}

/** Files of the template resource and the lines that it adds to files of the house. */
function templateFigures(): string {
  const folder = join(ROOT, 'examples/template')
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const ownLines = own.reduce((sum, file) => sum + lineCount(readFileSync(join(folder, file), 'utf8')), 0)
  const wiring: Record<string, { insert: string[] }[]> = JSON.parse(readFileSync(join(folder, 'wiring.json'), 'utf8'))
  const inserted = Object.values(wiring).flat()
  const insertedLines = inserted.reduce((sum, { insert }) => sum + insert.length, 0)
  return `${own.length} new files (${ownLines} lines), ${insertedLines} lines in ${Object.keys(wiring).length} others`
}

const names = topLevelNames()
const assertions = FILES.reduce((sum, file) => sum + nonNullAssertions(file), 0)
const figures: Record<string, string | number> = {
  'files, lines': `${FILES.length}, ${lines}`,
  'longest file': Math.max(...FILES.map((file) => lineCount(textOf(file)))),
  'imports into the embedded chain from outside': importsOfLocalnet.length,
  'circles of values': circlesOf(IMPORTS.filter(({ kind }) => kind === 'static')).length,
  'names exported by two files': names.filter(({ exportedBy }) => exportedBy.length > 1).length,
  'top-level names that are in two files': `${(shareOfRepeatedNames(names) * 100).toFixed(1)} %`,
  'non-null assertions': `${assertions} (${((assertions / lines) * 1_000).toFixed(1)} per 1,000 lines)`,
  'a new resource': templateFigures(),
}
for (const [what, figure] of Object.entries(figures)) process.stdout.write(`${what.padEnd(48)} ${figure}\n`)
