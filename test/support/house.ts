/** Reads the source files of the house: their imports, the circles these make, and the names at their top level. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

export const FILES = ['bin', 'src', 'commands', 'daemon'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    // AssemblyScript looks like TypeScript, and is a program of its own.
    .filter((file) => file.endsWith('.ts') && !file.startsWith('src/merkle/engine/assembly/')),
)

export const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')

export interface Import {
  from: string
  to: string
  kind: 'type' | 'static' | 'dynamic'
}

const IMPORT = /(?:^|\n)\s*(import|export)\s+(type\s+)?(?:[^'";]*?\s+from\s+)?'([^']+)'|import\(\s*'([^']+)'\s*\)/g

function importsOf(file: string): Import[] {
  return [...textOf(file).matchAll(IMPORT)].map(([, , type, target, dynamic]) => {
    const specifier = (dynamic ?? target)!
    const to = specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), specifier)) : specifier
    return { from: file, to, kind: dynamic ? 'dynamic' : type ? 'type' : 'static' }
  })
}

export const IMPORTS = FILES.flatMap(importsOf)

/** Imports of the embedded chain by files outside it. */
export const importsOfLocalnet = IMPORTS.filter(
  ({ from, to }) => to.startsWith('src/localnet/') && !from.startsWith('src/localnet/'),
)

/** Each circle of files that import one another, as a path that ends where it begins. */
export function circlesOf(imports: readonly Import[]): string[] {
  const graph = new Map<string, string[]>()
  for (const { from, to } of imports) graph.set(from, [...(graph.get(from) ?? []), to])
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return circles
}

const TOP_LEVEL =
  /^(export )?(?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm

export interface TopLevelName {
  name: string
  /** Files that define it, each once though a type and a value may share the name there. */
  files: string[]
  /** Files that export it. */
  exportedBy: string[]
}

/** Every name that is defined at the top level of a file. */
export function topLevelNames(files: readonly string[] = FILES): TopLevelName[] {
  const names = new Map<string, { files: Set<string>; exportedBy: Set<string> }>()
  for (const file of files) {
    for (const [, exported, name] of textOf(file).matchAll(TOP_LEVEL)) {
      const found = names.get(name!) ?? { files: new Set(), exportedBy: new Set() }
      names.set(name!, found)
      found.files.add(file)
      if (exported !== undefined) found.exportedBy.add(file)
    }
  }
  return [...names].map(([name, { files, exportedBy }]) => ({ name, files: [...files], exportedBy: [...exportedBy] }))
}

/** The share, from 0 to 1, of definitions at the top level whose name is defined in another file too. */
export function shareOfRepeatedNames(names: readonly TopLevelName[]): number {
  const count = (some: readonly TopLevelName[]) => some.reduce((sum, { files }) => sum + files.length, 0)
  return count(names.filter(({ files }) => files.length > 1)) / count(names)
}
