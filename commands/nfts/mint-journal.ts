/** The journal of `svc nfts mint --from`: the seed that every asset's address comes from, on the disk before anything is sent. */
import { createHmac, randomBytes } from 'node:crypto'
import { RunJournal } from '../signing/journal.ts'
import { reason } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { NftRow } from './rows.ts'

/** Name, URI and owner of a row. */
type RowTexts = readonly [name: string, uri: string, owner: string]

/** What one list is minted into and by whom, the same in every run. */
export interface MintTerms {
  collection: string
  payer: string
  /** Null where only the API knows. */
  cluster: string | null
}

interface MintRecord extends MintTerms {
  version: 1
  /** Hex of 32 bytes. */
  seed: string
  /** Those that may have been minted. */
  rows: RowTexts[]
}

export interface KeyedRow extends NftRow {
  owner: string
  /** Seed of the key that the asset is minted with: the same row has the same key in every run. */
  assetSeed: Uint8Array
}

export interface KeyedRows {
  rows: KeyedRow[]
  /** Rows that an earlier run may have minted, and that the file has no more: whoever goes on must know that it did not. */
  gone: Pick<KeyedRow, 'name' | 'assetSeed'>[]
  /** When the last row was about to be sent, or the journal was written; Unix milliseconds, 0 before there is one. */
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
      throw usage(`the journal ${file} cannot be kept: ${reason(error)}`, {
        param: '--journal',
        next: 'name a place for it with --journal FILE',
      })
    },
  })

/**
 * The rows with their keys. A key comes from what a row says and how many rows before it say the same, so that rows may
 * be added and put in another order between two runs. With `write` the journal is on the disk when this answers: without
 * it no transaction may be sent. Throws a usage problem for a journal of another run.
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
  // What may have been minted stays in the journal for good.
  const more = keyed.filter(({ id }) => !listed.has(id)).map(({ texts }) => texts)
  if (write && more.length > 0) journal.write({ ...record, rows: [...record.rows, ...more] })
  return {
    rows: keyed.map(({ row, assetSeed }) => ({ ...row, assetSeed })),
    gone: gone.map(({ texts: [name], assetSeed }) => ({ name, assetSeed })),
    sentAt: journal.touchedAt(),
  }
}

/** Each row with an id that no other row has, and the asset seed that comes from it. */
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

function refuseOtherRun(file: string, record: MintRecord, terms: MintTerms): void {
  const other = (['collection', 'payer', 'cluster'] as const).find(
    (name) => record[name] !== null && terms[name] !== null && record[name] !== terms[name],
  )
  if (other === undefined) return
  const what = { collection: 'the collection', payer: 'the keypair', cluster: 'the cluster' }[other]
  throw usage(`${file} was begun with ${what} ${record[other]}, not ${terms[other]}`, {
    param: '--journal',
    next: 'go on with that one, or name another --journal to mint the list as a new one',
  })
}
