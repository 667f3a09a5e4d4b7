/** Loads the program cache into the runtime: `<program id>.so` files and the cloned accounts that programs require. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readFiledAccount } from '../solana/account-file.ts'
import type { ChainAccount } from '../solana/accounts.ts'
import { addressBytes } from '../solana/addresses.ts'
import { parseJson } from '../solana/json.ts'
import { PROGRAMS } from '../solana/programs.ts'
import genesisAccounts from './genesis-accounts.json' with { type: 'json' }
import type { Runtime } from './runtime.ts'
import type { LocalnetStatus } from './types.ts'

const ELF_MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46])

interface LoadedPrograms {
  /** The known programs and those of the folder, and one sentence with the file's name for each unusable file. */
  report(): Pick<LocalnetStatus, 'programs' | 'warnings'>
  /** The accounts that were added, by their addresses, and the ids of the programs. */
  accounts: ReadonlyMap<string, ChainAccount>
  programs: readonly string[]
}

interface CacheFile {
  path: string
  /** Id of the program; null if the file has an account, or is unusable. */
  program: string | null
  fault: string | null
}

/** Fills a new runtime; an unusable file only causes a warning. */
export function loadPrograms(runtime: Runtime, programsDir: string): LoadedPrograms {
  const accounts = new Map<string, ChainAccount>()
  const read = (path: string, add: () => string | null): CacheFile => {
    try {
      return { path, program: add(), fault: null }
    } catch (error) {
      return { path, program: null, fault: error instanceof Error ? error.message : String(error) }
    }
  }
  const addAccount = (name: string, json: unknown): null => {
    const { address, account: filed } = readFiledAccount(json, name)
    runtime.set(address, filed)
    const account = runtime.get(address)
    if (account !== null) accounts.set(address, account)
    return null
  }

  for (const [address, account] of Object.entries(genesisAccounts)) addAccount(address, account)
  const files = filesOf(programsDir, '.so').map((path) =>
    read(path, () => {
      const id = basename(path, '.so')
      addressBytes(id)
      const elf = readFileSync(path)
      if (!elf.subarray(0, 4).equals(ELF_MAGIC)) throw new Error('it is not an ELF file')
      runtime.addProgram(id, elf)
      return id
    }),
  )
  for (const path of filesOf(join(programsDir, 'accounts'), '.json')) {
    files.push(
      read(path, () => {
        return addAccount(basename(path, '.json'), parseJson(readFileSync(path, 'utf8')))
      }),
    )
  }
  const programs = files.flatMap(({ program }) => program ?? [])
  return { report: () => reportOf(files, runtime.loadAll()), accounts, programs }
}

/** `invalid` has, by program id, why the runtime refused its bytes. */
function reportOf(
  files: readonly CacheFile[],
  invalid: ReadonlyMap<string, string>,
): Pick<LocalnetStatus, 'programs' | 'warnings'> {
  const loaded = new Set<string>()
  const warnings: string[] = []
  for (const { path, program, fault } of files) {
    const reason = fault ?? (program === null ? undefined : invalid.get(program))
    if (reason !== undefined) warnings.push(`${path} was left out: ${reason}`)
    else if (program !== null) loaded.add(program)
  }
  const known = Object.values(PROGRAMS).map(({ id, name }) => ({ id, name, loaded: loaded.has(id) }))
  const others = [...loaded].filter((id) => !known.some((program) => program.id === id))
  return { programs: [...known, ...others.map((id) => ({ id, name: id, loaded: true }))], warnings }
}

function filesOf(folder: string, extension: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith(extension))
    .sort()
    .map((file) => join(folder, file))
}
