/** Adds the claims of airdrops with their totals by hour and their median, and fills them from the events of claims. */
import type { Kysely } from 'kysely'
import type { SchemaDialect, SteppedMigration } from './dialect.ts'

export function airdropClaimTables({ sequence }: SchemaDialect): SteppedMigration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('airdrop_claims')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('airdrop_id', 'text', (column) => column.notNull())
        .addColumn('wallet', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('amount', 'text', (column) => column.notNull())
        .addColumn('amount_locked', 'text', (column) => column.notNull())
        .addColumn('size', 'text', (column) => column.notNull())
        .addColumn('signature', 'text', (column) => column.notNull())
        .addColumn('slot', 'bigint', (column) => column.notNull())
        .addColumn('claimed_at', 'bigint', (column) => column.notNull())
        .addColumn('dedupe_by', 'text', (column) => column.notNull())
        .addUniqueConstraint('airdrop_claims_key', ['genesis', 'airdrop_id', 'wallet', 'dedupe_by'])
        .execute()
      for (const [name, ...columns] of [
        ['place', 'seq'],
        ['size', 'size', 'seq'],
      ]) {
        await db.schema
          .createIndex(`airdrop_claims_by_${name}`)
          .on('airdrop_claims')
          .columns(['genesis', 'airdrop_id', ...columns])
          .execute()
      }
      await db.schema
        .createTable('airdrop_claim_totals')
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('airdrop_id', 'text', (column) => column.notNull())
        .addColumn('hour', 'bigint', (column) => column.notNull())
        .addColumn('claims', 'bigint', (column) => column.notNull())
        .addColumn('wallets', 'bigint', (column) => column.notNull())
        .addColumn('amount_high', 'bigint', (column) => column.notNull())
        .addColumn('amount_low', 'bigint', (column) => column.notNull())
        .addColumn('locked_high', 'bigint', (column) => column.notNull())
        .addColumn('locked_low', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('airdrop_claim_totals_key', ['genesis', 'airdrop_id', 'hour'])
        .execute()
      await db.schema
        .createTable('airdrop_claim_figures')
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('airdrop_id', 'text', (column) => column.notNull())
        .addColumn('claims', 'bigint', (column) => column.notNull())
        .addColumn('median_size', 'text')
        .addColumn('median_seq', 'bigint')
        .addColumn('first_at', 'bigint')
        .addColumn('last_at', 'bigint')
        .addPrimaryKeyConstraint('airdrop_claim_figures_key', ['genesis', 'airdrop_id'])
        .execute()
    },
    fill: async (db, after) =>
      after === MEDIANS ? fillMedian(db as Kysely<Filled>) : fillClaims(db as Kysely<Filled>, after),
  }
}

interface Filled {
  events: { sequence: number; type: string; resource_id: string; object_json: string; created_at: number }
  transactions: { signature: string; genesis: string }
  chain_transactions: { signature: string; genesis: string }
  merkle_trees: { id: string; genesis: string }
  airdrop_claims: {
    seq: number
    genesis: string
    airdrop_id: string
    wallet: string
    kind: string
    amount: string
    amount_locked: string
    size: string
    signature: string
    slot: number
    claimed_at: number
    dedupe_by: string
  }
  airdrop_claim_totals: {
    genesis: string
    airdrop_id: string
    hour: number
    claims: number
    wallets: number
    amount_high: number
    amount_low: number
    locked_high: number
    locked_low: number
  }
  airdrop_claim_figures: {
    genesis: string
    airdrop_id: string
    claims: number
    median_size: string | null
    median_seq: number | null
    first_at: number
    last_at: number
  }
}

const CLAIM_EVENTS_PER_PAGE = 500
/** Rows of one insert, below SQLite's limit of variables. */
const CLAIMS_PER_INSERT = 100
const HOUR_OF_MS = 3_600_000
const LOW_PART = 1_000_000_000_000n

/** The place after the last event, from which on each step is the median of one airdrop. */
const MEDIANS = 'medians'

/** Claims whose events were removed, or that only a request's hint told of, stay unknown. */
async function fillClaims(db: Kysely<Filled>, after: string): Promise<string | null> {
  const events = db.selectFrom('events').select(['sequence', 'resource_id', 'object_json', 'created_at'])
  const page = await events
    .where('type', '=', 'airdrop.claimed')
    .where('sequence', '>', Number(after))
    .orderBy('sequence')
    .limit(CLAIM_EVENTS_PER_PAGE)
    .execute()
  const claims = await withChains(db, page.flatMap(claimOfEvent))
  for (let at = 0; at < claims.length; at += CLAIMS_PER_INSERT) {
    const added = await db
      .insertInto('airdrop_claims')
      .values(claims.slice(at, at + CLAIMS_PER_INSERT) as never)
      .onConflict((conflict) => conflict.doNothing())
      .returning(['genesis', 'airdrop_id', 'amount', 'claimed_at'])
      .execute()
    await addTotals(db, added)
    await addFigures(db, added)
  }
  if (page.length === CLAIM_EVENTS_PER_PAGE) return String(page.at(-1)?.sequence)
  return fillMedian(db)
}

type AddedClaim = Pick<Filled['airdrop_claims'], 'genesis' | 'airdrop_id' | 'amount' | 'claimed_at'>

