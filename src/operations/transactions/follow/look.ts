/** Looks for transactions on the chain and writes what has become of them: state, records and events together. */
import type { Chain } from '../../../chain/connection.ts'
import { tokenReadCalls } from '../../../chain/programs/tokens/index.ts'
import { readFirstBlock, readStatuses, STATUSES_PER_CALL } from '../../../chain/statuses.ts'
import type { Services } from '../../../context.ts'
import type { Log } from '../../../log.ts'
import type { Tx } from '../../../store/store.ts'
import { type Followed, moveTransaction, noteChecked, rawTransactions } from '../../../store/transactions.ts'
import { transactionRecord } from '../../api-records.ts'
import { emitAll, type LateEmission } from '../../emit.ts'
import { trySigner } from '../../signing/require-signer.ts'
import { FAULTY_MS, type Fault, writeEach } from '../../write-each.ts'
import type { Budget } from './budget.ts'
import { type Landing, landingOf, readLandedTokens, writeLanding } from './landing.ts'
import { isMissing, type Step, stepOf } from './transition.ts'

export type FollowServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** After a minute most of what has not landed never will. */
const YOUNG_MS = 60_000
/** What is not proven to have ended by then waits for a node with a longer memory. */
const ANCIENT_MS = 3_600_000
const NEXT_LOOK_MS = { young: 2_000, old: 5_000, ancient: 60_000, confirmed: 6_000 }
export const LONGEST_LOOK_MS = NEXT_LOOK_MS.ancient

/** A move and the landing that comes with it. */
export interface Move {
  row: Followed
  step: Step
  landing?: Landing
}

/** What one look found. */
export interface Looked {
  /** Those that the node does not know, with the slot that it had reached. */
  missing: { row: Followed; slot: number }[]
  /** Why the first of those that could not be followed could not be. */
  fault: unknown
}

export interface LookOptions {
  /** Ends it between two writes, where rows that cannot be written are found out. */
  signal?: AbortSignal | undefined
  leastWaitMs?: number
}

/**
 * One call for up to 256 rows, and those for the tokens among what landed; none is looked for again before
 * `leastWaitMs`. Throws internal_error where the node fails; what it had answered until then is written. A row that
 * cannot be read or written is left for later, and never stops the others.
 */
export async function look(
  services: FollowServices,
  rows: readonly Followed[],
  budget: Budget,
  { signal, leastWaitMs = 0 }: LookOptions = {},
): Promise<Looked> {
  const { store, chain, clock } = services
  const asked = rows.slice(0, STATUSES_PER_CALL)
  const now = clock.now()
  const genesis = await chain.genesisHash()
  const history = asked.some((row) => row.since_slot === null || isSeen(row) || now - row.created_at > YOUNG_MS)
  const signatures = asked.map(({ signature }) => signature)
  const { slot, statuses } = await readStatuses(chain, signatures, history)
  const lost = history && asked.some((row, i) => statuses[i] === null && isMissing(row, slot))
  const since = lost && budget.take() ? await readFirstBlock(chain) : null
  const steps = asked.flatMap((row, i) => {
    const step = stepOf(row, { status: statuses[i] ?? null, slot, since })
    return step === null ? [] : [{ row, step }]
  })
  const planned = await withLandings(services, steps, budget)
  const { moves, states, fault } = await withTokens(services, planned.moves)
  const faults = [...planned.faults, ...(await writeMoves(services, moves, { states, signal }))]
  const faulty = new Set(faults.map(({ row }) => row.signature))
  const moved = new Set(moves.map(({ row }) => row.signature).filter((signature) => !faulty.has(signature)))
  const rest = asked.filter(({ signature }) => !moved.has(signature))
  const waits = byWait(rest, (row) => {
    return faulty.has(row.signature) ? FAULTY_MS : Math.max(waitOf(row, now), leastWaitMs)
  })
  await store.write(async (tx) => {
    for (const [wait, part] of waits) {
      await noteChecked(
        tx,
        part.map(({ signature }) => signature),
        { now, next: now + wait, slot, genesis },
      )
    }
  })
  if (fault !== undefined) throw fault
  const missing = asked.flatMap((row, i) => (statuses[i] ? [] : [{ row, slot }]))
  return { missing: missing.filter(({ row }) => isUnseen(row)), fault: faults[0]?.error }
}

