/** Follows airdrops by their accounts: tells of those that every wallet has claimed, and of what other tools have done. */

import {
  type Distributor,
  distributorAddress,
  readDistributors,
} from '../../chain/programs/merkle-distributor/index.ts'
import type { Services } from '../../context.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { dueAirdrops, moveAirdrop } from '../../store/airdrops.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../timing.ts'
import { emitAll, type LateEmission } from '../emit.ts'
import { FAULTY_MS, writeEach } from '../write-each.ts'
import { factsOf, statusOnChain } from './on-chain.ts'
import { isAbout, type Pending, pendingTransactions } from './pending-transactions.ts'
import { advance, rankOf, statusOf } from './transitions.ts'

type Tree = Row<'merkle_trees'>
type FollowServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log'>

const CALLS_PER_ROUND = 5
/** So long the watcher is left to tell of a transaction that was submitted here: it knows its signature. */
const PATIENCE_MS = 180_000
/** No transaction tells that all is claimed, but it is told after the claims: so long as a blockhash lives one may land. */
const CLAIM_PATIENCE_MS = 90_000
/** Of a tree that has waited for its airdrop for days. */
export const LONGEST_WAIT_MS = 600_000

/**
 * One round over the airdrops that are due, in at most five calls and one more. Throws internal_error where the node fails,
 * and at its end what an airdrop could not be followed for: it is due again, and never stops the others.
 */
export async function followAirdrops(services: FollowServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock } = services
  const rows = await dueAirdrops(store.db, clock.now(), ACCOUNTS_PER_CALL * CALLS_PER_ROUND)
  if (rows.length === 0) return
  const genesis = await chain.genesisHash()
  const connection = await chain.connection()
  let fault: unknown
  for (let at = 0; at < rows.length; at += ACCOUNTS_PER_CALL) {
    signal?.throwIfAborted()
    const part = await Promise.all(rows.slice(at, at + ACCOUNTS_PER_CALL).map(withAddress))
    const { slot, distributors } = await readDistributors(
      connection,
      part.map(({ address }) => address),
    )
    signal?.throwIfAborted()
    const looked = part.map((each, i) => ({ ...each, slot, distributor: distributors[i] ?? null }))
    const error = await writeLooked(services, genesis, looked, signal)
    fault ??= error
  }
  if (fault !== undefined) throw fault
}

async function withAddress(row: Tree): Promise<{ row: Tree; address: string }> {
  const address = row.distributor ?? (await distributorAddress({ mint: row.mint, airdropCount: row.airdrop_count }))
  return { row, address }
}

interface Looked {
  row: Tree
  address: string
  /** Of the reading. */
  slot: number
  distributor: Distributor | null
}

/** Answers why the first of those that could not be followed could not be. */
async function writeLooked(
  services: FollowServices,
  genesis: string,
  looked: readonly Looked[],
  signal?: AbortSignal,
): Promise<unknown> {
  const { store, clock, log } = services
  const now = clock.now()
  const writeAll = async (tx: Tx, part: readonly Looked[]) => {
    const moving = part.filter((each) => isNew(each, genesis)).map(({ row }) => row.id)
    const pending = moving.length === 0 ? [] : await pendingTransactions(tx, genesis, now - PATIENCE_MS)
    const told: LateEmission[] = []
    for (const each of part) {
      const isLeft = isUnderWay(each, pending, now - patienceOf(each, genesis))
      if (!isLeft && moving.includes(each.row.id)) told.push(...(await move(tx, genesis, now, each)))
      else await postpone(tx, each, now + waitOf(each.row, genesis, now))
    }
    await emitAll(tx, clock, told)
  }
  const faults = await writeEach(store, looked, writeAll, signal)
  if (faults.length === 0) return undefined
  for (const { row, error } of faults)
    log.error({ err: error, airdrop: row.row.id }, 'an airdrop could not be followed')
  await store.write(async (tx) => {
    for (const { row } of faults) await postpone(tx, row, now + FAULTY_MS)
  })
  return faults[0]!.error
}

/** Whether the account shows a later state than the stored one. */
const isNew = ({ row, distributor }: Looked, genesis: string): boolean =>
  rankOf(statusOnChain(row, distributor)) > rankOf(statusOf(row, genesis))

/** How long what a transaction tells is waited for; of one that is claimed to the end that is no more than its last claim. */
const patienceOf = ({ row, distributor }: Looked, genesis: string): number =>
  statusOf(row, genesis) === 'claiming' && !distributor?.isClawedBack ? CLAIM_PATIENCE_MS : PATIENCE_MS

const isUnderWay = ({ row, address }: Looked, pending: readonly Pending[], since: number): boolean =>
  pending.some((each) => each.created_at > since && isAbout(each, row.id, address))

async function move(tx: Tx, genesis: string, now: number, { row, address, slot, distributor }: Looked) {
  const seen = { genesis, next: now + 10 * SECOND_MS, slot, admin: distributor!.admin }
  return (await advance(tx, row, address, factsOf(row, distributor!), seen)).told
}

/** Nothing is changed of one that another process has moved since it was read. */
async function postpone(tx: Tx, { row, address }: Looked, next_check_at: number): Promise<void> {
  await moveAirdrop(tx, row, { distributor: address, next_check_at })
}

/** Seldom where nothing happens: a tree may wait for its airdrop for ever. */
function waitOf(row: Tree, genesis: string, now: number): number {
  const status = statusOf(row, genesis)
  if (status === 'initialized' || status === 'claiming') return 10 * SECOND_MS
  if (status === 'fully_claimed') return 300 * SECOND_MS
  const age = now - row.created_at
  return age < HOUR_MS ? 15 * SECOND_MS : age < DAY_MS ? 60 * SECOND_MS : LONGEST_WAIT_MS
}
