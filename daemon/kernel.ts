/** What the request pipeline needs from the process; only types, so that its parts can import it without a circle. */
import type { Services } from '../src/context.ts'
import type { PresentedKey } from '../src/store/requests/api-keys.ts'
import type { LookAtDatabase, UnchangedReads } from '../src/store/sqlite/unchanged-reads.ts'
import type { HttpMetrics } from './metrics/http.ts'
import type { BodyRoom } from './pipeline/body-room.ts'
import type { KeyUses } from './pipeline/key-uses.ts'
import type { RateLimiter } from './pipeline/rate-limit.ts'
import type { AccessLog } from './pipeline/request-record.ts'

export type KnownKey = PresentedKey

/** The text of an answer's data, and of the part of its meta after the request id. */
export interface StoredText {
  data: string
  meta: string
}

export interface Kernel extends Services {
  limiter: RateLimiter
  /** Reads the database version when a request arrives. Cached answers and keys are valid for one version. */
  look: LookAtDatabase
  /** API keys by SHA-256; null for a key that is not stored. */
  keys: UnchangedReads<KnownKey | null>
  /** When and from where each key was last used. */
  uses: KeyUses
  /** Answers that are valid until the database changes, by path and query. */
  answers: UnchangedReads<StoredText>
  bodies: BodyRoom
  metrics: { http: HttpMetrics }
  /** Writes the log line of an answered request; undefined if the log level has no such lines. */
  access: AccessLog | undefined
  /** The RPC of the embedded chain that this daemon serves, once it does. */
  localRpc: (() => string | undefined) | undefined
  /** `host/pid/nonce`; each claim adds its own name to it. */
  owner: string
}

export interface KernelOptions {
  metrics?: { http: HttpMetrics } | undefined
  access?: AccessLog | undefined
  localRpc?: Kernel['localRpc']
}
