/** Adds the claims of airdrops with their totals by hour and their median, and fills them from the events of claims. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function airdropClaimTables({ sequence }: SchemaDialect): Migration {
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
      await fillClaims(db as Kysely<Filled>)
    },
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

/** Claims whose events were removed, or that only a request's hint told of, stay unknown. */
async function fillClaims(db: Kysely<Filled>): Promise<void> {
  const totals = new Map<string, { genesis: string; airdrop_id: string; hour: number; claims: number; sum: bigint }>()
  for (let after = 0; ; ) {
    const events = db.selectFrom('events').select(['sequence', 'resource_id', 'object_json', 'created_at'])
    const page = await events
      .where('type', '=', 'airdrop.claimed')
      .where('sequence', '>', after)
      .orderBy('sequence')
      .limit(CLAIM_EVENTS_PER_PAGE)
      .execute()
    const claims = await withChains(db, page.flatMap(claimOfEvent))
    for (let at = 0; at < claims.length; at += CLAIMS_PER_INSERT) {
      const rows = claims.slice(at, at + CLAIMS_PER_INSERT)
      const added = await db
        .insertInto('airdrop_claims')
        .values(rows as never)
        .onConflict((conflict) => conflict.doNothing())
        .returning(['genesis', 'airdrop_id', 'amount', 'claimed_at'])
        .execute()
      for (const { genesis, airdrop_id, amount, claimed_at } of added) {
        const hour = Math.floor(Number(claimed_at) / HOUR_OF_MS)
        const key = `${genesis} ${airdrop_id} ${hour}`
        const total = totals.get(key) ?? { genesis, airdrop_id, hour, claims: 0, sum: 0n }
        totals.set(key, { ...total, claims: total.claims + 1, sum: total.sum + BigInt(amount) })
      }
    }
    if (page.length < CLAIM_EVENTS_PER_PAGE) break
    after = Number(page.at(-1)?.sequence)
  }
  for (const { sum, claims, ...key } of totals.values()) {
    const [amount_high, amount_low] = [Number(sum / LOW_PART), Number(sum % LOW_PART)]
    const row = { ...key, claims, wallets: claims, amount_high, amount_low, locked_high: 0, locked_low: 0 }
    await db.insertInto('airdrop_claim_totals').values(row).execute()
  }
  await fillFigures(db)
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

async function fillFigures(db: Kysely<Filled>): Promise<void> {
  const groups = await db
    .selectFrom('airdrop_claims')
    .select(({ fn }) => [
      'genesis',
      'airdrop_id',
      sql<number>`count(*)`.as('claims'),
      fn.min('claimed_at').as('first_at'),
      fn.max('claimed_at').as('last_at'),
    ])
    .groupBy(['genesis', 'airdrop_id'])
    .execute()
  for (const { genesis, airdrop_id, claims, first_at, last_at } of groups) {
    const rows = db.selectFrom('airdrop_claims').select(['size', 'seq']).where('genesis', '=', genesis)
    const median = await rows
      .where('airdrop_id', '=', airdrop_id)
      .orderBy('size')
      .orderBy('seq')
      .limit(1)
      .offset(Math.floor((Number(claims) - 1) / 2))
      .executeTakeFirstOrThrow()
    await db
      .insertInto('airdrop_claim_figures')
      .values({
        ...{ genesis, airdrop_id, claims: Number(claims), median_size: median.size, median_seq: median.seq },
        ...{ first_at: Number(first_at), last_at: Number(last_at) },
      })
      .execute()
  }
}
