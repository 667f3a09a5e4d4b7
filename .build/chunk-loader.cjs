/**
 * Loads chunks of the program by the file that holds them, `./file.js#chunk`, in place of `require`, which looks each
 * one up and compiles it by itself. The build puts this text into dist/svc.js.
 */
// biome-ignore lint/correctness/noUnusedVariables: what the build puts below this text calls it.
function chunkLoader(folder, requirePackage) {
  const { readFileSync } = requirePackage('node:fs')
  const { Script } = requirePackage('node:vm')
  const tables = new Map()
  const modules = new Map()
  // V8 takes the code that another version or other flags made for none, and compiles the text.
  const codeEnding = `.${process.versions.v8}-${process.arch}.code`

  function codeOf(path) {
    try {
      return readFileSync(path + codeEnding)
    } catch {
      return undefined
    }
  }

  function chunksIn(path) {
    const script = new Script(readFileSync(path, 'utf8'), { filename: path, cachedData: codeOf(path) })
    const table = script.runInThisContext()
    tables.set(path, table)
    return table
  }

  return function load(specifier) {
    const at = specifier.indexOf('#')
    if (at < 0) return requirePackage(specifier)
    const name = specifier.slice(at + 1)
    const loaded = modules.get(name)
    if (loaded !== undefined) return loaded.exports
    const path = folder + specifier.slice(1, at)
    const module = { exports: {} }
    modules.set(name, module)
    try {
      const table = tables.get(path) ?? chunksIn(path)
      table[name](module.exports, load, module, path, folder)
    } catch (error) {
      // The next call tries it again, as `require` does.
      modules.delete(name)
      throw error
    }
    return module.exports
  }
}
