/** Pay requests as the API answers them, and the payments that were built for them. */

import { hash } from 'node:crypto'
import type { PayRequest } from '../../api/pay-requests.ts'
import type { TrackedResource } from '../../api/payloads.ts'
import { isoTime } from '../../platform/timing.ts'
import type { CompiledInstruction, DecodedMessage } from '../../solana/decoded-message.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
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

/** A transaction that a wallet has fetched and that may still land. */
export interface RecentBuild {
  account: string
  /** Its calls in order, each as the beginning of a hash; limits, priority fee and guards are left out. */
  calls: readonly string[]
  tracked_resource: TrackedResource | null
  /** Unix milliseconds. */
  built_at: number
}

/** Characters of a call's hash, 128 bits. */
const CALL_LENGTH = 32

/** Wallets change limits, and may have other guards. */
const UNCOUNTED: ReadonlySet<string | undefined> = new Set([COMPUTE_BUDGET_PROGRAM, PROGRAMS.lighthouse.id])

/** `message.keys` has the accounts of lookup tables behind its own. */
export const callsIn = ({ keys, instructions }: Pick<DecodedMessage, 'keys' | 'instructions'>): string[] =>
  instructions
    .filter(({ programIdIndex }) => !UNCOUNTED.has(keys[programIdIndex]))
    .map((instruction) => callOf(keys, instruction))

function callOf(keys: readonly string[], { programIdIndex, accounts, data }: CompiledInstruction): string {
  const named = [programIdIndex, ...accounts].map((place) => keys[place])
  const text = JSON.stringify([named, Buffer.from(data).toString('base64')])
  return hash('sha256', text, 'hex').slice(0, CALL_LENGTH)
}

/**
 * Returns the newest build whose calls the transaction makes, in their order and for the same fee payer. Wallets set
 * the priority fee and the blockhash, and may add calls that protect their user.
 */
export function paidBuild(
  builds: readonly RecentBuild[],
  message: Pick<DecodedMessage, 'keys' | 'instructions'>,
): RecentBuild | undefined {
  const calls = callsIn(message)
  return builds.findLast(({ account, calls: wanted }) => message.keys[0] === account && isWithin(wanted, calls))
}

/** Whether all of `wanted` are in `calls`, in this order. */
function isWithin(wanted: readonly string[], calls: readonly string[]): boolean {
  let found = 0
  for (const call of calls) if (call === wanted[found]) found++
  return found === wanted.length
}
