/** The journal of `svc nfts mint --from`: the seed of every asset's address, and the rows that may have been minted. */
import { createHmac, randomBytes } from 'node:crypto'
import { type JournalKind, ListJournal } from '../lists/journal.ts'
import type { NftRow } from './rows.ts'

/** The collection, payer and cluster of a list, the same in every run. */
export type MintTerms = {
  collection: string
  payer: string
  /** The cluster's label; null if only the API knows it. */
  cluster: string | null
}

/** A row that may have been minted. */
interface BegunMint {
  name: string
  /** When its transaction was last about to be signed, in Unix milliseconds. */
  at: number
}

export type MintJournal = ListJournal<MintTerms, BegunMint>

const MINT_JOURNAL: JournalKind<MintTerms> = {
  kind: 'svc-nft-mints',
  command: '`svc nfts mint --from`',
  doing: 'minting',
  names: { collection: 'the collection', payer: 'the keypair', cluster: 'the cluster' },
  anew: 'mint the list as a new one',
  loss: 'another --journal mints every row again',
  first: () => ({ seed: randomBytes(32).toString('hex') }),
  isHead: ({ seed }) => /^[0-9a-f]{64}$/.test(String(seed)),
  isEntry: ({ name, at }) => typeof name === 'string' && Number.isSafeInteger(at),
}

export const mintJournal = (file: string, terms: MintTerms): MintJournal => new ListJournal(file, terms, MINT_JOURNAL)

export interface KeyedRow extends NftRow {
  owner: string
  /** Names the row in the journal. */
  id: string
  /** The seed of the asset's key; the same row has the same key in every run. */
  assetSeed: Uint8Array
}

/**
 * The rows with their keys. A key follows from a row's content and the number of equal rows before it, so that rows may
 * be added and reordered between runs.
 */
export function keyRows(journal: MintJournal, payer: string, rows: readonly NftRow[]): KeyedRow[] {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const owner = row.owner ?? payer
    const text = JSON.stringify([row.name, row.uri, owner])
    const before = counts.get(text) ?? 0
    counts.set(text, before + 1)
    const id = `${before}:${text}`
    return { ...row, owner, id, assetSeed: assetSeedOf(journal, id) }
  })
}

/** Rows that may have been minted and that the file no longer has; they must be proven unminted before the run goes on. */
export function goneRows(journal: MintJournal, rows: readonly KeyedRow[]) {
  const listed = new Set(rows.map(({ id }) => id))
  return [...journal.entries]
    .filter(([id]) => !listed.has(id))
    .map(([id, begun]) => ({ ...begun, assetSeed: assetSeedOf(journal, id) }))
}

const assetSeedOf = ({ head: { seed } }: MintJournal, id: string): Uint8Array =>
  createHmac('sha256', Buffer.from(String(seed), 'hex'))
    .update(id)
    .digest()