async function addTotals(db: Kysely<Filled>, added: readonly AddedClaim[]): Promise<void> {
  const hourOf = ({ claimed_at }: AddedClaim) => Math.floor(Number(claimed_at) / HOUR_OF_MS)
  for (const [first, group] of groupsOf(added, (claim) => `${claim.genesis} ${claim.airdrop_id} ${hourOf(claim)}`)) {
    const key = { genesis: first.genesis, airdrop_id: first.airdrop_id, hour: hourOf(first) }
    const rows = db.selectFrom('airdrop_claim_totals').select(['claims', 'amount_high', 'amount_low'])
    const total = await rows.where((eb) => eb.and(key)).executeTakeFirst()
    const sum = group.reduce(
      (sofar, { amount }) => sofar + BigInt(amount),
      BigInt(total?.amount_high ?? 0) * LOW_PART + BigInt(total?.amount_low ?? 0),
    )
    const claims = Number(total?.claims ?? 0) + group.length
    const sums = {
      ...{ claims, wallets: claims },
      ...{ amount_high: Number(sum / LOW_PART), amount_low: Number(sum % LOW_PART) },
    }
    const row = { ...key, ...sums, locked_high: 0, locked_low: 0 }
    if (total === undefined) await db.insertInto('airdrop_claim_totals').values(row).execute()
    else
      await db
        .updateTable('airdrop_claim_totals')
        .set(sums)
        .where((eb) => eb.and(key))
        .execute()
  }
}

async function addFigures(db: Kysely<Filled>, added: readonly AddedClaim[]): Promise<void> {
  for (const [{ genesis, airdrop_id }, group] of groupsOf(added, (claim) => `${claim.genesis} ${claim.airdrop_id}`)) {
    const key = { genesis, airdrop_id }
    const rows = db.selectFrom('airdrop_claim_figures').selectAll()
    const figures = await rows.where((eb) => eb.and(key)).executeTakeFirst()
    const times = [...group.map(({ claimed_at }) => Number(claimed_at))]
    if (figures !== undefined) times.push(Number(figures.first_at), Number(figures.last_at))
    const sums = {
      claims: Number(figures?.claims ?? 0) + group.length,
      ...{ first_at: Math.min(...times), last_at: Math.max(...times) },
    }
    const row = { ...key, ...sums, median_size: null, median_seq: null }
    if (figures === undefined) await db.insertInto('airdrop_claim_figures').values(row).execute()
    else
      await db
        .updateTable('airdrop_claim_figures')
        .set(sums)
        .where((eb) => eb.and(key))
        .execute()
  }
}

/** The claims of each key, after the first of them. */
function groupsOf(claims: readonly AddedClaim[], keyOf: (claim: AddedClaim) => string): [AddedClaim, AddedClaim[]][] {
  const groups = new Map<string, [AddedClaim, AddedClaim[]]>()
  for (const claim of claims) {
    const group = groups.get(keyOf(claim))
    if (group === undefined) groups.set(keyOf(claim), [claim, [claim]])
    else group[1].push(claim)
  }
  return [...groups.values()]
}

/** The median of one airdrop that has none yet. */
async function fillMedian(db: Kysely<Filled>): Promise<string | null> {
  const next = db.selectFrom('airdrop_claim_figures').select(['genesis', 'airdrop_id', 'claims'])
  const figures = await next.where('median_size', 'is', null).limit(1).executeTakeFirst()
  if (figures === undefined) return null
  const { genesis, airdrop_id, claims } = figures
  const rows = db.selectFrom('airdrop_claims').select(['size', 'seq']).where('genesis', '=', genesis)
  const median = await rows
    .where('airdrop_id', '=', airdrop_id)
    .orderBy('size')
    .orderBy('seq')
    .limit(1)
    .offset(Math.floor((Number(claims) - 1) / 2))
    .executeTakeFirstOrThrow()
  await db
    .updateTable('airdrop_claim_figures')
    .set({ median_size: median.size, median_seq: median.seq })
    .where((eb) => eb.and({ genesis, airdrop_id }))
    .execute()
  return MEDIANS
}

type EventRow = Pick<Filled['events'], 'resource_id' | 'object_json' | 'created_at'>
type FoundClaim = Omit<Filled['airdrop_claims'], 'seq' | 'genesis'>

function claimOfEvent({ resource_id, object_json, created_at }: EventRow): FoundClaim[] {
  const { claimer, amount, signature, slot, source } = JSON.parse(object_json) as Record<string, unknown>
  if (source !== 'chain' || typeof claimer !== 'string' || typeof signature !== 'string') return []
  if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount) || !Number.isSafeInteger(slot)) return []
  return [
    {
      ...{ airdrop_id: resource_id, wallet: claimer, kind: 'claim', amount, amount_locked: '0' },
      ...{ size: amount.padStart(20, '0'), signature, slot: slot as number, claimed_at: created_at, dedupe_by: '' },
    },
  ]
}

/** Events do not say on which chain they took place: their transaction does, or the tree where that is not stored. */
async function withChains(db: Kysely<Filled>, claims: readonly FoundClaim[]) {
  const chains = new Map<string, string>()
  const signatures = claims.map(({ signature }) => signature)
  const ids = [...new Set(claims.map(({ airdrop_id }) => airdrop_id))]
  if (claims.length > 0) {
    const trees = await db.selectFrom('merkle_trees').select(['id', 'genesis']).where('id', 'in', ids).execute()
    for (const { id, genesis } of trees) chains.set(id, genesis)
    for (const table of ['chain_transactions', 'transactions'] as const) {
      const rows = db.selectFrom(table).select(['signature', 'genesis']).where('signature', 'in', signatures)
      for (const { signature, genesis } of await rows.execute()) if (genesis !== '') chains.set(signature, genesis)
    }
  }
  return claims.flatMap((claim) => {
    const genesis = chains.get(claim.signature) ?? chains.get(claim.airdrop_id) ?? ''
    return genesis === '' ? [] : [{ ...claim, genesis }]
  })
}
