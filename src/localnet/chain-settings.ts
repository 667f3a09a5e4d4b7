/** Slot time, rent and consensus of a chain: those of its program cache, which were read from a cluster, or its own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ClusterSettings,
  DEFAULT_SETTINGS,
  type Rent,
  readSettingsJson,
  SETTINGS_FILE,
  settingsJson,
} from '../solana/cluster-settings.ts'
import { COMMITMENT_DEPTH, type Commitment, type Consensus } from '../solana/constants.ts'
import { GENESIS_SLOT, type SlotClock } from './clock.ts'
import type { ChainJournal } from './journal.ts'

interface CachedSettings {
  /** Undefined when the cache has no settings, or none that can be read. */
  settings: ClusterSettings | undefined
  /** One sentence with the file's name when it cannot be used. */
  faults: string[]
}

/** The chain runs Alpenglow, and Tower was asked for. */
export class ConsensusKeptError extends Error {
  override readonly name = 'ConsensusKeptError'

  constructor(dataDir: string | null, since: number) {
    const where = dataDir === null ? 'in memory' : `in ${dataDir}`
    super(
      `The embedded chain ${where} runs Alpenglow since slot ${since} and cannot go back to Tower: leave consensus out, or begin a new chain with \`svc localnet reset\``,
    )
  }
}

/** Reads the settings in the program cache; an unusable file only causes a warning. */
export function readCachedSettings(programsDir: string, consensus = DEFAULT_SETTINGS.consensus): CachedSettings {
  const path = join(programsDir, SETTINGS_FILE)
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return { settings: readSettingsJson(json, { ...DEFAULT_SETTINGS, consensus }), faults: [] }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code)))
      return { settings: undefined, faults: [] }
    return { settings: undefined, faults: [`${path} was left out: ${(error as Error).message}`] }
  }
}

const RENT = 'rent'
/** Slot of the block from which the chain changed to Alpenglow; chains on Tower have none. */
const ALPENGLOW_SLOT = 'alpenglow-slot'

/** Stores the settings of a new chain. A chain that begins on Alpenglow does so with its first block. */
export function saveFirstSettings(journal: ChainJournal, { rent, consensus }: ClusterSettings): void {
  journal.saveSetting(RENT, rentText(rent))
  if (consensus === 'alpenglow') journal.saveSetting(ALPENGLOW_SLOT, String(GENESIS_SLOT))
}

/**
 * Applies the given settings to a chain from the next slot on, and returns its settings. What is not given stays as it
 * is, and so does Alpenglow: a cluster never goes back to Tower.
 */
export function applySettings(
  journal: ChainJournal,
  clock: SlotClock,
  given: Partial<ClusterSettings>,
): ClusterSettings {
  const own: ClusterSettings = { slotMs: clock.slotMs, rent: rentIn(journal), consensus: consensusIn(journal) }
  const wanted: ClusterSettings = { ...own, ...given }
  if (own.consensus === 'alpenglow') wanted.consensus = 'alpenglow'
  const isMigrating = wanted.consensus !== own.consensus
  if (wanted.slotMs === own.slotMs && rentText(wanted.rent) === rentText(own.rent) && !isMigrating) return own
  clock.setSlotMs(wanted.slotMs)
  journal.commit(() => {
    journal.saveSetting('clock', JSON.stringify(clock.state()))
    journal.saveSetting(RENT, rentText(wanted.rent))
    if (isMigrating) journal.saveSetting(ALPENGLOW_SLOT, String(clock.slot()))
  })
  return wanted
}

/** Slot of the block from which the chain changed to Alpenglow; null on Tower. */
export function alpenglowSlotIn(journal: ChainJournal): number | null {
  const slot = journal.setting(ALPENGLOW_SLOT)
  return slot === null ? null : Number(slot.toString())
}

export const consensusIn = (journal: ChainJournal): Consensus =>
  alpenglowSlotIn(journal) === null ? 'tower' : 'alpenglow'

/** The newest slot that has reached a commitment when the clock is at `slot`. */
export function slotAtCommitment(slot: number, commitment: Commitment, alpenglowSlot: number | null): number {
  const consensus = alpenglowSlot !== null && slot > alpenglowSlot ? 'alpenglow' : 'tower'
  return slot - COMMITMENT_DEPTH[consensus][commitment]
}

const rentText = (rent: Rent): string => JSON.stringify(settingsJson({ ...DEFAULT_SETTINGS, rent }).rent)

function rentIn(journal: ChainJournal): Rent {
  const text = journal.setting(RENT)
  return text === null ? DEFAULT_SETTINGS.rent : readSettingsJson({ rent: JSON.parse(text.toString()) }).rent
}
