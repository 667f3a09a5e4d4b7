/** Puts chunks that are loaded together into one file, which Node reads and compiles in less time than many. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * The sources that each file holds, with what they import statically and no earlier file has. What is the
 * daemon's holds nothing that a command imports by itself. Every other chunk is a file of its own.
 */
export const PACKS = {
  start: ['bin/main.ts', 'commands/reads.ts', 'commands/command.ts'],
  settings: ['commands/config.ts', 'bin/settings.ts'],
  merkle: ['commands/merkle/index.ts'],
  connection: ['bin/connection.ts'],
  table: ['commands/ui/table.ts'],
  local: ['daemon/local.ts', 'src/store/sqlite/store.ts', 'daemon/routes/api-keys.ts'],
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
  `${JSON.stringify(name)}: function (exports, require, module, __filename, __dirname) {\n${text}\n},\n`

const withSpecifiers = (text, fileOf, call) =>
  text.replace(/\brequire\("\.\/([\w.-]+)\.js"\)/g, (whole, name) =>
    fileOf.has(name) ? `${call}("./${fileOf.get(name)}#${name}")` : whole,
  )

const isCommand = (source) => /^(bin|commands)\//.test(source)

/** The names of the chunks of each pack, those that it imports before itself. */
function packsOf({ outputs }) {
  const named = new Map(Object.entries(outputs).map(([path, output]) => [nameOf(path), output]))
  /** Adds a chunk and what it imports statically to `taken`; returns the names that were not there. */
  const take = (name, taken) => {
    if (taken.has(name)) return []
    taken.add(name)
    const imports = named.get(name).imports.filter(({ kind, external }) => kind === 'import-statement' && !external)
    return [...imports.flatMap(({ path }) => take(nameOf(path), taken)), name]
  }
  const begin = [...named].filter(([, { entryPoint }]) => entryPoint !== undefined)
  const chunkOf = (source) => {
    const holds = ([, { entryPoint, inputs }]) => entryPoint === source || Object.hasOwn(inputs, source)
    const [name] = begin.find(holds) ?? [...named].find(holds) ?? []
    if (name === undefined) throw new Error(`no chunk holds ${source}, which .build/packs.mjs names`)
    return name
  }
  const ofCommands = new Set()
  for (const [name, { entryPoint }] of begin) if (isCommand(entryPoint)) take(name, ofCommands)
  const packed = new Set()
  return new Map(
    Object.entries(PACKS).map(([pack, sources]) => {
      const names = sources.flatMap((source) => take(chunkOf(source), packed))
      return [pack, sources.every(isCommand) ? names : names.filter((name) => !ofCommands.has(name))]
    }),
  )
}
