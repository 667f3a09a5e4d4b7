/** What building a transaction costs, warm and with a node that answers from memory, against the SDK's own call. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Measurement } from './merkle.ts'

const BUNDLE = join(import.meta.dirname, 'builds', 'bundle.mjs')

/** A minute, as it ships: in chunks of CommonJS. Needs the programs in the cache (`svc localnet pull`). */
export async function builds(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-builds-'))
  try {
    execFileSync(process.execPath, [BUNDLE, folder], { stdio: ['ignore', 'inherit', 'pipe'] })
    const printed = execFileSync(process.execPath, [join(folder, 'process.js')], { encoding: 'utf8' })
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Measurement[]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
