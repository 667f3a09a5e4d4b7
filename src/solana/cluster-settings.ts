/** Slot time, rent and consensus of a cluster: settings of the embedded chain, read from a cluster. */
import { CONSENSUSES, type Consensus } from './constants.ts'

/** Name of the file in the program cache that has the settings of its cluster. */
export const SETTINGS_FILE = 'cluster.json'

export interface Rent {
  /** Lamports for each byte of an account and of its 128 bytes of overhead, before the threshold. */
  lamportsPerByte: bigint
  /** Factor of the exemption; 1 since SIMD-0194, and 2 (years) before. */
  exemptionThreshold: number
  /** Percent of collected rent that is burned; without effect, because rent is no longer collected. */
  burnPercent: number
}

export interface ClusterSettings {
  /** Milliseconds of one slot. */
  slotMs: number
  rent: Rent
  consensus: Consensus
}

/**
 * Settings of a chain whose program cache has none: mainnet's of November 2026. Slots take 200 ms since epoch 1053
 * (`reduce_slot_time_to_200ms`, SIMD-0525). The rent is that of the second of five steps of SIMD-0437 (6,333, 5,080,
 * 2,575, 1,322, 696 lamports per byte). The consensus is mainnet's since slot 459,652,999. `svc localnet pull` reads
 * the present ones.
 */
export const DEFAULT_SETTINGS: ClusterSettings = {
  slotMs: 200,
  rent: { lamportsPerByte: 5_080n, exemptionThreshold: 1, burnPercent: 50 },
  consensus: 'alpenglow',
}

/**
 * Limits within which values from a cluster or a file are accepted. SIMD-0525 takes slots from 400 ms down to 200 ms, and
 * an outage shows no slot time.
 */
const MIN_SLOT_MS = 20
const MAX_SLOT_MS = 10_000
const MAX_LAMPORTS_PER_BYTE = 1_000_000_000n
const MAX_THRESHOLD = 100

/** Checks settings, and returns them. Throws an Error that names the impossible part. */
export function checkSettings(settings: ClusterSettings): ClusterSettings {
  const { slotMs, rent } = settings
  const { lamportsPerByte, exemptionThreshold, burnPercent } = rent
  if (!Number.isInteger(slotMs) || slotMs < MIN_SLOT_MS || slotMs > MAX_SLOT_MS) {
    throw new Error(`a slot takes ${MIN_SLOT_MS} to ${MAX_SLOT_MS} whole milliseconds, not ${slotMs}`)
  }
  if (lamportsPerByte < 1n || lamportsPerByte > MAX_LAMPORTS_PER_BYTE) {
    throw new Error(`rent is 1 to ${MAX_LAMPORTS_PER_BYTE} lamports per byte, not ${lamportsPerByte}`)
  }
  if (!(exemptionThreshold > 0 && exemptionThreshold <= MAX_THRESHOLD)) {
    throw new Error(`the rent's exemption threshold is above 0 and at most ${MAX_THRESHOLD}, not ${exemptionThreshold}`)
  }
  if (!Number.isInteger(burnPercent) || burnPercent < 0 || burnPercent > 100) {
    throw new Error(`the rent's burn percent is 0 to 100, not ${burnPercent}`)
  }
  return settings
}

/** One sample is of a minute: a few smooth out a slow one at little cost. */
export const SLOT_TIME_SAMPLES = 5
const LONGEST_SAMPLE_SECONDS = 86_400

/**
 * Reads a result of `getRecentPerformanceSamples`: milliseconds per slot over its first samples, rounded. Null for an
 * answer without a usable one.
 */
export function slotTimeOf(samples: unknown): number | null {
  if (!Array.isArray(samples)) return null
  let [slots, seconds] = [0, 0]
  for (const sample of samples.slice(0, SLOT_TIME_SAMPLES)) {
    const { numSlots, samplePeriodSecs } = (sample ?? {}) as Record<string, unknown>
    if (!isCount(numSlots, Number.MAX_SAFE_INTEGER) || !isCount(samplePeriodSecs, LONGEST_SAMPLE_SECONDS)) continue
    slots += numSlots
    seconds += samplePeriodSecs
  }
  const slotMs = Math.round((seconds * 1000) / slots)
  return slotMs >= MIN_SLOT_MS && slotMs <= MAX_SLOT_MS ? slotMs : null
}

/** Whether a value is a whole number from 1 to `most`. */
export const isCount = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= most

export const sameSettings = (a: ClusterSettings, b: ClusterSettings): boolean =>
  JSON.stringify(settingsJson(a)) === JSON.stringify(settingsJson(b))

/** The file's form of settings; `readSettingsJson` reads it. */
export const settingsJson = ({ slotMs, rent, consensus }: ClusterSettings) => ({
  slot_ms: slotMs,
  consensus,
  rent: {
    lamports_per_byte: Number(rent.lamportsPerByte),
    exemption_threshold: rent.exemptionThreshold,
    burn_percent: rent.burnPercent,
  },
})

/** Reads the file's form; a part that is left out is as in `otherwise`. Throws an Error that names the wrong part. */
export function readSettingsJson(json: unknown, otherwise: ClusterSettings = DEFAULT_SETTINGS): ClusterSettings {
  const fields = fieldsOf(json, 'the file')
  const rent = fieldsOf(fields.rent ?? {}, 'its "rent"')
  const number = (value: unknown, name: string, fallback: number): number => {
    if (value === undefined) return fallback
    if (typeof value !== 'number') throw new Error(`its "${name}" must be a number`)
    return value
  }
  const perByte = number(rent.lamports_per_byte, 'lamports_per_byte', Number(otherwise.rent.lamportsPerByte))
  if (!Number.isSafeInteger(perByte)) throw new Error('its "lamports_per_byte" must be a whole number')
  const consensus = CONSENSUSES.find((each) => each === (fields.consensus ?? otherwise.consensus))
  if (consensus === undefined) throw new Error(`its "consensus" must be ${CONSENSUSES.join(' or ')}`)
  return checkSettings({
    slotMs: number(fields.slot_ms, 'slot_ms', otherwise.slotMs),
    rent: {
      lamportsPerByte: BigInt(perByte),
      exemptionThreshold: number(rent.exemption_threshold, 'exemption_threshold', otherwise.rent.exemptionThreshold),
      burnPercent: number(rent.burn_percent, 'burn_percent', otherwise.rent.burnPercent),
    },
    consensus,
  })
}

function fieldsOf(json: unknown, what: string): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error(`${what} is not a JSON object`)
  return json as Record<string, unknown>
}

/** Bytes of the Rent sysvar: lamports per byte (u64), exemption threshold (f64), burn percent (u8). */
const RENT_BYTES = 17

/** Reads the data of the Rent sysvar. Throws an Error when it cannot be that. */
export function readRentSysvar(data: Uint8Array): Rent {
  if (data.length !== RENT_BYTES) throw new Error(`the Rent sysvar has ${RENT_BYTES} bytes, not ${data.length}`)
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const rent = {
    lamportsPerByte: view.getBigUint64(0, true),
    exemptionThreshold: view.getFloat64(8, true),
    burnPercent: view.getUint8(16),
  }
  return checkSettings({ ...DEFAULT_SETTINGS, rent }).rent
}
