/** Preloaded into a command by the build: keeps the code of each script as it is when the command ends. */
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const { basename, join } = require('node:path')
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

function read(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