/** Reads what the landed ones are about; where the budget does not reach, they stay as they are until the next look. */
async function withLandings(services: FollowServices, steps: readonly Move[], budget: Budget) {
  const { store, chain, config } = services
  const wallet = async () => (await trySigner(services))?.address ?? null
  const genesis = await chain.genesisHash()
  const landed = steps.filter(({ step }) => step.landed)
  const raws = await rawTransactions(
    store.db,
    landed.map(({ row }) => row.signature),
  )
  const moves: Move[] = []
  const faults: Fault<Followed>[] = []
  let mints = 0
  for (const { row, step } of steps) {
    const raw = step.landed ? raws.get(row.signature) : undefined
    if (raw === undefined) {
      moves.push({ row, step })
      continue
    }
    const landing = await landingOf(row, raw, { goldMint: config.values['gold.mint'], wallet }).catch((error) => {
      faults.push(faultOf(services, row, error))
    })
    if (landing === undefined) continue
    const more = tokenReadCalls(mints + landing.tokens.size) - tokenReadCalls(mints)
    if (!takeAll(budget, more)) continue
    mints += landing.tokens.size
    // What landed here is of this chain, whether or not that was known when it was submitted.
    moves.push({ row: { ...row, genesis }, step, landing })
  }
  return { moves, faults }
}

function faultOf({ log }: { log: Log }, row: Followed, error: unknown): Fault<Followed> {
  log.error({ err: error, signature: row.signature }, 'a transaction could not be followed')
  return { row, error }
}

function takeAll(budget: Budget, calls: number): boolean {
  if (budget.left < calls) return false
  for (let i = 0; i < calls; i++) budget.take()
  return true
}

/** What cannot be read now must not hold up the rest: those about tokens wait for the next look then. */
async function withTokens({ chain }: { chain: Chain }, moves: readonly Move[]) {
  const about = moves.filter(({ landing }) => landing !== undefined && landing.tokens.size > 0)
  if (about.length === 0) return { moves, states: new Map() }
  const slot = Math.max(...about.map(({ step }) => step.state.slot))
  try {
    const landings = about.map(({ landing }) => landing!)
    return { moves, states: await readLandedTokens(await chain.connection(), landings, slot) }
  } catch (fault) {
    return { moves: moves.filter((move) => !about.includes(move)), states: new Map(), fault }
  }
}

/** Moves rows with their events, and answers those that could not be; nothing of one that another process has moved since. */
export async function writeMoves(
  services: Pick<Services, 'store' | 'clock' | 'log' | 'config'>,
  moves: readonly Move[],
  { states = new Map(), signal }: { states?: TokenStates; signal?: AbortSignal | undefined } = {},
): Promise<Fault<Followed>[]> {
  const writeAll = async (tx: Tx, part: readonly Move[]) => {
    const told: LateEmission[] = []
    for (const move of part) told.push(...(await write(tx, services, move, states)))
    await emitAll(tx, services.clock, told)
  }
  const faults = await writeEach(services.store, moves, writeAll, signal)
  return faults.map(({ row: { row }, error }) => faultOf(services, row, error))
}

type TokenStates = Parameters<typeof writeLanding>[5]

/** Answers the events of the move. */
async function write(
  tx: Tx,
  services: Pick<Services, 'clock' | 'log' | 'config'>,
  { row, step, landing }: Move,
  states: TokenStates,
): Promise<LateEmission[]> {
  const { clock, log } = services
  const now = clock.now()
  const { state, events, dropped, final } = step
  const sendAgain = dropped && row.max_retries > 0
  const moved = await moveTransaction(tx, row, {
    ...state,
    checked_at: now,
    next_check_at: final ? null : now + waitOf({ ...row, ...state }, now),
    next_send_at: sendAgain ? now : null,
  })
  if (!moved) return []
  if (dropped) log.warn({ signature: row.signature, slot: row.slot }, 'a fork dropped a transaction')
  const object = transactionRecord({ ...row, ...state })
  const about = { resource_type: 'transaction', resource_id: row.signature, object, of: row }
  const told = events.map((type) => ({ type, ...about }))
  if (landing === undefined) return told
  return [...told, ...(await writeLanding(tx, services, row, state.slot, landing, states))]
}

/** No node has shown it yet; one of a bundle that the relay has given up counts as well. */
const isUnseen = (row: Followed) => row.lifecycle === 'submitted' || (row.lifecycle === 'failed' && !isSeen(row))
const isSeen = ({ confirmation_status }: Followed) => confirmation_status !== null

function waitOf({ lifecycle, created_at }: Pick<Followed, 'lifecycle' | 'created_at'>, now: number): number {
  if (lifecycle === 'confirmed' || lifecycle === 'failed') return NEXT_LOOK_MS.confirmed
  if (now - created_at > ANCIENT_MS) return NEXT_LOOK_MS.ancient
  return now - created_at > YOUNG_MS ? NEXT_LOOK_MS.old : NEXT_LOOK_MS.young
}

function byWait(rows: readonly Followed[], waitOf: (row: Followed) => number): Map<number, Followed[]> {
  const parts = new Map<number, Followed[]>()
  for (const row of rows) {
    const wait = waitOf(row)
    const part = parts.get(wait)
    if (part === undefined) parts.set(wait, [row])
    else part.push(row)
  }
  return parts
}
