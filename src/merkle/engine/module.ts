/** Finds, compiles and instantiates the engine: the WebAssembly module that `npm run build` compiles from assembly/. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A number in memory that the module changes. */
interface EngineCounter {
  readonly value: number
}

/** A 64-bit number, which JavaScript sees as signed. */
interface EngineSum {
  readonly value: bigint
}

/** What one instance exports; addresses and lengths are bytes in its memory, flags are 0 or 1. */
export interface Engine {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  readonly position: EngineCounter
  readonly count: EngineCounter
  readonly comments: EngineCounter
  readonly distinct: EngineCounter
  readonly zeroAmounts: EngineCounter
  readonly totalLow: EngineSum
  readonly totalHigh: EngineSum
  heapBase(): number
  prepare(): void
  /** `guarded` is a mask of cells. */
  configure(
    wallet: number,
    amount: number,
    locked: number,
    width: number,
    guarded: bigint,
    category: number,
    decimals: number,
  ): void
  readRows(start: number, end: number, last: number, records: number, capacity: number): number
  hashKeys(hashes: number): number
  startDuplicates(at: number, slots: number): void
  keepDistinct(records: number, hashes: number, from: number, to: number, sum: number): number
  hashLeaves(records: number, nodes: number, from: number, to: number): void
  hashPairs(below: number, above: number, from: number, to: number, count: number): void
}

/** The part of the WebAssembly API that is used; it is undefined if Node runs with --jitless or --no-expose-wasm. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

const PAGE_BYTES = 65_536

/** Undefined before the first use, null if the engine cannot run. */
let compiled: object | null | undefined

/**
 * Returns a new instance with its own memory; undefined without WebAssembly, SIMD or a built module.
 */
export function newEngine(): Engine | undefined {
  const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi }
  if (api === undefined || compiled === null) return undefined
  try {
    compiled ??= new api.Module(readFileSync(fileURLToPath(moduleUrl())))
    const engine = new api.Instance(compiled).exports as Engine
    engine.prepare()
    return engine
  } catch {
    compiled = null
    return undefined
  }
}

/**
 * Grows the memory to at least this many bytes. Earlier views of it become empty. Returns false if there is no room.
 */
export function reserve({ memory }: Engine, bytes: number): boolean {
  const missing = bytes - memory.buffer.byteLength
  if (missing <= 0) return true
  try {
    memory.grow(Math.ceil(missing / PAGE_BYTES))
    return true
  } catch {
    return false
  }
}

/** The next address that is a multiple of 16. */
export const aligned = (address: number): number => Math.ceil(address / 16) * 16

function moduleUrl(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? '../../../dist/merkle-engine.wasm' : './merkle-engine.wasm', import.meta.url)
}
