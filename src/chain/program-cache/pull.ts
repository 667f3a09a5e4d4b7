/**
 * Fills the program cache: each program and its accounts are verified, written whole, then recorded in the manifest.
 */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { ConfigError } from '../../settings/config.ts'
import { PROGRAMS, type Program } from '../../solana/programs.ts'
import {
  accountFile,
  MANIFEST_FILE,
  type Manifest,
  type ManifestEntry,
  programFile,
  readIfThere,
  readManifest,
  writeWhole,
} from './cache.ts'
import { buildHash, checkElf } from './elf.ts'
import type { ProgramSource } from './source.ts'
import { keepVersion, readPins, writePins } from './versions.ts'

interface PullOptions {
  folder: string
  source: ProgramSource
  /** Programs by key or id, or all of them when left out. */
  programs?: readonly string[] | undefined
  /** Returns Unix milliseconds. */
  now: () => number
  onProgress?: (done: number, total: number) => void
}

export interface Pulled {
  kind: 'program' | 'account'
  /** Name of the program, also in the rows of its accounts. */
  name: string
  address: string
  /**
   * The result: `missing` when the source does not have the file, and `pinned` when another build is pinned here, which
   * stays while the new one is kept beside it.
   */
  status: 'written' | 'unchanged' | 'pinned' | 'missing' | 'failed'
  sha256: string | null
  size: number | null
  error: string | null
}

/**
 * Pulls one program after another; the failure of one does not stop the others. Throws ConfigError for an unknown
 * program.
 */
export async function pullPrograms({ folder, source, programs, now, onProgress }: PullOptions): Promise<Pulled[]> {
  const selected = programs === undefined ? Object.values(PROGRAMS) : programs.map(findProgram)
  const manifest: Manifest = readManifest(folder) ?? { version: 1, programs: {}, accounts: {} }
  const items = selected.flatMap((program: Program) => [
    { kind: 'program' as const, program, address: program.id },
    ...program.accounts.map((address) => ({ kind: 'account' as const, program, address })),
  ])
  const pins = readPins(folder)
  const pulled: Pulled[] = []
  onProgress?.(0, items.length)
  for (const { kind, program, address } of items) {
    const row = { kind, name: program.name, address, sha256: null, size: null, error: null }
    try {
      const content = await (kind === 'program' ? programContent(source, address) : accountContent(source, address))
      pulled.push(
        content === null ? { ...row, status: 'missing' } : { ...row, ...storeContent(content, kind, program, address) },
      )
    } catch (error) {
      pulled.push({ ...row, status: 'failed', error: (error as Error).message })
    }
    onProgress?.(pulled.length, items.length)
  }
  return pulled

  /** The manifest changes after the file, so the next pull after a crash between the two records it again. */
  function storeContent({ bytes, slot, loader }: Content, kind: Pulled['kind'], { name }: Program, address: string) {
    const file = join(folder, kind === 'program' ? programFile(address) : accountFile(address))
    const sha256 = hash('sha256', bytes, 'hex')
    const entry: ManifestEntry = {
      sha256,
      size: bytes.length,
      source: source.label,
      slot,
      fetched_at: new Date(now()).toISOString(),
    }
    const recorded = manifest[kind === 'program' ? 'programs' : 'accounts'][address]
    const stored = readIfThere(file)
    const unchanged = stored !== null && hash('sha256', stored, 'hex') === sha256
    if (kind === 'program' && stored !== null && !unchanged) {
      // The earlier build stays beside the new one, whichever of them the cache uses.
      const isPinned = pins[address] !== undefined && pins[address] !== buildHash(bytes)
      keepVersion(folder, address, isPinned ? bytes : stored)
      if (isPinned) return { status: 'pinned' as const, sha256, size: bytes.length }
    }
    if (!unchanged) writeWhole(file, bytes)
    if (!unchanged || recorded?.sha256 !== sha256) {
      if (kind === 'program') manifest.programs[address] = { name, loader, ...entry }
      else manifest.accounts[address] = entry
      writeWhole(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`)
    }
    return { status: unchanged ? ('unchanged' as const) : ('written' as const), sha256, size: bytes.length }
  }
}

interface Content {
  bytes: Uint8Array
  slot: number | null
  loader: string | null
}

async function programContent(source: ProgramSource, id: string): Promise<Content | null> {
  const content = await source.program(id)
  if (content !== null) checkElf(content.bytes)
  return content
}

async function accountContent(source: ProgramSource, address: string): Promise<Content | null> {
  const account = await source.account(address)
  if (account === null) return null
  return { bytes: Buffer.from(`${JSON.stringify(account.file, undefined, 2)}\n`), slot: account.slot, loader: null }
}

/** Reduces names for comparison: `damm-v2`, `damm_v2` and `dammV2` are one key. */
const comparableName = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')

function findProgram(name: string): Program {
  const entry = Object.entries(PROGRAMS).find(
    ([key, { id }]) => id === name || comparableName(key) === comparableName(name),
  )
  if (entry !== undefined) return entry[1]
  const known = ['dbc', 'damm-v2', 'token-metadata', 'core', 'lock', 'distributor', 'squads'].join(', ')
  throw new ConfigError(`there is no program "${name}"; there are ${known}, and their program ids`)
}

/** A build that the cache has, and whether it is pinned. */
interface CachedBuild {
  id: string
  name: string
  sha256: string
  pinned: boolean
}

/** Pins the cached builds of programs, or removes their pins. Throws ConfigError for a program that is not cached. */
export function pinBuilds(
  folder: string,
  { programs, remove }: { programs?: readonly string[] | undefined; remove: boolean },
): CachedBuild[] {
  const selected = (programs ?? []).length === 0 ? undefined : programs?.map(findProgram)
  const cached = (selected ?? Object.values(PROGRAMS)).flatMap(({ id, name }: Program) => {
    const bytes = readIfThere(join(folder, programFile(id)))
    if (bytes !== null) return [{ id, name, sha256: buildHash(bytes), pinned: !remove }]
    if (selected === undefined) return []
    throw new ConfigError(`${name} is not in the program cache ${folder}: fill it with \`svc localnet pull\``)
  })
  writePins(folder, Object.fromEntries(cached.map(({ id, sha256 }) => [id, remove ? null : sha256])))
  return cached
}
