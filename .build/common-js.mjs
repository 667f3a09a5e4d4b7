/** An esbuild plugin: gives `await import('package')` of a CommonJS package the named exports that Node gives it. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const OWN_LOOKUP = { commonJsOnDemand: true }

export const commonJsOnDemand = {
  name: 'common-js-on-demand',
  setup(build) {
    build.onResolve({ filter: /^[^.]/ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === OWN_LOOKUP) return undefined
      const found = await build.resolve(path, { kind, resolveDir, importer, pluginData: OWN_LOOKUP })
      if (found.external || found.errors.length > 0 || (await isModule(found.path))) return found
      return { path: found.path, namespace: 'common-js' }
    })
    // esbuild gives such an import the default export alone, because it does not know the names before it is run.
    build.onLoad({ filter: /.*/, namespace: 'common-js' }, async ({ path }) => {
      const names = Object.keys(await exportsOf(path)).filter((name) => /^(?!default$)[\w$]+$/.test(name))
      const lines = [
        `const loaded = require(${JSON.stringify(path)})`,
        'export default loaded',
        ...names.map((name) => `export const ${name} = loaded.${name}`),
      ]
      return { contents: lines.join('\n'), resolveDir: dirname(path), loader: 'js' }
    })
  },
}

/** Whether Node would read the file as a module: by its ending, else by the package.json nearest to it. */
async function isModule(file) {
  if (!file.endsWith('.js')) return file.endsWith('.mjs')
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined)
    if (text !== undefined) return JSON.parse(text).type === 'module'
    if (folder === dirname(folder)) return false
  }
}

/** The embedded chain's native part may be missing for this platform; of its module the default export alone is used. */
const exportsOf = (path) =>
  import(pathToFileURL(path).href).catch((error) => {
    if (path.includes('/litesvm/')) return {}
    throw error
  })
