/** The entry of a thread of `svc tokens grind`: it tries keys until it is stopped, and reports each batch. */
import { parentPort, workerData } from 'node:worker_threads'
import { type AddressPattern, matcherOf, tryKeys } from '../../src/solana/grinding.ts'

/** A twentieth of a second of work. */
const BATCH = 1_000

/** The tries since the last report, and the seeds of the keys that match. */
export interface GrindReport {
  tries: number
  seeds: Uint8Array[]
}

const matches = matcherOf(workerData as AddressPattern)
while (parentPort !== null)
  parentPort.postMessage({ tries: BATCH, seeds: tryKeys(matches, BATCH) } satisfies GrindReport)
