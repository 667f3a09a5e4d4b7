/** Loads the program cache into the runtime: `<program id>.so` files and the cloned accounts that programs require. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ChainAccount } from '../solana/accounts.ts'
import { addressBytes } from '../solana/addresses.ts'
import { PROGRAMS } from '../solana/programs.ts'
import genesisAccounts from './genesis-accounts.json' with { type: 'json' }
import type { Runtime } from './runtime.ts'
import type { LocalnetStatus } from './types.ts'

const ELF_MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46])

export interface LoadedPrograms {
  programs: LocalnetStatus['programs']
  /** One sentence with the file's name for each file that could not be loaded. */
  warnings: string[]
  /** Addresses of the loaded accounts that are not programs. */
  accounts: string[]
}

/** Fills a new runtime; an unusable file only causes a warning. */
export function loadPrograms(runtime: Runtime, programsDir: string): LoadedPrograms {
  const warnings: string[] = []
  const loaded = new Set<string>()
  const accounts = Object.keys(genesisAccounts)
  const attempt = (file: string, load: () => void) => {
    try {
      load()
    } catch (error) {
      warnings.push(`${file} was left out: ${error instanceof Error ? error.message : error}`)
    }
  }

  for (const [address, account] of Object.entries(genesisAccounts)) runtime.set(address, readAccountFile(account))
  for (const file of filesOf(programsDir, '.so')) {
    attempt(file, () => {
      const id = basename(file, '.so')
      addressBytes(id)
      const elf = readFileSync(file)
      if (!elf.subarray(0, 4).equals(ELF_MAGIC)) throw new Error('it is not an ELF file')
      runtime.addProgram(id, elf)
      loaded.add(id)
    })
  }
  for (const file of filesOf(join(programsDir, 'accounts'), '.json')) {
    attempt(file, () => {
      const address = basename(file, '.json')
      addressBytes(address)
      runtime.set(address, readAccountFile(JSON.parse(readFileSync(file, 'utf8'))))
      accounts.push(address)
    })
  }

  const known = Object.values(PROGRAMS).map(({ id, name }) => ({ id, name, loaded: loaded.has(id) }))
  const others = [...loaded].filter((id) => !known.some((program) => program.id === id))
  return { programs: [...known, ...others.map((id) => ({ id, name: id, loaded: true }))], warnings, accounts }
}

function filesOf(folder: string, extension: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith(extension))
    .sort()
    .map((file) => join(folder, file))
}

/**
 * Parses an account from JSON: lamports as a number or digits, data in base64. Throws an Error that names the field.
 */
function readAccountFile(json: unknown): ChainAccount {
  const { lamports, owner, data, executable } = (json ?? {}) as Record<string, unknown>
  if (!/^\d+$/.test(String(lamports))) throw new Error('its "lamports" must be a whole number')
  if (typeof owner !== 'string') throw new Error('its "owner" must be an address')
  addressBytes(owner)
  if (typeof data !== 'string') throw new Error('its "data" must be base64 text')
  return {
    lamports: BigInt(String(lamports)),
    owner,
    data: Buffer.from(data, 'base64'),
    executable: executable === true,
  }
}
