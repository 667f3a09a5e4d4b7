/** Storage of token images and metadata under the hash of their content, in a folder or in the database. */
import { createHash } from 'node:crypto'
import type { Config } from '../config.ts'
import { type ApiError, internal } from '../errors.ts'
import { cidOf, cidOfDigest, contentTypeOf, isCid } from './cid.ts'
import { folderBackend } from './local.ts'
import { assetUri, checkAssetUri } from './public-base.ts'

export interface Stored {
  /** CIDv1 of the content with raw codec, sha2-256 and base32. */
  cid: string
  /** Public and permanent address of the asset, which is stored on chain. */
  uri: string
}

type Piece = Uint8Array<ArrayBuffer>

export interface Asset {
  /** Length in bytes. */
  length: number
  contentType: string
  /** Reads the content, of which no more than a piece is held at a time. It fails where the content ends too early. */
  pieces(): AsyncIterable<Piece>
}

/** Where the bytes of assets are kept. */
export interface AssetBackend {
  /** Returns the length in bytes, or null when there is no such asset. Throws internal_error. */
  lengthOf(cid: string): Promise<number | null>
  pieces(cid: string): AsyncIterable<Piece>
  /** Stores the bytes durably, also over damaged ones. Throws internal_error. */
  write(cid: string, bytes: Uint8Array): Promise<void>
}

export interface Storage {
  /** Checks the settings without writing. Throws internal_error naming the setting that prevents storing. */
  check(): Promise<void>
  /** Returns the result that `put` would have, without storing anything. */
  locate(bytes: Uint8Array): Promise<Stored>
  /** Stores the bytes durably; equal bytes are the same asset. Throws internal_error. */
  put(bytes: Uint8Array, contentType: string): Promise<Stored>
  /** Returns the asset with this identifier, or null. Throws internal_error when it is damaged. */
  get(cid: string): Promise<Asset | null>
  /** Whether an asset with this identifier exists; its content is not checked. */
  has(cid: string): Promise<boolean>
}

/**
 * Creates the storage without opening it. `cluster` is the kind of chain on which the URIs are stored. What was stored
 * before the setting `storage` was changed is still found in the other place.
 */
export function openStorage(config: Config, cluster: string, database: AssetBackend): Storage {
  const folder = folderBackend(config.dataDir)
  const isDatabase = config.values.storage === 'database'
  const own = isDatabase ? database : folder
  const backends = isDatabase ? [database, folder] : [folder, database]

  const uriOf = (cid: string) => assetUri(config, cluster, cid)

  return {
    check: () => checkAssetUri(config, cluster),

    async locate(bytes) {
      const cid = await cidOf(bytes)
      return { cid, uri: await uriOf(cid) }
    },

    async put(bytes, contentType) {
      if (contentTypeOf(bytes) !== contentType) throw new Error(`the content of an asset is not ${contentType}`)
      const cid = await cidOf(bytes)
      const uri = await uriOf(cid)
      const isStored = (await own.lengthOf(cid)) !== null && (await readChecked(own, cid)) !== null
      if (!isStored) await own.write(cid, bytes)
      return { cid, uri }
    },

    async has(cid) {
      if (!isCid(cid)) return false
      for (const backend of backends) if ((await backend.lengthOf(cid).catch(() => null)) !== null) return true
      return false
    },

    async get(cid) {
      if (!isCid(cid)) return null
      let isDamaged = false
      for (const backend of backends) {
        if ((await backend.lengthOf(cid)) === null) continue
        const asset = await readChecked(backend, cid)
        if (asset !== null) return asset
        isDamaged = true
      }
      if (isDamaged) throw damagedAsset(cid)
      return null
    },
  }
}

const damagedAsset = (cid: string): ApiError =>
  internal(`The asset ${cid} is damaged: its bytes are not what they were; restore it from a backup`)

/**
 * Reads the content once to compare its hash, before any of it is given out; null when it is damaged. An asset of one
 * piece is not read again.
 */
async function readChecked(backend: AssetBackend, cid: string): Promise<Asset | null> {
  const sha256 = createHash('sha256')
  let [length, count] = [0, 0]
  let first: Piece = new Uint8Array()
  for await (const piece of backend.pieces(cid)) {
    sha256.update(piece)
    length += piece.byteLength
    if (count++ === 0) first = piece
  }
  if ((await cidOfDigest(sha256.digest())) !== cid) return null
  const contentType = contentTypeOf(first)
  if (count <= 1) return { length, contentType, pieces: () => onePiece(first) }
  return { length, contentType, pieces: () => wholeContent(backend.pieces(cid), length, cid) }
}

async function* onePiece(piece: Piece): AsyncIterable<Piece> {
  yield piece
}

/** Fails where the content ends too early, because a short answer would be kept by its reader for good. */
async function* wholeContent(pieces: AsyncIterable<Piece>, length: number, cid: string): AsyncIterable<Piece> {
  let given = 0
  for await (const piece of pieces) {
    given += piece.byteLength
    yield piece
  }
  if (given !== length) throw damagedAsset(cid)
}
