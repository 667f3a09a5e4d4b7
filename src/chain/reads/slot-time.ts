/** Measures how long a slot of the cluster takes, from the node's performance samples. */

import type { NodeCalls } from '../nodes/node-call.ts'

/**
 * One sample a minute (`getRecentPerformanceSamples` of Agave's RPC): a few smooth out a slow minute at little cost.
 */
const SAMPLES = 5
/**
 * Values outside are errors of the node: SIMD-0525 goes from 400 ms down to 200 ms in four steps, and an outage shows
 * no slot time.
 */
const [LEAST_MS, MOST_MS] = [20, 10_000]
const LONGEST_SAMPLE_SECONDS = 86_400
/** Milliseconds for which a measurement, or the lack of one, is cached. */
const [MEASURED_FOR_MS, MISSING_FOR_MS] = [60_000, 5_000]

export type SlotNode = NodeCalls

interface Measurement {
  /** When it ends, in milliseconds of the clock that was given. */
  until: number
  slotMs: Promise<number | null>
}

const measured = new WeakMap<SlotNode, Measurement>()

/**
 * Returns milliseconds per slot, measured at most once a minute for each chain. Null if the node fails, has no sample
 * yet, or answers an impossible value.
 */
export function readSlotTime(node: SlotNode, now: () => number = () => performance.now()): Promise<number | null> {
  const known = measured.get(node)
  if (known !== undefined && now() < known.until) return known.slotMs
  const measurement: Measurement = { until: now() + MEASURED_FOR_MS, slotMs: Promise.resolve(null) }
  measurement.slotMs = measure(node).then((slotMs) => {
    if (slotMs === null) measurement.until = now() + MISSING_FOR_MS
    return slotMs
  })
  measured.set(node, measurement)
  return measurement.slotMs
}

async function measure(node: SlotNode): Promise<number | null> {
  try {
    return slotTimeOf(await node.call<unknown>('getRecentPerformanceSamples', [SAMPLES]))
  } catch {
    return null
  }
}

/** Returns milliseconds per slot over all samples, rounded; null for an answer without a usable one. */
export function slotTimeOf(samples: unknown): number | null {
  if (!Array.isArray(samples)) return null
  let [slots, seconds] = [0, 0]
  for (const sample of samples.slice(0, SAMPLES)) {
    const { numSlots, samplePeriodSecs } = (sample ?? {}) as Record<string, unknown>
    if (!isCount(numSlots, Number.MAX_SAFE_INTEGER) || !isCount(samplePeriodSecs, LONGEST_SAMPLE_SECONDS)) continue
    slots += numSlots
    seconds += samplePeriodSecs
  }
  const slotMs = Math.round((seconds * 1000) / slots)
  return slotMs >= LEAST_MS && slotMs <= MOST_MS ? slotMs : null
}

const isCount = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= most
