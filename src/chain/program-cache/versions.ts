/** Keeps builds of programs beside those of the program cache, by their hash, and reads which ones are pinned. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAMS } from '../../solana/programs.ts'
import { TESTED_BUILDS } from '../../solana/tested-builds.ts'
import { programFile, readIfThere, writeWhole } from './cache.ts'
import { buildHash } from './elf.ts'

/** Builds that are kept of one program; the oldest one goes first. */
const MOST_VERSIONS = 6

const versionsOf = (folder: string, id: string) => join(folder, 'versions', id)

/** The file of a build, which may not exist. */
export const versionFile = (folder: string, id: string, sha256: string) => join(versionsOf(folder, id), `${sha256}.so`)

/** Keeps a build, and returns its hash. The file of the program itself stays as it is. */
export function keepVersion(folder: string, id: string, bytes: Uint8Array): string {
  const sha256 = buildHash(bytes)
  const file = versionFile(folder, id, sha256)
  if (existsSync(file)) return sha256
  writeWhole(file, bytes)
  const kept = readdirSync(versionsOf(folder, id))
    .filter((name) => /^[0-9a-f]{64}\.so$/.test(name))
    .map((name) => join(versionsOf(folder, id), name))
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
  for (const oldest of kept.slice(0, -MOST_VERSIONS)) if (oldest !== file) rmSync(oldest, { force: true })
  return sha256
}

/** Returns a file with exactly this build: a kept one, or that of the cache; null if there is none. */
export function fileOfBuild(folder: string, id: string, sha256: string): string | null {
  const files = [versionFile(folder, id, sha256), join(folder, programFile(id))]
  return files.find((file) => buildIn(file) === sha256) ?? null
}

function buildIn(file: string): string | null {
  const bytes = readIfThere(file)
  return bytes && buildHash(bytes)
}

/** Whether svc was tested with this build. */
export const isTestedBuild = (id: string, sha256: string): boolean => TESTED_BUILDS[id]?.includes(sha256) ?? false

const pinsFile = (folder: string) => join(folder, 'pins.json')

/** The pinned builds by program id. A file that cannot be read pins nothing. */
export function readPins(folder: string): Readonly<Record<string, string>> {
  try {
    const pins = JSON.parse(readFileSync(pinsFile(folder), 'utf8')) as Record<string, unknown>
    const known = Object.values(PROGRAMS).map(({ id }) => id)
    return Object.fromEntries(known.flatMap((id) => (typeof pins[id] === 'string' ? [[id, pins[id]]] : [])))
  } catch {
    return {}
  }
}

/** Pins builds by program id, so that a pull leaves their files as they are; null removes a pin. */
export function writePins(folder: string, changes: Readonly<Record<string, string | null>>): void {
  const pins = Object.entries({ ...readPins(folder), ...changes }).filter(([, sha256]) => sha256 !== null)
  writeWhole(pinsFile(folder), `${JSON.stringify(Object.fromEntries(pins), undefined, 2)}\n`)
}
