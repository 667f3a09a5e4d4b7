/** The journal of `svc nfts mint --from`: the seed from which every asset's address is derived, on disk before anything is sent. */
import { createHmac, randomBytes } from 'node:crypto'
import { RunJournal } from '../signing/journal.ts'
import { journalNotKept, refuseOtherTerms } from '../signing/journal-lock.ts'
import { usage } from '../ui/problem.ts'
import type { NftRow } from './rows.ts'

/** The name, URI and owner of a row. */
type RowTexts = readonly [name: string, uri: string, owner: string]

/** The collection, payer and cluster of a list, the same in every run. */
export interface MintTerms {
  collection: string
  payer: string
  /** The cluster's label; null where only the API knows it. */
  cluster: string | null
}

interface MintRecord extends MintTerms {
  version: 1
  /** The 32 bytes of the seed in hex. */
  seed: string
  /** The rows that may have been minted. */
  rows: RowTexts[]
}

export interface KeyedRow extends NftRow {
  owner: string
  /** The seed of the asset's key; the same row has the same key in every run. */
  assetSeed: Uint8Array
}

export interface KeyedRows {
  rows: KeyedRow[]
  /**
   * Rows that an earlier run may have minted and that the file no longer has; they must be proven unminted before the
   * run continues.
   */
  gone: Pick<KeyedRow, 'name' | 'assetSeed'>[]
  /** When the last row was about to be sent, or the journal was written, in Unix milliseconds; 0 without a journal. */
  sentAt: number
}

export type MintJournal = RunJournal<MintRecord>

export const mintJournal = (file: string): MintJournal =>
  new RunJournal<MintRecord>(file, {
    parse: mintRecordOf,
    refuseContent() {
      throw usage(`${file} is no journal of \`svc nfts mint --from\``, {
        param: '--journal',
        next: 'restore it: without it nothing tells what was minted, and another --journal mints every row anew',
      })
    },
    refuseFile(_, error) {
      throw journalNotKept(file, error)
    },
  })

/**
 * The rows with their keys, derived from a row's content and the number of equal rows before it, so that rows may be
 * added and reordered between runs. With `write` the journal is on disk afterwards, which sending requires. Throws a
 * usage problem for a journal of another run.
 */
export function keyRows(
  journal: MintJournal,
  terms: MintTerms,
  rows: readonly NftRow[],
  { write }: { write: boolean },
): KeyedRows {
  const owned = rows.map((row) => ({ ...row, owner: row.owner ?? terms.payer }))
  const texts = owned.map(({ name, uri, owner }): RowTexts => [name, uri, owner])
  const first: MintRecord = { version: 1, ...terms, seed: randomBytes(32).toString('hex'), rows: texts }
  const record = write ? journal.begin(first) : (journal.read() ?? first)
  refuseOtherRun(journal.file, record, terms)
  const keyed = keysOf(record.seed, owned, ({ name, uri, owner }) => [name, uri, owner])
  const earlier = keysOf(record.seed, record.rows, (row) => row)
  const [current, listed] = [new Set(keyed.map(({ id }) => id)), new Set(earlier.map(({ id }) => id))]
  const gone = earlier.filter(({ id }) => !current.has(id))
  // Rows that may have been minted are never removed from the journal.
  const more = keyed.filter(({ id }) => !listed.has(id)).map(({ texts }) => texts)
  if (write && more.length > 0) journal.write({ ...record, rows: [...record.rows, ...more] })
  return {
    rows: keyed.map(({ row, assetSeed }) => ({ ...row, assetSeed })),
    gone: gone.map(({ texts: [name], assetSeed }) => ({ name, assetSeed })),
    sentAt: journal.touchedAt(),
  }
}

/** Each row with a unique id, and the asset seed that is derived from it. */
function keysOf<R>(seed: string, rows: readonly R[], textsOf: (row: R) => RowTexts) {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const texts = textsOf(row)
    const text = JSON.stringify(texts)
    const before = counts.get(text) ?? 0
    counts.set(text, before + 1)
    const id = `${before}:${text}`
    const assetSeed: Uint8Array = createHmac('sha256', Buffer.from(seed, 'hex')).update(id).digest()
    return { row, texts, id, assetSeed }
  })
}

function mintRecordOf(value: unknown): MintRecord | null {
  const record = value as Partial<MintRecord> | null
  const isRecord =
    record?.version === 1 &&
    [record.collection, record.payer].every((text) => typeof text === 'string') &&
    /^[0-9a-f]{64}$/.test(record.seed ?? '') &&
    Array.isArray(record.rows) &&
    record.rows.every((row) => Array.isArray(row) && row.length === 3 && row.every((text) => typeof text === 'string'))
  return isRecord ? (value as MintRecord) : null
}

function refuseOtherRun(file: string, record: MintRecord, { collection, payer, cluster }: MintTerms): void {
  refuseOtherTerms(file, {
    begun: { collection: record.collection, payer: record.payer, cluster: record.cluster },
    terms: { collection, payer, cluster },
    names: { collection: 'the collection', payer: 'the keypair', cluster: 'the cluster' },
    anew: 'mint the list as a new one',
  })
}
