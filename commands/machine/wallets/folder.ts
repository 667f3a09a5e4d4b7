/** Finds the files of named wallets. */
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { profilesFile } from '../../cli/profiles.ts'

const ENDING = '.json'

export const walletsFolder = () => join(dirname(profilesFile()), 'wallets')
export const fileOfWallet = (name: string) => join(walletsFolder(), `${name}${ENDING}`)

/** The names of all wallets in order. */
export function walletNames(): string[] {
  try {
    return readdirSync(walletsFolder())
      .filter((file) => /^[a-z0-9][a-z0-9_-]*\.json$/.test(file))
      .map((file) => file.slice(0, -ENDING.length))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
