/** Takes V8's optimised code of the engine, which the build stored beside it, in place of compiling the engine anew. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Script as CompiledScript } from 'node:vm'

/** What stands before the code: SHA-256 of the code and the module, because V8 runs damaged code as it is. */
const DIGEST_BYTES = 32
/** V8 keeps WebAssembly code for browsers; Node shows this only through V8's own functions, which a flag opens. */
const OWN_FUNCTIONS = 'allow-natives-syntax'
const READ_CODE = '(code, bytes) => %DeserializeWasmModule(code, bytes)'

type ReadCode = (code: ArrayBuffer, bytes: Uint8Array) => object | undefined

/**
 * Returns the compiled module of these bytes; undefined where no code is stored, or V8 finds that it was made by
 * another version, with other flags or for another processor. Only for a process of one thread, whose flags it changes
 * until it returns.
 */
export function storedModule(path: string, bytes: Uint8Array): object | undefined {
  const { v8, arch } = { v8: process.versions.v8, arch: process.arch }
  let stored: Buffer
  try {
    stored = readFileSync(`${path}.${v8}-${arch}.code`)
  } catch {
    return undefined
  }
  const code = stored.subarray(DIGEST_BYTES)
  const digest = hash('sha256', Buffer.concat([code, bytes]), 'buffer')
  if (!digest.equals(stored.subarray(0, DIGEST_BYTES))) return undefined
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  const { Script }: { Script: typeof CompiledScript } = process.getBuiltinModule('node:vm')
  setFlagsFromString(`--${OWN_FUNCTIONS}`)
  try {
    const readCode: ReadCode = new Script(READ_CODE).runInThisContext()
    return readCode(new Uint8Array(code).buffer, bytes)
  } catch {
    return undefined
  } finally {
    setFlagsFromString(`--no-${OWN_FUNCTIONS}`)
  }
}
