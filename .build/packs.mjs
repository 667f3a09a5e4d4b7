/** Puts chunks that are loaded together into one file, which Node reads and compiles in less time than many. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * The sources with which each file begins; it holds what they import statically and no earlier file has. Every other
 * chunk is a file by itself.
 */
export const PACKS = {
  start: ['bin/main.ts'],
  merkle: ['commands/merkle/index.ts'],
  connection: ['bin/connection.ts'],
  table: ['commands/ui/table.ts'],
  local: ['daemon/local.ts', 'src/store/sqlite.ts'],
}

/** The files of the program, `path` and `text` each, from its chunks as CommonJS. A pack's name carries a hash. */
export function packedChunks(chunks, metafile) {
  const texts = new Map(chunks.map(({ path, contents }) => [nameOf(path), contents.toString()]))
  const packs = packsOf(metafile)
  const hash = createHash('sha256')
  for (const [pack, names] of packs) for (const name of names) hash.update(`${pack}\0${name}\0${texts.get(name)}\0`)
  // One hash for all, because a pack names others: its text, for which code is cached, never changes under its name.
  const ending = hash.digest('hex').slice(0, 8)
  const fileOf = new Map([...texts.keys()].map((name) => [name, `${name}.js`]))
  for (const [pack, names] of packs) for (const name of names) fileOf.set(name, `${pack}-${ending}.js`)
  const files = new Map()
  for (const [name, text] of texts) {
    const file = fileOf.get(name)
    files.set(file, [...(files.get(file) ?? []), wrapped(name, withSpecifiers(text, fileOf, 'require'))])
  }
  return {
    files: [...files].map(([file, wraps]) => ({
      path: `dist/${file}`,
      contents: Buffer.from(`'use strict';({\n${wraps.join('')}})\n`),
    })),
    fileOf,
    packs: [...packs.keys()].map((pack) => `${pack}-${ending}.js`),
  }
}

/** The file that starts, with the loader of the others in it. */
export function withLoader({ path, contents }, fileOf) {
  const [, head, body] = /^((?:#![^\n]*\n)?'use strict'\n)(.*)$/s.exec(contents.toString())
  const loader = readFileSync('.build/chunk-loader.cjs', 'utf8')
  const text = `${head}${loader}const loadChunk = (specifier) => (loadChunk.from ??= chunkLoader(__dirname, require))(specifier)\n`
  return { path, contents: Buffer.from(text + withSpecifiers(body, fileOf, 'loadChunk')) }
}

const nameOf = (path) => basename(path, '.js')
const wrapped = (name, text) =>
  `${JSON.stringify(name)}: function (exports, require, module, __filename) {\n${text}\n},\n`

const withSpecifiers = (text, fileOf, call) =>
  text.replace(/\brequire\("\.\/([\w.-]+)\.js"\)/g, (whole, name) =>
    fileOf.has(name) ? `${call}("./${fileOf.get(name)}#${name}")` : whole,
  )

/** The names of the chunks of each pack, those that it imports before itself. */
function packsOf({ outputs }) {
  const named = new Map(Object.entries(outputs).map(([path, output]) => [nameOf(path), output]))
  const taken = new Set()
  const take = (name) => {
    if (taken.has(name)) return []
    taken.add(name)
    const imports = named.get(name).imports.filter(({ kind, external }) => kind === 'import-statement' && !external)
    return [...imports.flatMap(({ path }) => take(nameOf(path))), name]
  }
  const chunkOf = (source) => {
    const [name] = [...named].find(([, { entryPoint }]) => entryPoint === source) ?? []
    if (name === undefined) throw new Error(`no chunk begins with ${source}, which .build/packs.mjs names`)
    return name
  }
  return new Map(Object.entries(PACKS).map(([pack, sources]) => [pack, sources.flatMap((each) => take(chunkOf(each)))]))
}
