/** Sends the stored bytes of transactions that have not been seen yet, again and again, each from one process at a time. */

import { type Relay, relayOf } from '../chain/relay.ts'
import { broadcast } from '../chain/sending.ts'
import type { Config } from '../config.ts'
import { bundleIdOf } from '../solana/bundles.ts'
import { bundleTransactions, claimSends, dueSends, planSend } from '../store/transactions.ts'
import type { Budget } from './budget.ts'
import type { FollowServices } from './look.ts'

/** What the request itself is given to send before the watcher does. */
export const FIRST_SEND_MS = 2_000
const LONGEST_WAIT_MS = 16_000
/** Sends under way at once. */
const PARALLEL = 8

type SendServices = FollowServices & { config: Config }
type Due = Awaited<ReturnType<typeof dueSends>>[number]

/** By then a blockhash has expired, and a durable nonce is in no hurry. */
const LIFE_MS = 150_000
export const NONCE_WAIT_MS = 60_000

/** Waits of 2, 4, 8 and 16 seconds, then 16 while its blockhash may live; a durable nonce has no end. */
function nextAfter({ sends, nonce_account, created_at }: Due, now: number): number | null {
  const wait = Math.min(FIRST_SEND_MS * 2 ** Math.min(sends + 1, 10), LONGEST_WAIT_MS)
  if (now - created_at < LIFE_MS) return now + wait
  return nonce_account === null ? null : now + NONCE_WAIT_MS
}

/** Sends what is due, of one transaction where a signature is given. A send that fails is due again; nothing is thrown. */
export async function sendDue(services: SendServices, budget: Budget, signature?: string): Promise<void> {
  const { store, chain, clock, log } = services
  const now = clock.now()
  if (budget.left === 0) return
  const genesis = await chain.genesisHash()
  const due = await dueSends(store.db, genesis, now, budget.left, signature)
  const claimed = await claim(services, due, now)
  const [alone, bundles] = split(due.filter(({ signature }) => claimed.has(signature)))
  const jobs = [
    ...alone.map((row) => ({ row, send: () => sendOne(services, row, claimed.get(row.signature)!) })),
    ...bundles.map((row) => ({ row, send: () => sendBundle(services, row) })),
  ]
  for (let at = 0; at < jobs.length; at += PARALLEL) {
    const part = jobs.slice(at, at + PARALLEL).filter(() => budget.take())
    await Promise.all(
      part.map(({ row, send }) =>
        send().catch((error) => log.warn({ err: error, signature: row.signature }, 'a transaction was not sent')),
      ),
    )
  }
}

async function claim({ store }: SendServices, due: readonly Due[], now: number): Promise<Map<string, Uint8Array>> {
  if (due.length === 0) return new Map()
  const sends = due.map((row) => ({ signature: row.signature, next: nextAfter(row, now) }))
  const claimed = await store.write((tx) => claimSends(tx, now, sends))
  return new Map(claimed.map(({ signature, raw }) => [signature, raw]))
}

/** One row for each bundle, whose transactions go together or not at all. */
function split(rows: readonly Due[]): [alone: Due[], bundles: Due[]] {
  const bundles = new Map<string, Due>()
  for (const row of rows) if (row.bundle_id !== null) bundles.set(row.bundle_id, row)
  return [rows.filter(({ bundle_id }) => bundle_id === null), [...bundles.values()]]
}

async function sendOne({ chain, store }: SendServices, { signature, max_retries }: Due, raw: Uint8Array) {
  await broadcast(chain, raw, max_retries)
  if (max_retries === 0) await store.write((tx) => planSend(tx, signature, null))
}

async function sendBundle({ config, chain, store }: SendServices, { bundle_id, max_retries }: Due): Promise<void> {
  const rows = await bundleTransactions(store.db, bundle_id!)
  // Once one of them was seen the bundle has landed, or never will; and no part of one is ever sent.
  if (rows.some(({ lifecycle }) => lifecycle !== 'submitted')) return
  if (bundleIdOf(rows.map(({ signature }) => signature)) !== bundle_id) return
  const relay: Relay = relayOf(config, chain)
  await relay.send(rows.map(({ raw }) => raw))
  if (max_retries > 0) return
  await store.write(async (tx) => {
    for (const { signature } of rows) await planSend(tx, signature, null)
  })
}
