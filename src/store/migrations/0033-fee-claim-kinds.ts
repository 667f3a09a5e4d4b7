/** Adds what was claimed, for whom and by whom to fee claims, and whose history an account is followed for. */
import type { Kysely } from 'kysely'
import type { SteppedMigration } from './dialect.ts'

/** Filters of the two lists of fee claims, each with an index of its own. */
const FILTERS = [['kind'], ['beneficiary'], ['kind', 'beneficiary']] as const

export function feeClaimKinds(): SteppedMigration {
  return {
    async up(db: Kysely<unknown>) {
      for (const name of ['kind', 'beneficiary', 'claimer']) {
        await db.schema.alterTable('fee_claims').addColumn(name, 'text').execute()
      }
      for (const columns of FILTERS.flatMap((filter) => [filter, ['pool_address', ...filter]])) {
        await db.schema
          .createIndex(`fee_claims_by_${columns.join('_')}`)
          .on('fee_claims')
          .columns([...columns, 'seq'])
          .execute()
      }
      await db.schema.alterTable('followed_accounts').addColumn('history_of', 'text').execute()
      await db.schema
        .createIndex('followed_accounts_by_history')
        .on('followed_accounts')
        .columns(['genesis', 'history_of', 'seq'])
        .execute()
    },
    fill: fillFromEvents,
  }
}

interface Earlier {
  events: { sequence: number; type: string; object_json: string }
  fee_claims: { id: string; pool_address: string; kind: string; beneficiary: string | null; claimer: string }
  pools: { address: string; creator: string | null }
}

const EVENTS_PER_PAGE = 500
const EVENT_TYPES = ['fee_claim.executed', 'fee_claim.split_executed'] as const

/**
 * The events have said kind and claimer from the beginning; where one was removed, its claim keeps none. A place is a
 * type and a sequence.
 */
async function fillFromEvents(untyped: Kysely<never>, after: string): Promise<string | null> {
  const db = untyped as Kysely<Earlier>
  const [at = 0, place = 0] = after === '' ? [] : after.split(' ').map(Number)
  const type = EVENT_TYPES[at]
  if (type === undefined) return null
  const rows = db.selectFrom('events').select(['sequence', 'object_json']).where('type', '=', type)
  const page = await rows.where('sequence', '>', place).orderBy('sequence').limit(EVENTS_PER_PAGE).execute()
  for (const { object_json } of page) await fillOne(db, JSON.parse(object_json))
  if (page.length === EVENTS_PER_PAGE) return `${at} ${page.at(-1)?.sequence}`
  return at + 1 < EVENT_TYPES.length ? `${at + 1} 0` : null
}

async function fillOne(db: Kysely<Earlier>, object: Record<string, unknown>): Promise<void> {
  const { id, kind, claimer, pool_address } = object
  if (typeof id !== 'string' || typeof kind !== 'string' || typeof claimer !== 'string') return
  const pools = db.selectFrom('pools').select('creator').where('address', '=', String(pool_address))
  const isCreators = kind === 'damm_v2' && (await pools.executeTakeFirst())?.creator === claimer
  // Only the partner's fees of a curve were told; of positions, those of other wallets than these two belong to neither.
  const beneficiary = kind !== 'damm_v2' ? 'partner' : isCreators ? 'creator' : null
  await db.updateTable('fee_claims').set({ kind, beneficiary, claimer }).where('id', '=', id).execute()
}
