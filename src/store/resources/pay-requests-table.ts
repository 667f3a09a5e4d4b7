/** Table of pay requests. */
import type { Recorded } from '../queries/recorded.ts'

interface PayRequestsTable extends Recorded {
  id: string
  api_key_id: string
  /** Method, path and body of the route that builds; the body is without the wallet. */
  method: 'POST' | 'PUT' | 'DELETE'
  path: string
  body_json: string
  /** The only wallet that may pay; null if any may. */
  account: string | null
  url: string
  /** Address that every transaction of the request names, so that it is found on chain. */
  reference: string
  genesis: string
  state: 'open' | 'paid' | 'revoked'
  signature: string | null
  tracked_resource_json: string | null
  /** Transactions that were built, in all. */
  builds: number
  /** Those that may still land, as JSON. */
  recent_builds_json: string
  /** The wallet that fetched a transaction last; until `held_until` no other gets one. */
  held_by: string | null
  held_until: number
  /** Newest transaction with the reference that was looked at. */
  seen_signature: string | null
  /** Time of the next look for a landed transaction; null while none can land. */
  next_look_at: number | null
  expires_at: number
}

export interface PayRequestTables {
  pay_requests: PayRequestsTable
}
