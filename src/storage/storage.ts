/** Storage of token images and metadata under the hash of their content: in a folder, the database or a bucket. */

import { isDeepStrictEqual } from 'node:util'
import { Overloaded } from '../platform/errors.ts'
import { type Config, renewSecrets } from '../settings/config.ts'
import type { AssetBackend, PieceStore, Stored } from './backend.ts'
import { type Asset, damagedAsset, readChecked } from './checked-content.ts'
import { cidOf, contentTypeOf, isCid } from './cid.ts'
import { folderStore } from './local.ts'
import { assetUri, checkAssetUri } from './public-base.ts'
import { bucketBackend } from './s3.ts'
import { type BucketPlace, bucketPlace } from './s3-settings.ts'

/** The values of the setting `storage`. */
type StoragePlace = Config['values']['storage']

export interface Storage {
  /** Checks the settings without writing. Throws internal_error naming the setting that prevents storing. */
  check(): Promise<void>
  /** Returns the result that `put` would have, without storing anything. */
  locate(bytes: Uint8Array): Promise<Stored>
  /** Stores the bytes durably; equal bytes are the same asset. Throws internal_error. */
  put(bytes: Uint8Array, contentType: string): Promise<Stored>
  /** Returns the asset with this identifier, or null. Throws internal_error when it is damaged or cannot be read. */
  get(cid: string): Promise<Asset | null>
  /** Whether an asset with this identifier exists; its content is not checked. */
  has(cid: string): Promise<boolean>
}

export interface StorageOptions {
  /** Kind of chain on which the URIs are stored. */
  cluster: string
  database: PieceStore
  /** Aborted when the process ends, which also ends requests to the bucket. */
  ending?: AbortSignal
}

/**
 * Creates the storage without opening it. After a change of the setting `storage`, earlier assets are still found in
 * the other places. Throws ConfigError if the settings of the bucket do not fit.
 */
export function openStorage(config: Config, { cluster, database, ending }: StorageOptions): Storage {
  const [own, ...others] = assetBackends(config, database, ending)
  const backends = [own, ...others].map(({ backend }) => backend)
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
      // An upload continues even if many readers wait: if it cannot check for the asset, it writes it again.
      const present = await own.backend.read(cid).catch((error: unknown) => {
        if (error instanceof Overloaded) return null
        throw error
      })
      if (present === null || present === 'damaged') await own.backend.write(cid, bytes)
      return { cid, uri }
    },

    async has(cid) {
      if (!isCid(cid)) return false
      for (const backend of backends) if (await backend.has(cid).catch(() => false)) return true
      return false
    },

    async get(cid) {
      if (!isCid(cid)) return null
      let fault: unknown
      for (const backend of backends) {
        // If one place cannot be read, assets from other places are still served.
        const found = await backend.read(cid).catch((error: unknown) => {
          fault ??= error
          return null
        })
        if (found === 'damaged') fault ??= damagedAsset(cid)
        else if (found !== null) return found
      }
      if (fault !== undefined) throw fault
      return null
    },
  }
}

interface PlacedBackend {
  place: StoragePlace
  backend: AssetBackend
}

/** The places in the settings: first the one of `storage`, then the others, which are only read. */
export function assetBackends(
  config: Config,
  database: PieceStore,
  ending?: AbortSignal,
): [own: PlacedBackend, ...others: PlacedBackend[]] {
  const bucket = bucketPlace(config)
  const placed = (place: StoragePlace, store: PieceStore) => ({ place, backend: inPieces(store) })
  const all: PlacedBackend[] = [
    placed('local', folderStore(config.dataDir)),
    placed('database', database),
    ...(bucket === null
      ? []
      : [{ place: 's3' as const, backend: bucketBackend(bucket, ending, () => renewCredentials(config, bucket)) }]),
  ]
  const own = all.find(({ place }) => place === config.values.storage)
  if (own === undefined) throw new Error(`there is no storage ${config.values.storage}`)
  return [own, ...all.filter((other) => other !== own)]
}

/** Reads the secrets of the bucket again; returns whether `bucket` has other credentials now. */
function renewCredentials(config: Config, bucket: BucketPlace): boolean {
  renewSecrets(config, 's3.')
  const credentials = bucketPlace(config)?.credentials
  if (credentials === undefined || isDeepStrictEqual(credentials, bucket.credentials)) return false
  bucket.credentials = credentials
  return true
}

const inPieces = (store: PieceStore): AssetBackend => ({
  has: async (cid) => (await store.lengthOf(cid)) !== null,
  read: (cid) => readChecked(store, cid),
  write: (cid, bytes) => store.write(cid, bytes),
  list: () => store.list(),
})
