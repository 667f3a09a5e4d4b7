/** Turns the chunks of the program from ES modules into CommonJS, which Node reads, links and runs in far less time. */
import { basename } from 'node:path'
import { transform } from 'esbuild'

const MODULE_URL = 'urlOfChunk'
const MODULE_URL_BANNER = `const ${MODULE_URL} = require('node:url').pathToFileURL(__filename).href`

/** A chunk names its exports as a module does, so nothing has to copy them, which `import()` would do each time. */
const REQUIRED_CHUNK = /__toESM\((require\("\.\.?\/[^"]+\.js"\))\)/g

/** The files with their contents turned; each begins with a comment that names the packages of which it holds code. */
export async function commonJsChunks({ outputFiles, metafile }) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]))
  return Promise.all(
    outputFiles.map(async ({ path, text }) => {
      // esbuild splits ES modules only, so each chunk is turned by itself; imports of chunks become calls of `require`.
      const { code } = await transform(text, {
        format: 'cjs',
        platform: 'node',
        target: 'node20.19',
        supported: { 'dynamic-import': false },
        define: {
          'import.meta.url': MODULE_URL,
          'import.meta.dirname': '__dirname',
          'import.meta.filename': '__filename',
        },
        legalComments: 'none',
        // Some packages are comments by half, which Node reads at every start. Lines stay of a length to be read.
        minifyWhitespace: true,
        lineLimit: 120,
      })
      const [, hashbang = '', rest] = /^(#![^\n]*\n)?(.*)$/s.exec(code)
      const url = text.includes('import.meta.url') ? `${MODULE_URL_BANNER}\n` : ''
      // Modules are strict, and stay so.
      const direct = rest.replace(REQUIRED_CHUNK, '$1')
      const contents = `${hashbang}'use strict'\n${packageComments(outputs.get(basename(path)))}${url}${direct}`
      return { path, contents: Buffer.from(contents) }
    }),
  )
}

function packageComments({ inputs }) {
  const packages = Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]
    return name === undefined || bytesInOutput === 0 ? [] : [`// node_modules/${name}/\n`]
  })
  return [...new Set(packages)].sort().join('')
}

/** An esbuild plugin for the file that starts: what it imports later is a file beside it and no part of it. */
export const importsBesideEntry = {
  name: 'imports-beside-entry',
  setup(build) {
    build.onResolve({ filter: /\.ts$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: `./${basename(path, '.ts')}.js`, external: true } : undefined,
    )
  },
}
