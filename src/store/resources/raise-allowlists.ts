/** Storage of the allowlists of raises, and of the pieces from which their proofs are read. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type AllowlistRow = Row<'raise_allowlists'>

interface Piece {
  n: number
  /** Wallet and registry of its first entry, in hex. */
  first: string
  entries: Uint8Array
  path: Uint8Array
}

const PIECES_PER_INSERT = 32

/** Returns all versions of the allowlist of a raise, the newest first; the program limits how many are useful. */
export const allowlistsOf = (reader: Reader, raiseId: string): Promise<AllowlistRow[]> =>
  reader.selectFrom('raise_allowlists').selectAll().where('raise_id', '=', raiseId).orderBy('version', 'desc').execute()

/** Stores a list with its pieces. A version that another request has stored makes `write` fail with `Overtaken`. */
export async function insertAllowlist(
  tx: Tx,
  row: NewRow<'raise_allowlists'>,
  pieces: readonly Piece[],
): Promise<void> {
  await tx.insertInto('raise_allowlists').values(row).execute()
  const { raise_id, version } = row
  for (let from = 0; from < pieces.length; from += PIECES_PER_INSERT) {
    const rows = pieces.slice(from, from + PIECES_PER_INSERT).map(({ n, first, entries, path }) => ({
      ...{ raise_id, version, n, first_key: first },
      ...{ entries: bufferOf(entries), path: bufferOf(path) },
    }))
    await tx.insertInto('raise_allowlist_pieces').values(rows).execute()
    // Synchronous SQLite blocks requests while it works, so this yields to them.
    await nextTurn()
  }
}

export async function deleteAllowlist(tx: Tx, { raise_id, version }: AllowlistRow): Promise<void> {
  for (const table of ['raise_allowlist_pieces', 'raise_allowlists'] as const)
    await tx.deleteFrom(table).where('raise_id', '=', raise_id).where('version', '=', version).execute()
}

const piecesOf = (reader: Reader, { raise_id, version }: AllowlistRow) =>
  reader.selectFrom('raise_allowlist_pieces').where('raise_id', '=', raise_id).where('version', '=', version)

/** Returns the only piece that can have an entry of this key; null if every piece begins after it. */
export async function findPiece(reader: Reader, list: AllowlistRow, key: string) {
  const before = piecesOf(reader, list).where('first_key', '<=', key).orderBy('first_key', 'desc')
  return (await before.select(['entries', 'path']).limit(1).executeTakeFirst()) ?? null
}

/** Returns the packed entries of a list, at most 2 MB. */
export async function readEntries(reader: Reader, list: AllowlistRow): Promise<Buffer> {
  const rows = await piecesOf(reader, list).select('entries').orderBy('n').execute()
  return Buffer.concat(rows.map(({ entries }) => entries))
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
