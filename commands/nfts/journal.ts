/** The journal of `svc nfts mint --from`: what the addresses of all assets come from, written before anything is sent. */

import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, statSync, utimesSync } from 'node:fs'
import { writeAtomically } from '../../src/files.ts'
import { reason } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { NftRow } from './rows.ts'

/** What a row says: name, URI and owner. */
type Said = readonly [string, string, string]

interface Journal {
  version: 1
  collection: string
  payer: string
  /** Null where only the API knows. */
  cluster: string | null
  /** Hex of 32 bytes. */
  seed: string
  /** Those that may have been minted. */
  rows: Said[]
}

export interface Planned extends NftRow {
  owner: string
  /** Seed of the key that the asset is minted with: the same row has the same key in every run. */
  assetSeed: Uint8Array
}

export interface Plan {
  rows: Planned[]
  /** Rows that an earlier run may have minted, and that the file has no more: whoever goes on must know that it did not. */
  gone: Pick<Planned, 'name' | 'assetSeed'>[]
  /** When the last row was about to be sent, or the journal was written; Unix milliseconds, 0 before there is one. */
  sentAt: number
}

type Run = Pick<Journal, 'collection' | 'payer' | 'cluster'>

/**
 * The rows with their keys. A key comes from what a row says and how many rows before it say the same, so that rows may
 * be added and put in another order between two runs. With `keep` the journal is on the disk when this answers: without
 * it no transaction may be sent. Throws a usage problem for a journal of another run.
 */
export function planRows(file: string, run: Run, rows: readonly NftRow[], keep: boolean): Plan {
  const owned = rows.map((row) => ({ ...row, owner: row.owner ?? run.payer }))
  const said = owned.map(({ name, uri, owner }): Said => [name, uri, owner])
  const first: Journal = { version: 1, ...run, seed: randomBytes(32).toString('hex'), rows: said }
  const journal = keep ? begun(file, first) : (read(file) ?? first)
  refuseOther(file, journal, run)
  const keys = keysOf(journal.seed, said)
  const known = new Set(keys.map(({ id }) => id))
  const before = keysOf(journal.seed, journal.rows)
  const gone = before.filter(({ id }) => !known.has(id))
  // What may have been minted is never forgotten.
  const listed = new Set(before.map(({ id }) => id))
  const more = said.filter((_, i) => !listed.has(keys[i]!.id))
  if (keep && more.length > 0) replace(file, { ...journal, rows: [...journal.rows, ...more] })
  return {
    rows: owned.map((row, i) => ({ ...row, assetSeed: keys[i]!.assetSeed })),
    gone: gone.map(({ name, assetSeed }) => ({ name, assetSeed })),
    sentAt: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }
}

/** Notes that a row is about to be sent. */
export function touch(file: string, now: number): void {
  utimesSync(file, now / 1000, now / 1000)
}

function keysOf(seed: string, rows: readonly Said[]): { id: string; name: string; assetSeed: Uint8Array }[] {
  const seen = new Map<string, number>()
  return rows.map((said) => {
    const text = JSON.stringify(said)
    const before = seen.get(text) ?? 0
    seen.set(text, before + 1)
    const id = `${before}:${text}`
    return { id, name: said[0], assetSeed: createHmac('sha256', Buffer.from(seed, 'hex')).update(id).digest() }
  })
}

/** The journal that is there, else this one: of two runs that begin at once, one wins. */
function begun(file: string, first: Journal): Journal {
  const found = read(file)
  if (found !== null) return found
  return write(file, first, true) ? first : read(file)!
}

const replace = (file: string, journal: Journal): boolean => write(file, journal, false)

/** False where `exclusive` and there is one already. */
function write(file: string, journal: Journal, exclusive: boolean): boolean {
  try {
    return writeAtomically(file, `${JSON.stringify(journal, undefined, 2)}\n`, { exclusive, syncFolder: true })
  } catch (error) {
    throw unusable(file, error)
  }
}

function read(file: string): Journal | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw unusable(file, error)
  }
  const journal = parsed(text)
  if (journal === null) {
    throw usage(`${file} is no journal of \`svc nfts mint --from\``, {
      param: '--journal',
      next: 'restore it: without it nothing tells what was minted, and another --journal mints every row anew',
    })
  }
  return journal
}

function parsed(text: string): Journal | null {
  try {
    const journal = JSON.parse(text) as Partial<Journal> | null
    const isJournal =
      journal?.version === 1 &&
      [journal.collection, journal.payer].every((value) => typeof value === 'string') &&
      /^[0-9a-f]{64}$/.test(journal.seed ?? '') &&
      Array.isArray(journal.rows) &&
      journal.rows.every(
        (row) => Array.isArray(row) && row.length === 3 && row.every((text) => typeof text === 'string'),
      )
    return isJournal ? (journal as Journal) : null
  } catch {
    return null
  }
}

function refuseOther(file: string, journal: Journal, run: Run): void {
  const other = (['collection', 'payer', 'cluster'] as const).find(
    (name) => journal[name] !== null && run[name] !== null && journal[name] !== run[name],
  )
  if (other === undefined) return
  const what = { collection: 'the collection', payer: 'the keypair', cluster: 'the cluster' }[other]
  throw usage(`${file} was begun with ${what} ${journal[other]}, not ${run[other]}`, {
    param: '--journal',
    next: 'go on with that one, or name another --journal to mint the list as a new one',
  })
}

const unusable = (file: string, error: unknown) =>
  usage(`the journal ${file} cannot be kept: ${reason(error)}`, {
    param: '--journal',
    next: 'name a place for it with --journal FILE',
  })
