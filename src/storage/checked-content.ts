/** Compares the content of assets with the hash in their names before any of it is served. */
import { createHash, type Hash } from 'node:crypto'
import { type ApiError, internal } from '../platform/errors.ts'
import { cidOfDigest, contentTypeOf } from './cid.ts'

export type AssetPiece = Uint8Array<ArrayBuffer>

export interface Asset {
  /** Length in bytes. */
  length: number
  contentType: string
  /** Reads the content piece by piece, with one piece in memory. Fails if the content ends too early. */
  pieces(): AsyncIterable<AssetPiece>
}

/** The stored content of an asset; `damaged` means that its hash differs. */
export type StoredContent = Asset | 'damaged' | null

interface PieceSource {
  /** Returns the length in bytes, or null when there is no such asset. Throws internal_error. */
  lengthOf(cid: string): Promise<number | null>
  pieces(cid: string): AsyncIterable<AssetPiece>
}

/** Reads the content once to compare its hash. An asset of one piece is not read again. */
export async function readChecked(source: PieceSource, cid: string): Promise<StoredContent> {
  if ((await source.lengthOf(cid)) === null) return null
  const sha256 = createHash('sha256')
  let [length, count] = [0, 0]
  let first: AssetPiece = new Uint8Array()
  for await (const piece of source.pieces(cid)) {
    sha256.update(piece)
    length += piece.byteLength
    if (count++ === 0) first = piece
  }
  if (!(await hasContent(cid, sha256))) return 'damaged'
  const contentType = contentTypeOf(first)
  if (count <= 1) return { length, contentType, pieces: () => onePiece(first) }
  return { length, contentType, pieces: () => wholeContent(source.pieces(cid), length, cid) }
}

export const hasContent = async (cid: string, sha256: Hash): Promise<boolean> =>
  (await cidOfDigest(sha256.digest())) === cid

export const damagedAsset = (cid: string): ApiError =>
  internal(`The asset ${cid} is damaged: its bytes have changed; restore it from a backup`)

export async function* onePiece(piece: AssetPiece): AsyncIterable<AssetPiece> {
  yield piece
}

/** Fails if the content ends too early, because clients would cache a short answer forever. */
async function* wholeContent(
  pieces: AsyncIterable<AssetPiece>,
  length: number,
  cid: string,
): AsyncIterable<AssetPiece> {
  let given = 0
  for await (const piece of pieces) {
    given += piece.byteLength
    yield piece
  }
  if (given !== length) throw damagedAsset(cid)
}
