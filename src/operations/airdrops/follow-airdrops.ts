/** Follows airdrops by their accounts: reports those that are fully claimed, and the changes made by other tools. */
import {
  type Distributor,
  distributorAddress,
  readDistributors,
} from '../../chain/programs/merkle-distributor/index.ts'
import type { Services } from '../../context.ts'
import { writeWithEvents } from '../../following/write-with-events.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/timing.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { dueAirdrops, moveAirdrop } from '../../store/airdrops/airdrops.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import type { Tx } from '../../store/store.ts'
import { FAULTY_ROW_WAIT_MS } from '../../store/writing/write-each.ts'
import { factsOf, statusOnChain } from './on-chain.ts'
import { isAbout, type Pending, pendingTransactions } from './pending-transactions.ts'
import { type AirdropRow, advanceAirdrop, airdropRank, airdropStatusOn } from './transitions.ts'

type FollowAirdropsServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log'>

const CALLS_PER_ROUND = 5
/**
 * Time for which only the transaction watcher handles a transaction submitted here, because it also reports the
 * signature.
 */
const WATCHER_LEAD_MS = 180_000
/**
 * The claims are reported before "fully claimed", which no transaction proves. A claim may land while its blockhash is
 * valid.
 */
const LAST_CLAIM_LEAD_MS = 90_000
/** Longest interval between looks, for a tree that has waited for its airdrop for days. */
export const LONGEST_AIRDROP_WAIT_MS = 600_000

/**
 * Runs one round over the airdrops that are due, in at most six calls. Throws internal_error when the node fails, and
 * at the end the first error of an airdrop. A failed airdrop is due again and does not stop the others.
 */
export async function followAirdrops(services: FollowAirdropsServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock } = services
  const rows = await dueAirdrops(store.db, clock.now(), ACCOUNTS_PER_CALL * CALLS_PER_ROUND)
  if (rows.length === 0) return
  const genesis = await chain.genesisHash()
  let fault: unknown
  for (let at = 0; at < rows.length; at += ACCOUNTS_PER_CALL) {
    signal?.throwIfAborted()
    const part = await Promise.all(rows.slice(at, at + ACCOUNTS_PER_CALL).map(withDistributorAddress))
    const { slot, distributors } = await readDistributors(
      chain,
      part.map(({ address }) => address),
    )
    signal?.throwIfAborted()
    const read = part.map((each, i) => ({ ...each, slot, distributor: distributors[i] ?? null }))
    const error = await writeRead(services, genesis, read, signal)
    fault ??= error
  }
  if (fault !== undefined) throw fault
}

async function withDistributorAddress(row: AirdropRow): Promise<{ row: AirdropRow; address: string }> {
  const address = row.distributor ?? (await distributorAddress({ mint: row.mint, airdropCount: row.airdrop_count }))
  return { row, address }
}

/** An airdrop with its distributor as read from the chain. */
interface ReadAirdrop {
  row: AirdropRow
  address: string
  /** Slot of the reading. */
  slot: number
  distributor: Distributor | null
}

/** Returns the first error of an airdrop that could not be followed. */
async function writeRead(
  services: FollowAirdropsServices,
  genesis: string,
  read: readonly ReadAirdrop[],
  signal?: AbortSignal,
): Promise<unknown> {
  const { store, clock, log } = services
  const now = clock.now()
  const writeAll = async (tx: Tx, part: readonly ReadAirdrop[]) => {
    const moving = part.filter((each) => isNew(each, genesis)).map(({ row }) => row.id)
    const pending = moving.length === 0 ? [] : await pendingTransactions(tx, genesis, now - WATCHER_LEAD_MS)
    const drafts: EventDraft[] = []
    for (const each of part) {
      const isWatched = isUnderWay(each, pending, now - watcherLeadOf(each, genesis))
      if (!isWatched && moving.includes(each.row.id)) drafts.push(...(await advanceRead(tx, genesis, now, each)))
      else await postponeAirdrop(tx, each, now + airdropWaitOf(each.row, genesis, now))
    }
    return drafts
  }
  const faults = await writeWithEvents(services, read, writeAll, signal)
  const [first] = faults
  if (first === undefined) return undefined
  for (const { row, error } of faults)
    log.error({ err: error, airdrop: row.row.id }, 'an airdrop could not be followed')
  await store.write(async (tx) => {
    for (const { row } of faults) await postponeAirdrop(tx, row, now + FAULTY_ROW_WAIT_MS)
  })
  return first.error
}

/** Whether the account shows a later state than the stored one. */
const isNew = ({ row, distributor }: ReadAirdrop, genesis: string): boolean =>
  airdropRank(statusOnChain(row, distributor)) > airdropRank(airdropStatusOn(row, genesis))

/**
 * Returns how long to wait for the watcher's report. If an airdrop is fully claimed, only the last claim can be
 * missing.
 */
const watcherLeadOf = ({ row, distributor }: ReadAirdrop, genesis: string): number =>
  airdropStatusOn(row, genesis) === 'claiming' && !distributor?.isClawedBack ? LAST_CLAIM_LEAD_MS : WATCHER_LEAD_MS

const isUnderWay = ({ row, address }: ReadAirdrop, pending: readonly Pending[], since: number): boolean =>
  pending.some((each) => each.created_at > since && isAbout(each, row.id, address))

async function advanceRead(
  tx: Tx,
  genesis: string,
  now: number,
  { row, address, slot, distributor }: ReadAirdrop,
): Promise<EventDraft[]> {
  if (distributor === null) return []
  const evidence = { genesis, next: now + 10 * SECOND_MS, slot, admin: distributor.admin }
  return (await advanceAirdrop(tx, row, address, factsOf(row, distributor), evidence)).drafts
}

/** Writes nothing if another process has changed the row since it was read. */
async function postponeAirdrop(tx: Tx, { row, address }: ReadAirdrop, next_check_at: number): Promise<void> {
  await moveAirdrop(tx, row, { distributor: address, next_check_at })
}

/** Looks are rare when nothing happens, because a tree may never get its airdrop. */
function airdropWaitOf(row: AirdropRow, genesis: string, now: number): number {
  const status = airdropStatusOn(row, genesis)
  if (status === 'initialized' || status === 'claiming') return 10 * SECOND_MS
  if (status === 'fully_claimed') return 300 * SECOND_MS
  const age = now - row.created_at
  return age < HOUR_MS ? 15 * SECOND_MS : age < DAY_MS ? 60 * SECOND_MS : LONGEST_AIRDROP_WAIT_MS
}
