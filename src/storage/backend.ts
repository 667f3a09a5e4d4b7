/** Where pieces of assets are stored: a folder or a bucket. */
import type { AssetPiece, StoredContent } from './checked-content.ts'

export interface Stored {
  /** CIDv1 of the content with raw codec, sha2-256 and base32. */
  cid: string
  /** Public and permanent address of the asset, which is stored on chain. */
  uri: string
}

/** A place that stores assets in pieces. */
export interface PieceStore {
  /** Returns the length in bytes, or null when there is no such asset. Throws internal_error. */
  lengthOf(cid: string): Promise<number | null>
  pieces(cid: string): AsyncIterable<AssetPiece>
  /** Stores the bytes durably, and replaces damaged ones. Throws internal_error. */
  write(cid: string, bytes: Uint8Array): Promise<void>
  /** The identifiers of all assets. */
  list(): AsyncIterable<string>
}

/** A place that stores the bytes of assets. */
export interface AssetBackend extends Pick<PieceStore, 'write' | 'list'> {
  has(cid: string): Promise<boolean>
  /** Returns content after it was compared with its hash. Throws internal_error. */
  read(cid: string): Promise<StoredContent>
}
