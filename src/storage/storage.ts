/** Interface of the storage for token images and metadata, independent of the backend. */
import type { Config } from '../config.ts'
import { openLocalStorage } from './local.ts'

export interface Stored {
  /** CIDv1 of the content with raw codec, sha2-256 and base32. */
  cid: string
  /** Public and permanent address of the asset, which is stored on chain. */
  uri: string
}

export interface Asset {
  bytes: Uint8Array<ArrayBuffer>
  contentType: string
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

/** Creates the storage without opening it. `cluster` is the kind of chain on which the URIs are stored. */
export const openStorage = (config: Config, cluster: string): Storage => openLocalStorage(config, cluster)
