/** The time of GET /v2/attention and of its figures in the metrics over the database of a large installation. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { countItems, findItems } from '../src/operations/attention/items.ts'
import { DATABASE_FILE } from '../src/settings/config.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { type Cost, costOf, type Measurement, medianOf } from './measurement.ts'

const MOST_MS = 10
const RUNS = 100
/** A page of the default size, and the item that says whether more follow. */
const PAGE = 21
const NOW = Date.UTC(2026, 10, 30)
const DAY = 86_400_000

/** The store alone, because the other parts of a request cost the same for every list. */
export async function attention(): Promise<Measurement[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  try {
    await (await openStore({ dataDir })).close()
    fill(join(dataDir, DATABASE_FILE))
    const store = await openStore({ dataDir })
    try {
      return await measured(store)
    } finally {
      await store.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

async function measured({ db }: Store): Promise<Measurement[]> {
  const wanted = { now: NOW, limit: PAGE, snoozed: false }
  const first = await findItems(db, wanted)
  const after = first.at(-1)?.place
  const works: [string, () => Promise<unknown>][] = [
    ['first page of what needs a person, 1,000,000 events', () => findItems(db, wanted)],
    ['its second page', () => findItems(db, { ...wanted, after })],
    ['its counts by kind', () => countItems(db, NOW)],
  ]
  const figures: Measurement[] = []
  for (const [name, work] of works) {
    const costs: Cost[] = []
    for (let run = 0; run < RUNS; run++) costs.push(await costOf(work))
    const [value, processor] = [medianOf(costs, 'wall'), medianOf(costs, 'processor')]
    const ratios = { ratio: value / MOST_MS, processor: processor / MOST_MS }
    figures.push({ name, value, unit: 'ms', ...ratios, floor: `${MOST_MS} ms` })
  }
  return figures
}

/** Of `n` from 1 to `rows`. */
const rowsOf = (rows: number) =>
  `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})`

/** Times spread over a year before now, the last row now. */
const at = (rows: number) => `${NOW} - (${rows} - n) * ${Math.floor((365 * DAY) / rows)}`

/** One in a hundred transactions fails, most of these are tried again; one in twenty receivers fails. */
function fill(file: string): void {
  const database = new Database(file)
  const insert = (rows: number, into: string, values: string) =>
    database.exec(`insert into ${into} ${rowsOf(rows)} select ${values} from numbers`)
  insert(
    1_000_000,
    'events (sequence, id, type, resource_type, resource_id, object_json, dedupe_key, latest_at, created_at)',
    `n, 'evt_' || n, 'transaction.confirmed', 'transaction', 'signature-' || (n / 3), '{}', n, ${at(1e6)}, ${at(1e6)}`,
  )
  insert(
    300_000,
    'transactions (signature, lifecycle, raw, err_json, slot, confirmations, tracked_id, bundle_id, created_at)',
    `'signature-' || n, case when n % 100 = 0 then 'failed' when n > 299900 then 'submitted' else 'finalized' end,
     randomblob(300), case when n % 100 = 0 then '"AccountNotFound"' end, n, 32,
     case when n % 10 < 5 then 'pool-' || (n / 1000) end, case when n % 1300 = 0 then 'bundle-' || n end, ${at(3e5)}`,
  )
  insert(
    100_000,
    'pools (address, type, base_mint, quote_mint, status, crank_failures, submitted_signature, created_at)',
    `'pool-' || n, 'dbc', 'mint-' || n, 'sol', case n % 1000 when 0 then 'migration_triggered' when 1 then 'pending'
     when 2 then 'failed' else 'migrated' end, n % 2000 = 0, 'signature-' || (3 * n), ${at(1e5)}`,
  )
  insert(
    10_000,
    'webhook_subscriptions (id, url, enabled_events_json, secret_preview, active, secret, disabled_reason, created_at, updated_at)',
    `'whs_' || n, 'https://example.com', '["*"]', 'abcd', n % 100 > 0, x'00',
     case when n % 100 = 0 then 'it failed' end, ${at(1e4)}, ${at(1e4)}`,
  )
  insert(
    200_000,
    'webhook_deliveries (id, subscription_id, event_id, status, attempt, created_at)',
    `'whd_' || n, 'whs_' || (n % 10000), 'evt_' || n, case when n % 2 = 0 then 'failed' else 'succeeded' end, 1, ${at(2e5)}`,
  )
  insert(
    5_000,
    'webhook_queue (subscription_id, event_id, sequence, resource, state, attempts, next_attempt_at, claimed_until)',
    `'whs_' || (n % 500 * 20), 'evt_' || n, n, 'r', case when n % 50 = 0 then 'held' else 'waiting' end, 1, ${NOW}, 0`,
  )
  insert(
    1_000,
    `proposals (id, kind, genesis, status, operation, what, message, message_sha256, approver_json, needed, created_at, updated_at)`,
    `'prp_' || n, 'squads', 'g', case n % 20 when 0 then 'active' when 1 then 'approved' else 'executed' end, 'o',
     'Send 1 SOL', x'00', 'h', '{}', 2, ${at(1e3)}, ${at(1e3)}`,
  )
  database.exec(`insert into signer_policies (signer, paused, policy_json, spend_since, spend_mark, updated_at)
    values ('signer', 0, '{"lamports_per_day":"1000000","tokens":[]}', 0, 0, ${NOW})`)
  insert(1_000, 'signer_spends (signing_id, signer, mint, amount, at)', `n, 'signer', '', '900', ${NOW} - n * 1000`)
  insert(
    10_000,
    'merkle_trees (id, mint, airdrop_count, root, leaf_count, total, list_sha256, status, created_at)',
    `'tree-' || n, 'mint-' || n, 0, 'r', 1, '1', 'h', case when n % 10 = 0 then 'tree_built' else 'claiming' end, ${at(1e4)}`,
  )
  insert(
    100,
    'sponsorships (airdrop_id, enabled, budget, used, created_by, updated_by, root, created_at, updated_at)',
    `'tree-' || n, 1, '1000', case when n % 10 = 0 then '999' else '1' end, 'k', 'k', 'r', ${NOW}, ${NOW}`,
  )
  insert(
    100_000,
    'sponsored_claims (id, airdrop_id, wallet, genesis, signing_id, lamports, fee, status, live, settled_at, created_at)',
    `'spc_' || n, 'tree-' || (n % 100 + 1), 'w' || n, 'g', 's', '10', '5', 'landed', 1, ${NOW}, ${at(1e5)}`,
  )
  database.exec('analyze')
  database.close()
}
