/** Converts a row of a pay request to the record of the API. */
import type { PayRequest } from '../../api/pay-requests.ts'
import { isoTime } from '../../platform/timing.ts'
import type { PayRequestRow } from '../../store/resources/pay-requests.ts'
import { fromJson, fromJsonOrNull } from '../api-records.ts'

/** The content of the QR code. The URL is encoded, so that no wallet takes a part of it for its own parameters. */
export const linkOf = (url: string): string => `solana:${encodeURIComponent(url)}`

export const stateAt = ({ state, expires_at }: PayRequestRow, now: number): PayRequest['state'] =>
  state === 'open' && expires_at <= now ? 'expired' : state

export const payRequestRecord = (row: PayRequestRow, now: number): PayRequest => ({
  id: row.id,
  state: stateAt(row, now),
  request: { method: row.method, path: row.path, body: fromJson(row.body_json) },
  account: row.account,
  url: row.url,
  link: linkOf(row.url),
  signature: row.signature,
  tracked_resource: fromJsonOrNull(row.tracked_resource_json),
  builds: row.builds,
  created_by: row.api_key_id,
  external_uid: row.external_uid,
  metadata: fromJsonOrNull(row.metadata_json),
  expires_at: isoTime(row.expires_at),
  created_at: isoTime(row.created_at),
})
