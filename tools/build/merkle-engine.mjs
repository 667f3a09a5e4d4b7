/** Compiles the tree engine from AssemblyScript to WebAssembly. */
import { readFileSync } from 'node:fs'
import { main } from 'assemblyscript/asc'

/** The package whose functions may be compiled into the engine. */
export const ENGINE_LIBRARY = 'node_modules/assemblyscript'

const SOURCE = 'src/merkle/engine/assembly/index.ts'
// Vectors are forbidden only in signatures of exported functions, and no exported function has one.
const OPTIONS = '-O3 --noAssert --runtime stub --enable simd --disableWarning 112'.split(' ')

/** Resolves with the bytes of the module; rejects with what the compiler says. */
export async function merkleEngine() {
  const outFile = 'merkle-engine.wasm'
  let bytes
  const { error, stderr } = await main([SOURCE, '--outFile', outFile, ...OPTIONS], {
    readFile: (name) => read(name),
    writeFile: (name, content) => {
      if (name === outFile) bytes = content
    },
    listFiles: () => [],
  })
  if (error !== null || bytes === undefined) throw new Error(`${SOURCE} does not compile\n${stderr}`, { cause: error })
  return bytes
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
