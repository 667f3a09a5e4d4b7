/**
 * Takes all steps of pools that one reading of the chain shows, for the worker or for a request that sees them first.
 */

import type { Chain } from '../../chain/connection.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import type { DammV2Pool } from '../../chain/programs/damm-v2/index.ts'
import { type DbcPool, migratedPoolAddress } from '../../chain/programs/dbc/index.ts'
import type { Services } from '../../context.ts'
import type { ChainEvidence } from '../../following/chain-drafts.ts'
import { isUnproven } from '../../following/transaction-record.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { BLOCKHASH_LIFE_MS } from '../../solana/lifetimes.ts'
import { writeEvents } from '../../store/events/drafts.ts'
import { findPool, lastTracked, poolsOfMint } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { CLOCK_SLACK_MS } from '../../store/writing/future-moments.ts'
import { type ChainPool, isFull, readPools } from './on-chain.ts'
import {
  markMigrationTriggered,
  markPoolFailed,
  markPoolLive,
  markPoolMigrated,
  type PoolTransition,
} from './transitions.ts'

type StepServices = Pick<Services, 'store' | 'chain' | 'clock' | 'config'>

/** A step of a pool's life; it is taken from the state `from` alone. */
export interface PoolStep {
  from: Row<'pools'>['status']
  take(tx: Tx, row: Row<'pools'>): Promise<PoolTransition>
}

/** Takes the steps that a reading shows, each with its event, and returns the resulting record. */
async function takeSteps(
  services: StepServices,
  row: Row<'pools'>,
  chainPool: ChainPool | null,
): Promise<Row<'pools'>> {
  const { store, clock } = services
  const steps = await stepsOf(services, row, chainPool)
  if (steps.length === 0) return row
  return store.write(async (tx) => {
    const taken = await writeSteps(tx, row, steps)
    await writeEvents(tx, clock, taken.drafts)
    return taken.row
  })
}

/** Another process may take some of them first. */
export async function writeSteps(tx: Tx, row: Row<'pools'>, steps: readonly PoolStep[]): Promise<PoolTransition> {
  const taken: PoolTransition = { row, drafts: [] }
  for (const { from, take } of steps) {
    if (taken.row.status !== from) continue
    const { row, drafts } = await take(tx, taken.row)
    taken.row = row
    taken.drafts.push(...drafts)
  }
  return taken
}

/**
 * Returns the launch curve that migrated to the pool, or null if it was launched by another tool or directly. Nothing
 * on chain names the curve. If the record lags, the curve is searched among those of the same mint, and its steps are
 * taken.
 */
export async function curveBehind(
  services: StepServices,
  { address, tokenAMint }: DammV2Pool,
): Promise<DbcPool | null> {
  const { store, chain } = services
  const known = await findPool(store.db, address)
  const sources = known === null ? await poolsOfMint(store.db, tokenAMint, await chain.genesisHash()) : [known.dbc_pool]
  for (const found of await readPools(
    chain,
    sources.flatMap((source) => source ?? []),
  )) {
    if (found?.type !== 'dbc' || (await migratedPoolAddress(found.pool)) !== address) continue
    await noteMigration(services, found)
    return found.pool
  }
  return null
}

/** Takes the steps of a migrated curve, so that its pool has a record before claims from it are written. */
export async function noteMigration(services: StepServices, curve: Extract<ChainPool, { type: 'dbc' }>): Promise<void> {
  const row = curve.pool.isMigrated ? await findPool(services.store.db, curve.pool.address) : null
  if (row !== null && row.status !== 'migrated') await takeSteps(services, row, curve)
}

/** Returns all steps that the chain shows, in their order. */
export async function stepsOf(
  services: StepServices,
  row: Row<'pools'>,
  chainPool: ChainPool | null,
): Promise<PoolStep[]> {
  const { chain } = services
  const steps: PoolStep[] = []
  let { status } = row
  if (status === 'pending') {
    if (chainPool === null) return (await isAbandoned(services, row)) ? [{ from: status, take: markPoolFailed }] : []
    const evidence = await firstSeen(chain, row.address)
    steps.push({ from: status, take: (tx, now) => markPoolLive(services, tx, now, evidence) })
    status = 'live'
  }
  if (chainPool?.type !== 'dbc') return steps
  const { pool } = chainPool
  if (status === 'live' && isFull(pool)) {
    steps.push({ from: status, take: (tx, now) => markMigrationTriggered(services, tx, now) })
    status = 'migration_triggered'
  }
  if (status !== 'migration_triggered' || !pool.isMigrated) return steps
  const migratedTo = await migratedPoolAddress(pool)
  const [migrated] = await readPools(chain, [migratedTo])
  if (migrated) steps.push({ from: status, take: (tx, now) => markPoolMigrated(services, tx, now, migratedTo) })
  return steps
}

/**
 * Whether the pool's launch was abandoned. Time counts from the end of the last tracking transaction, or from the
 * expiry of the built ones.
 */
async function isAbandoned({ store, clock, config }: StepServices, row: Row<'pools'>): Promise<boolean> {
  const last = await lastTracked(store.db, row.address)
  // One that was never seen ends here too: the pool, which it would have made, is not on the chain.
  const isOpen = last !== null && last.lifecycle !== 'failed' && last.next_check_at !== null && !isUnproven(last)
  if (isOpen) return false
  const now = clock.now()
  // An end in the future was written by a wrong clock.
  const endedAt = last === null || isUnproven(last) ? (last?.created_at ?? 0) + BLOCKHASH_LIFE_MS : last.checked_at
  const lastEnded = last === null || endedAt > now + CLOCK_SLACK_MS ? 0 : endedAt
  const ended = Math.max(row.created_at + BLOCKHASH_LIFE_MS, lastEnded)
  return now - ended >= config.values['pools.pending-minutes'] * MINUTE_MS
}

/** Signatures in one call. If an account has this many, the call does not reach its first one. */
const MOST_SIGNATURES = 1000

interface PoolSignature {
  signature: string
  slot: number
  err: unknown
}

/** Returns the slot and signature of the first transaction, or nothing when the node does not report it. */
export async function firstSeen(chain: Chain, address: string): Promise<ChainEvidence> {
  const options = { limit: MOST_SIGNATURES, commitment: 'confirmed' }
  const signatures = await askNode('Reading the first transaction of the pool', () =>
    chain.call<PoolSignature[]>('getSignaturesForAddress', [address, options]),
  ).catch(() => [])
  if (!Array.isArray(signatures) || signatures.length >= MOST_SIGNATURES) return {}
  const first = signatures.findLast(({ err }) => err === null)
  return first === undefined ? {} : { slot: Number(first.slot), signature: first.signature }
}
