/** Measures how long a slot of the cluster takes, from the node's performance samples. */

import { SLOT_TIME_SAMPLES, slotTimeOf } from '../../solana/cluster-settings.ts'
import { COMMITMENT_DEPTH } from '../../solana/constants.ts'
import type { Chain } from '../connection.ts'
import type { NodeCalls } from '../nodes/node-call.ts'

/** Milliseconds for which a measurement, or the lack of one, is cached. */
const MEASURED_FOR_MS = 60_000
const MISSING_FOR_MS = 5_000

/** Assumed until a slot was measured; slots of mainnet were never meant to take longer. */
const ASSUMED_SLOT_MS = 400

type SlotNode = NodeCalls

interface Measurement {
  /** When it ends, in milliseconds of the clock that was given. */
  until: number
  slotMs: Promise<number | null>
  /** The result of this measurement, or of the last one that had one. */
  last: number | null
}

const measured = new WeakMap<SlotNode, Measurement>()

/**
 * Returns milliseconds per slot, measured at most once a minute for each chain. Null if the node fails, has no sample
 * yet, or answers an impossible value.
 */
export function readSlotTime(node: SlotNode, now: () => number = () => performance.now()): Promise<number | null> {
  const known = measured.get(node)
  if (known !== undefined && now() < known.until) return known.slotMs
  const last = known?.last ?? null
  const measurement: Measurement = { until: now() + MEASURED_FOR_MS, slotMs: Promise.resolve(null), last }
  measurement.slotMs = measure(node).then((slotMs) => {
    if (slotMs === null) measurement.until = now() + MISSING_FOR_MS
    else measurement.last = slotMs
    return slotMs
  })
  measured.set(node, measurement)
  return measurement.slotMs
}

/** Milliseconds per slot by the last measurement, 400 before the first. Asks no node. */
export const lastSlotTime = (node: SlotNode): number => measured.get(node)?.last ?? ASSUMED_SLOT_MS

/** About how many milliseconds a block takes until it is final, by slot time and consensus. Asks no node. */
export function finalityTime(chain: SlotNode & Pick<Chain, 'consensus'>): number {
  const { consensus } = chain.consensus.known()
  return COMMITMENT_DEPTH[consensus ?? 'tower'].finalized * lastSlotTime(chain)
}

async function measure(node: SlotNode): Promise<number | null> {
  try {
    return slotTimeOf(await node.call<unknown>('getRecentPerformanceSamples', [SLOT_TIME_SAMPLES]))
  } catch {
    return null
  }
}
