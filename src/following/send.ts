/** Sends the stored bytes of transactions that no node has shown yet. Each is sent repeatedly, by one process at a time. */
import { lastSlotTime } from '../chain/reads/slot-time.ts'
import { relayOf } from '../chain/sending/relay.ts'
import { broadcast } from '../chain/sending/send.ts'
import { bundleIdOf } from '../solana/bundles.ts'
import { BLOCKHASH_LIFE_MS } from '../solana/lifetimes.ts'
import { bundleTransactions, claimSends, dueSends, planSend } from '../store/transactions/transactions.ts'
import type { Budget } from './budget.ts'
import type { FollowingServices } from './services.ts'

/** Time that the request itself has to send its transaction before the watcher sends it. */
export const FIRST_SEND_MS = 2_000
/** Slots of the shortest wait, which doubles, and of the longest. A blockhash lives for 150. */
const FIRST_WAIT_SLOTS = 10
const LONGEST_WAIT_SLOTS = 40
/** Number of sends that run at once. */
const PARALLEL_SENDS = 8
/** Transactions are sent for this long. One with a durable nonce does not expire, and is sent rarely after that. */
const SEND_FOR_MS = BLOCKHASH_LIFE_MS + 30_000
export const NONCE_SEND_WAIT_MS = 60_000

type SendServices = Pick<FollowingServices, 'store' | 'chain' | 'clock' | 'log' | 'config'>
type DueSend = Awaited<ReturnType<typeof dueSends>>[number]

/**
 * Waits are 10, 20 and 40 slots, then 40 while the blockhash may be valid. Transactions with a durable nonce are sent
 * forever.
 */
function nextSendAt(
  { sends, nonce_account, created_at }: DueSend,
  { now, slotMs }: { now: number; slotMs: number },
): number | null {
  const wait = Math.min(FIRST_WAIT_SLOTS * 2 ** Math.min(sends, 10), LONGEST_WAIT_SLOTS) * slotMs
  if (now - created_at < SEND_FOR_MS) return now + wait
  return nonce_account === null ? null : now + NONCE_SEND_WAIT_MS
}

/**
 * Sends what is due, or only one transaction if a signature is given. A send that fails is due again; nothing is
 * thrown.
 */
export async function sendDue(services: SendServices, budget: Budget, signature?: string): Promise<void> {
  const { store, chain, clock, log } = services
  const now = clock.now()
  if (budget.left === 0) return
  const genesis = await chain.genesisHash()
  const due = await dueSends(store.db, genesis, now, budget.left, signature)
  const claimed = await claimDue(services, due, now)
  const jobs = [
    ...claimed.flatMap(({ row, raw }) =>
      row.bundle_id === null ? [{ row, send: () => sendOne(services, row, raw) }] : [],
    ),
    ...lastOfBundles(claimed.map(({ row }) => row)).map(([bundleId, row]) => ({
      row,
      send: () => sendBundleWith(services, bundleId, row.max_retries),
    })),
  ]
  for (let at = 0; at < jobs.length; at += PARALLEL_SENDS) {
    const part = jobs.slice(at, at + PARALLEL_SENDS).filter(() => budget.take())
    await Promise.all(
      part.map(({ row, send }) =>
        send().catch((error) => log.warn({ err: error, signature: row.signature }, 'a transaction was not sent')),
      ),
    )
  }
}

/** Returns the sends that this process has claimed, in order, with their bytes. */
async function claimDue(
  { store, chain }: SendServices,
  due: readonly DueSend[],
  now: number,
): Promise<{ row: DueSend; raw: Uint8Array }[]> {
  if (due.length === 0) return []
  const slotMs = lastSlotTime(chain)
  const sends = due.map((row) => ({ signature: row.signature, next: nextSendAt(row, { now, slotMs }) }))
  const claimed = await store.write((tx) => claimSends(tx, now, sends))
  const raws = new Map(claimed.map(({ signature, raw }) => [signature, raw]))
  return due.flatMap((row) => {
    const raw = raws.get(row.signature)
    return raw === undefined ? [] : [{ row, raw }]
  })
}

/** Returns one row for each bundle, because its transactions are sent together. */
function lastOfBundles(rows: readonly DueSend[]): [bundleId: string, row: DueSend][] {
  const bundles = new Map<string, DueSend>()
  for (const row of rows) if (row.bundle_id !== null) bundles.set(row.bundle_id, row)
  return [...bundles]
}

async function sendOne({ chain, store }: SendServices, { signature, max_retries }: DueSend, raw: Uint8Array) {
  await broadcast(chain, raw, max_retries)
  if (max_retries === 0) await store.write((tx) => planSend(tx, signature, null))
}

async function sendBundleWith(
  { config, chain, store }: SendServices,
  bundleId: string,
  maxRetries: number,
): Promise<void> {
  const rows = await bundleTransactions(store.db, bundleId)
  // Once one transaction was seen, the bundle has landed or never will. A part of a bundle is never sent alone.
  if (rows.some(({ lifecycle }) => lifecycle !== 'submitted')) return
  if (bundleIdOf(rows.map(({ signature }) => signature)) !== bundleId) return
  await relayOf(config, chain).send(rows.map(({ raw }) => raw))
  if (maxRetries > 0) return
  await store.write(async (tx) => {
    for (const { signature } of rows) await planSend(tx, signature, null)
  })
}
