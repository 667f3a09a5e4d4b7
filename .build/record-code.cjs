/**
 * Preloaded into a command by the build: keeps the code of each script as it is when the command ends, and with
 * SVC_BUILD_ENGINE the optimised code of a WebAssembly module, as src/merkle/engine/stored-code.ts reads it.
 */
const { createHash } = require('node:crypto')
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const { basename, join } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const vm = require('node:vm')

const folder = process.env.SVC_BUILD_CODE
const { Script } = vm
const scripts = new Map()
mkdirSync(folder, { recursive: true })

/** A script that begins with the code of the command before. */
vm.Script = class extends Script {
  constructor(text, options) {
    const file = join(folder, basename(options.filename))
    super(text, { ...options, cachedData: read(file) })
    scripts.set(file, this)
  }
}
process.on('exit', () => {
  for (const [file, script] of scripts) writeFileSync(file, script.createCachedData())
})

const { Module } = WebAssembly
if (process.env.SVC_BUILD_ENGINE !== undefined) {
  WebAssembly.Module = class extends Module {
    constructor(bytes) {
      super(bytes)
      process.on('exit', () => writeFileSync(process.env.SVC_BUILD_ENGINE, storedCode(this, bytes)))
    }
  }
}

/** V8 finds the code unfit unless the flags are those of the process that reads it. */
function storedCode(module, bytes) {
  setFlagsFromString('--allow-natives-syntax')
  const code = Buffer.from(new Script('(module) => %SerializeWasmModule(module)').runInThisContext()(module))
  return Buffer.concat([createHash('sha256').update(code).update(bytes).digest(), code])
}

function read(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
