/**
 * Reads and writes profiles: settings by profile name, in the XDG configuration folder. lowdb is loaded only if a file
 * exists or is written.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Low } from 'lowdb'
import { FileFault, makeFolders, readOwnIfThere, writeAtomically } from '../../src/platform/files.ts'
import { ConfigError, isSetting, xdg } from '../../src/settings/config.ts'
import { terminal } from './terminal.ts'

interface Profiles {
  current: string
  profiles: Record<string, Record<string, unknown>>
}

export const DEFAULT_PROFILE = 'default'
export const profilesFile = () => join(xdg(terminal().env, 'XDG_CONFIG_HOME', '.config'), 'svc', 'profiles.json')

/** Reads every profile; writes nothing. */
export async function readProfiles(): Promise<Profiles> {
  return existsSync(profilesFile()) ? (await openProfiles()).data : empty()
}

/** The profile in use: the one named by a flag or `SVC_PROFILE`, otherwise the current one. */
export async function readProfile(
  named: string | undefined,
): Promise<{ name: string; settings: Record<string, unknown> }> {
  const { current, profiles } = await readProfiles()
  const name = named ?? current
  const settings = profileIn(profiles, name)
  if (settings === undefined && named !== undefined && named !== DEFAULT_PROFILE) {
    const existing = Object.keys(profiles).join(', ') || 'none yet'
    throw new ConfigError(
      `there is no profile ${name} (there are: ${existing}); \`svc config set … --profile ${name}\` makes it`,
    )
  }
  return { name, settings: settings ?? {} }
}

/**
 * The settings of a profile; undefined if there is none. Only own properties count, so `constructor` is not a profile.
 */
export const profileIn = (profiles: Profiles['profiles'], name: string) =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined

/** Applies `change` to the profiles, writes the file and returns its path. */
export async function changeProfiles(change: (profiles: Profiles) => void): Promise<string> {
  const file = profilesFile()
  makeFolders(dirname(file))
  const low = await openProfiles()
  change(low.data)
  await low.write()
  return file
}

const empty = (): Profiles => ({ current: DEFAULT_PROFILE, profiles: {} })

/** The content of the file. Only this user may have written it, because it chooses the API and the key. */
function ownText(file: string): string | null {
  try {
    return readOwnIfThere(file, { folder: 'own' })
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    throw new ConfigError(error.problem, error.next)
  }
}

async function openProfiles(): Promise<Low<Profiles>> {
  const file = profilesFile()
  const { Low } = await import('lowdb')
  const text = ownText(file)
  try {
    const low = new Low<Profiles>(
      {
        read: async () => (text === null ? null : JSON.parse(text)),
        write: async (profiles) => void writeAtomically(file, JSON.stringify(profiles, null, 2)),
      },
      empty(),
    )
    await low.read()
    const { current, profiles } = low.data
    if (typeof current !== 'string' || typeof profiles !== 'object' || profiles === null)
      throw new Error('it has another shape')
    for (const [profile, settings] of Object.entries(profiles)) {
      const unknown = Object.keys(settings ?? {}).find((name) => !isSetting(name))
      if (unknown !== undefined) throw new Error(`profile ${profile} has an unknown setting ${unknown}`)
    }
    return low
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}; correct it or remove it`)
  }
}
