/** The longest that a write at its largest body holds up the event loop, against parsing that body alone. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COSTS, largestText, mountedWrites, nameOf, urlOf } from '../test/support/largest-bodies.ts'
import { keypairFile } from '../test/support/platform-wallet.ts'
import { openService } from '../test/support/service.ts'
import type { Measurement } from './merkle.ts'

const RUNS = 4
/** Below it the ticks themselves, and a collection of garbage, are what is measured. */
const FLOOR_MS = 6

/** The least of some runs for each write: what the work itself costs. Half a minute. */
export async function stalls(): Promise<Measurement[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-stalls-'))
  const settings = { signer: 'keypair', 'signer.keypair': keypairFile(dataDir) }
  const service = await openService({ dataDir, settings })
  try {
    const subscription = { url: 'https://example.com', enabled_events: ['*'] }
    const made = await service.request('POST', '/v2/webhook-subscriptions', { body: subscription })
    const measurements: Measurement[] = []
    for (const route of await mountedWrites()) {
      const name = nameOf(route)
      const url = urlOf(route, made.json.data.id)
      const send = (body: string) =>
        service.request(route.method.toUpperCase(), url, { body, headers: { 'idempotency-key': randomUUID() } })
      const text = largestText(route)
      await send(text)
      let [parse, stall] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      for (let run = 1; run <= RUNS; run++) {
        const began = performance.now()
        JSON.parse(text)
        parse = Math.min(parse, performance.now() - began)
        const body = COSTS[name]?.vary ? largestText(route, run) : text
        stall = Math.min(stall, await stallOf(() => send(body)))
      }
      const floor = Math.max(FLOOR_MS, parse)
      measurements.push({ name: `stall: ${name}`, ms: stall, ratio: stall / floor, floor: 'parsing its body' })
    }
    return measurements
  } finally {
    await service.close()
    rmSync(dataDir, { recursive: true })
  }
}

/** Longest time in milliseconds that nothing else could run while `work` did. */
async function stallOf(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, performance.now(), false]
  const tick = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  await work()
  await new Promise(setImmediate)
  isOver = true
  return longest
}
