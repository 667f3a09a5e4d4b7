/** Tables of requests: API keys, their rate limits, idempotency keys, and sessions of the console. */
import type { Generated } from 'kysely'

interface ApiKeysTable {
  seq: Generated<number>
  id: string
  name: string
  /** SHA-256 of the key in hex; the key itself is never stored. */
  hash: string
  /** First characters of the key, enough to recognise it in a list. */
  preview: string
  scopes_json: string
  /** Requests per minute; null means unlimited, as for the local operator's key. */
  per_minute: number | null
  per_day: number | null
  status: 'active' | 'revoked'
  created_at: number
  revoked_at: number | null
  /** Null for a key that does not expire. */
  expires_at: number | null
  /** Ranges of addresses from which it may be used, as JSON; null for any. */
  allow_ips_json: string | null
}

/** The text of a key before a rotation; the newest few of each key. */
interface PreviousApiKeysTable {
  /** SHA-256 in hex, as of `api_keys`. */
  hash: string
  api_key_id: string
  /** Until then it is accepted. */
  expires_at: number
  rotated_at: number
}

/** The last use of a key, at most a minute ago when it is in use. */
interface ApiKeyUsesTable {
  api_key_id: string
  used_at: number
  used_from: string
}

/** Admitted requests of a key at one moment; from row to row of a key, `total` grows by the number admitted. */
interface RateHitsTable {
  api_key_id: string
  at: number
  count: number
  /** Cumulative count of the key, including this row; it restarts after a day without requests. */
  total: number
}

interface IdempotencyKeysTable {
  api_key_id: string
  key: string
  /** SHA-256 over method, path and body. */
  request_hash: string
  state: 'running' | 'done'
  /** Process that runs the request; it is considered dead if it has not renewed by `lease_until`. */
  owner: string
  lease_until: number
  /**
   * Id (`sgn_…`) of the signing that the first request with this key started; a retry completes it and starts no other.
   */
  signing_id: string | null
  status: number | null
  /** Sealed response body. */
  response: Buffer | null
  created_at: number
  expires_at: number
}

/** A link to the console until it is used, then a session of it. */
interface ConsoleSessionsTable {
  seq: Generated<number>
  id: string
  /** SHA-256 in hex, of the link's secret before its use and of the cookie's after. */
  secret_hash: string
  role: 'viewer' | 'operator'
  /** The key that signed in, or that made the link. */
  api_key_id: string
  /** When it became a session; null while it is a link. */
  opened_at: number | null
  seen_at: number | null
  /** Address of the browser that used it last. */
  seen_from: string | null
  expires_at: number
  created_at: number
}

export interface RequestTables {
  api_keys: ApiKeysTable
  previous_api_keys: PreviousApiKeysTable
  api_key_uses: ApiKeyUsesTable
  rate_hits: RateHitsTable
  idempotency_keys: IdempotencyKeysTable
  console_sessions: ConsoleSessionsTable
}
