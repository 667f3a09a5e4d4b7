/** Reads slot time, rent and consensus of a cluster, and keeps them in the program cache for the embedded chain. */
import { join } from 'node:path'
import {
  type ClusterSettings,
  checkSettings,
  DEFAULT_SETTINGS,
  isCount,
  type Rent,
  readRentSysvar,
  readSettingsJson,
  SETTINGS_FILE,
  sameSettings,
  settingsJson,
} from '../../solana/cluster-settings.ts'
import type { Consensus } from '../../solana/constants.ts'
import { RENT_SYSVAR } from '../../solana/program-ids.ts'
import { certifiedSlot, METHOD_NOT_FOUND } from '../nodes/consensus.ts'
import { readIfThere, writeWhole } from './cache.ts'
import { type RpcCallOptions, type RpcOutcome, rpcText } from './rpc.ts'

/** Number of one-minute samples to request. */
const SAMPLES = 60
/** Longest period and most slots of a plausible sample. */
const MAX_SAMPLE_SECONDS = 3_600
const MAX_SAMPLE_SLOTS = 1_000_000

interface FoundSettings {
  settings: ClusterSettings
  slot: number | null
}

export interface SettingsSource {
  label: string
  /** Returns null if the source has none. Throws an Error for unreadable settings. */
  settings(): Promise<FoundSettings | null>
}

interface PulledSettings {
  status: 'written' | 'unchanged' | 'missing' | 'failed'
  /** The source's settings; null without any. */
  settings: ReturnType<typeof settingsJson> | null
  error: string | null
}

/** Writes the settings of a source into the cache; unreadable settings leave the cache unchanged. */
export async function pullSettings({
  folder,
  source,
  now,
}: {
  folder: string
  source: SettingsSource
  /** Returns Unix milliseconds. */
  now: () => number
}): Promise<PulledSettings> {
  try {
    const found = await source.settings()
    if (found === null) return { status: 'missing', settings: null, error: null }
    const settings = settingsJson(found.settings)
    const file = join(folder, SETTINGS_FILE)
    const known = settingsIn(file)
    if (known !== null && sameSettings(known, found.settings)) return { status: 'unchanged', settings, error: null }
    const origin = { source: source.label, slot: found.slot, fetched_at: new Date(now()).toISOString() }
    writeWhole(file, `${JSON.stringify({ ...settings, ...origin }, undefined, 2)}\n`)
    return { status: 'written', settings, error: null }
  } catch (error) {
    return { status: 'failed', settings: null, error: (error as Error).message }
  }
}

/** Returns the settings of a file; null when it is missing, or is invalid and will be replaced. */
function settingsIn(file: string): ClusterSettings | null {
  const bytes = readIfThere(file)
  try {
    return bytes && readSettingsJson(JSON.parse(bytes.toString('utf8')))
  } catch {
    return null
  }
}

/** Reads the settings file of a folder, such as another program cache. */
export function folderSettings(folder: string): FoundSettings | null {
  const bytes = readIfThere(join(folder, SETTINGS_FILE))
  return bytes && { settings: readSettingsJson(JSON.parse(bytes.toString('utf8'))), slot: null }
}

/**
 * Reads the settings of a cluster: the slot time from its performance samples, the rent from its sysvar, the consensus
 * from its certificate.
 */
export async function clusterSettings(url: string, options: RpcCallOptions = {}): Promise<FoundSettings> {
  const slotMs = slotMsOf(await callRpc(url, 'getRecentPerformanceSamples', [SAMPLES], options))
  const config = { encoding: 'base64', commitment: 'finalized' }
  const { rent, slot } = rentOf(await callRpc(url, 'getAccountInfo', [RENT_SYSVAR, config], options))
  // A provider that does not forward the call says nothing, so the consensus is that of a new chain.
  const consensus = consensusOf(await rpcText(url, 'getAgGenesisCert', [], options)) ?? DEFAULT_SETTINGS.consensus
  return { settings: checkSettings({ slotMs, rent, consensus }), slot }
}

/** Reads the answer to `getAgGenesisCert`; null if it does not say which consensus the cluster has. */
export function consensusOf(outcome: RpcOutcome): Consensus | null {
  if ('fault' in outcome) return outcome.code === METHOD_NOT_FOUND ? 'tower' : null
  const slot = certifiedSlot(outcome.result)
  return typeof slot === 'number' ? 'alpenglow' : (slot ?? null)
}

async function callRpc(url: string, method: string, params: readonly unknown[], options: RpcCallOptions) {
  const outcome = await rpcText(url, method, params, options)
  if ('fault' in outcome) throw new Error(outcome.fault)
  return outcome.result
}

/** Returns the median of the samples, so that a minute in which the cluster stopped does not count. */
function slotMsOf(result: unknown): number {
  const samples = (Array.isArray(result) ? result.slice(0, SAMPLES) : []).flatMap((sample: unknown) => {
    const { numSlots, samplePeriodSecs } = (sample ?? {}) as Record<string, unknown>
    const isUsable = isCount(numSlots, MAX_SAMPLE_SLOTS) && isCount(samplePeriodSecs, MAX_SAMPLE_SECONDS)
    return isUsable ? [(samplePeriodSecs * 1000) / numSlots] : []
  })
  const middle = samples.toSorted((a, b) => a - b)[Math.floor((samples.length - 1) / 2)]
  if (middle === undefined) throw new Error('the RPC node has no performance samples to derive the slot time from')
  return Math.round(middle)
}

function rentOf(result: unknown): { rent: Rent; slot: number } {
  const { context, value } = (result ?? {}) as { context?: { slot?: unknown }; value?: { data?: unknown } | null }
  const text = Array.isArray(value?.data) ? value.data[0] : undefined
  if (!Number.isSafeInteger(context?.slot) || typeof text !== 'string') {
    throw new Error('the RPC node answers something that is not the Rent sysvar')
  }
  return { rent: readRentSysvar(Buffer.from(text, 'base64')), slot: context?.slot as number }
}
