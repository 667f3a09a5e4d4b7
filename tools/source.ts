/** Reads the source files, their imports and the circles among them. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '..')

export const FILES = ['tools', 'bin', 'commands', 'daemon', 'src'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    // AssemblyScript looks like TypeScript, and is a program of its own.
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('src/merkle/engine/assembly/')),
)

export const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')

interface Import {
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
