/** Searches for keys in a thread for each core. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type AddressPattern, tryKeys } from '../../src/solana/grinding.ts'
import { Cancelled, failure } from '../ui/problem.ts'
import type { GrindReport } from './grind-worker.ts'

/** How long the rate is measured before the search, in milliseconds, and the keys of a step of it. */
const MEASURED_MS = 200
const MEASURED_KEYS = 100

export const cores = (): number => availableParallelism()

/** Keys a second that one thread tries now. */
export function measuredRate(): number {
  const from = performance.now()
  let tries = 0
  do {
    tryKeys(() => false, MEASURED_KEYS)
    tries += MEASURED_KEYS
  } while (performance.now() - from < MEASURED_MS)
  return (tries * 1_000) / (performance.now() - from)
}

interface GrindHooks {
  /** Ends the search. */
  signal: AbortSignal
  /** Called for each key, with its 32-byte seed, until it returns true. */
  onFound(seed: Uint8Array): boolean
  /** Called after each batch with all tries until then. */
  onTries(tries: number): void
}

/**
 * Searches until `onFound` returns true, and returns the number of tries. Throws Cancelled on the signal, what a hook
 * throws, and a failure if a thread ends.
 */
export async function grindInThreads(
  pattern: AddressPattern,
  threads: number,
  { signal, onFound, onTries }: GrindHooks,
): Promise<number> {
  const workers: Worker[] = []
  let tries = 0
  let isOver = false
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = () => reject(new Cancelled())
      if (signal.aborted) return cancel()
      signal.addEventListener('abort', cancel)
      const take = (report: GrindReport) => {
        if (isOver) return
        tries += report.tries
        onTries(tries)
        isOver = report.seeds.some(onFound)
        if (isOver) resolve()
      }
      for (let i = 0; i < threads; i++) {
        const worker: Worker = new Worker(workerUrl(), { env: {}, workerData: pattern })
        workers.push(worker)
        worker.on('message', (report: GrindReport) => {
          try {
            take(report)
          } catch (error) {
            isOver = true
            reject(error)
          }
        })
        worker.on('error', (error) => reject(failure(`a thread of the search failed: ${error.message}`)))
        worker.on('exit', () => reject(failure('a thread of the search ended early')))
      }
    })
    return tries
  } finally {
    isOver = true
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

function workerUrl(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? '../../dist/grind-worker.js' : './grind-worker.js', import.meta.url)
}
