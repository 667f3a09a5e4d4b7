/** What the request pipeline needs from the process; types alone, so that its parts can name it without a circle. */
import type { Services } from '../src/context.ts'
import type { Row } from '../src/store/schema.ts'
import type { LookAtDatabase, UnchangedReads } from '../src/store/sqlite/unchanged-reads.ts'
import type { HttpMetrics } from './metrics/http.ts'
import type { BodyRoom } from './pipeline/body-room.ts'
import type { RateLimiter } from './pipeline/rate-limit.ts'
import type { AccessLog } from './pipeline/request-record.ts'

export type KnownKey = Row<'api_keys'>

/** The text of an answer's data, and of what its meta has after the request id. */
export interface StoredText {
  data: string
  meta: string
}

export interface Kernel extends Services {
  limiter: RateLimiter
  /** Looks at the version of the database, once for each request, when it comes. */
  look: LookAtDatabase
  /** API keys by SHA-256; null for a key that is not stored. */
  keys: UnchangedReads<KnownKey | null>
  /** Answers that hold until the database changes, by path and query. */
  answers: UnchangedReads<StoredText>
  bodies: BodyRoom
  metrics: { http: HttpMetrics }
  /** Writes the line of an answered request; undefined where none is written. */
  access: AccessLog | undefined
  /** `host/pid/nonce`, to which each claim adds its own name. */
  owner: string
}

export interface KernelOptions {
  metrics?: { http: HttpMetrics } | undefined
  access?: AccessLog | undefined
}
