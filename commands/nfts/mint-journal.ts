/** The journal of `svc nfts mint --from`: the seed of every asset's address, and the rows that may have been minted. */
import { randomBytes } from 'node:crypto'
import { type JournalKind, ListJournal } from '../lists/journal.ts'
import { goneEntries, seedOf, withIds } from '../lists/keyed-rows.ts'
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

/** The rows with their keys. */
export function keyRows({ head }: MintJournal, payer: string, rows: readonly NftRow[]): KeyedRow[] {
  const owned = rows.map((row) => ({ ...row, owner: row.owner ?? payer }))
  const keyed = withIds(owned, ({ name, uri, owner }) => [name, uri, owner])
  return keyed.map((row) => ({ ...row, assetSeed: seedOf(head.seed, row.id) }))
}

/** Rows that may have been minted and that the file no longer has; they must be proven unminted before the run goes on. */
export const goneRows = (journal: MintJournal, rows: readonly KeyedRow[]) =>
  goneEntries(journal, rows).map(([id, begun]) => ({ ...begun, assetSeed: seedOf(journal.head.seed, id) }))
