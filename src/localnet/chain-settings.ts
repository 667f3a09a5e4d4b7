/** Slot time and rent of a chain: those of its program cache, which were read from a cluster, or its own. */
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
import type { SlotClock } from './clock.ts'
import type { ChainJournal } from './journal.ts'

export interface CachedSettings {
  /** Undefined when the cache has no settings, or none that can be read. */
  settings: ClusterSettings | undefined
  /** One sentence with the file's name when it cannot be used. */
  faults: string[]
}

/** Reads the settings in the program cache; an unusable file only causes a warning. */
export function readCachedSettings(programsDir: string): CachedSettings {
  const path = join(programsDir, SETTINGS_FILE)
  try {
    return { settings: readSettingsJson(JSON.parse(readFileSync(path, 'utf8'))), faults: [] }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code)))
      return { settings: undefined, faults: [] }
    return { settings: undefined, faults: [`${path} was left out: ${(error as Error).message}`] }
  }
}

const RENT = 'rent'

/** The rent in the journal's form. */
export const rentText = (settings: ClusterSettings): string => JSON.stringify(settingsJson(settings).rent)

/**
 * Applies the given settings to a chain from the next slot on, and returns its settings. Without any given, a chain
 * that is older than these settings keeps its slot time and rent.
 */
export function applySettings(
  journal: ChainJournal,
  clock: SlotClock,
  wanted: ClusterSettings | undefined,
): ClusterSettings {
  const own: ClusterSettings = { slotMs: clock.slotMs, rent: rentIn(journal) }
  if (wanted === undefined || (wanted.slotMs === own.slotMs && rentText(wanted) === rentText(own))) return own
  clock.setSlotMs(wanted.slotMs)
  journal.commit(() => {
    journal.saveSetting('clock', JSON.stringify(clock.state()))
    journal.saveSetting(RENT, rentText(wanted))
  })
  return wanted
}

function rentIn(journal: ChainJournal): Rent {
  const text = journal.setting(RENT)
  return text === null ? DEFAULT_SETTINGS.rent : readSettingsJson({ rent: JSON.parse(text.toString()) }).rent
}
