/** Slot time and rent of a cluster: settings of the embedded chain, read from a cluster. */

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
}

/**
 * Default settings of a chain. Slots are mainnet's since October 2026: `reduce_slot_time_to_200ms`
 * (SIMD-0525)
 * was activated in epoch 1052 and has effect from epoch 1053 (feature table of streamingfast, 2026-10-08). The rent is
 * the one before SIMD-0437 lowers it step by step, which is enough on every cluster.
 */
export const DEFAULT_SETTINGS: ClusterSettings = {
  slotMs: 200,
  rent: { lamportsPerByte: 6_960n, exemptionThreshold: 1, burnPercent: 50 },
}

/** Bounds within which values from a cluster or a file are believed. */
const [MIN_SLOT_MS, MAX_SLOT_MS] = [20, 10_000]
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

export const sameSettings = (a: ClusterSettings, b: ClusterSettings): boolean =>
  JSON.stringify(settingsJson(a)) === JSON.stringify(settingsJson(b))

/** The file's form of settings; `readSettingsJson` reads it. */
export const settingsJson = ({ slotMs, rent }: ClusterSettings) => ({
  slot_ms: slotMs,
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
  return checkSettings({
    slotMs: number(fields.slot_ms, 'slot_ms', otherwise.slotMs),
    rent: {
      lamportsPerByte: BigInt(perByte),
      exemptionThreshold: number(rent.exemption_threshold, 'exemption_threshold', otherwise.rent.exemptionThreshold),
      burnPercent: number(rent.burn_percent, 'burn_percent', otherwise.rent.burnPercent),
    },
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
