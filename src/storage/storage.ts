/** Where token images and metadata are kept, whatever keeps them. */
import type { Config } from '../config.ts'
import { openLocalStorage } from './local.ts'

export interface Stored {
  /** CIDv1, raw, sha2-256, base32. */
  cid: string
  /** Where anyone can read it, for good: it goes on chain. */
  uri: string
}

export interface Asset {
  bytes: Uint8Array<ArrayBuffer>
  contentType: string
}

export interface Storage {
  /** Throws internal_error where nothing can be stored as things are set, naming the setting; writes nothing. */
  check(): Promise<void>
  /** What `put` would answer; keeps nothing. */
  locate(bytes: Uint8Array): Promise<Stored>
  /** Keeps the bytes durably; the same bytes are one asset. Throws internal_error. */
  put(bytes: Uint8Array, contentType: string): Promise<Stored>
  /** What this process serves under that identifier, null without it. Throws internal_error where it is damaged. */
  get(cid: string): Promise<Asset | null>
  /** Whether there is something under that identifier; does not look at it. */
  has(cid: string): Promise<boolean>
}

/** Opens nothing yet. `cluster` is the kind of chain that the URIs go on. */
export const openStorage = (config: Config, cluster: string): Storage => openLocalStorage(config, cluster)
