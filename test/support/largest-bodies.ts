/** Every write at its largest body: what the tests of its cost send. */
import { PublicKey } from '@solana/web3.js'
import { mountRoutes } from '../../daemon/routes/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import { A, B, HASH, MINIMAL, routes, U64_MAX } from '../api/bodies.ts'
import { runs } from './runs.ts'
import { entries, wallet } from './trees.ts'
import { largestV1 } from './version1.ts'

export const KIB = 1024
const MIB = 1024 * KIB
const TREE = 'A'.repeat(46)
/** Text in base64 of so many characters. */
const base64 = (characters: number) => 'QUJD'.repeat(Math.floor(characters / 4))
const repeat = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))
/** Wallets that have no account, so that an address is searched for each. */
const recipients = (count: number) => repeat(count, (n) => ({ wallet: wallet(n + 1_000), amount: '1' }))

/** One of version 1, as large and with as many signatures as there can be. None fits, which all are checked for. */
const TRANSACTION = (() => {
  const transaction = largestV1({ payer: new PublicKey(wallet(1)), blockhash: wallet(2) }, 11)
  return Buffer.from(transaction.fill(7, -12 * 64)).toString('base64')
})()

/** White space fills the body where the image of a sample is smaller. */
const IMAGE = base64(runs(0.1, 15.9) * MIB)

/** The most ranges of addresses that a key takes, each as long as it can be. */
const RANGES = repeat(32, (n) => `2001:db8:1111:2222:3333:4444:5555:${1000 + n}/128`)

interface Cost {
  /** What makes the least body the largest, beside `metadata` and `externalUid`. */
  largest: Record<string, unknown>
  /** What makes each of several requests store something. */
  vary?: (run: number) => Record<string, unknown>
  /** KiB that one such request may add to the database. */
  stores: number
  path?: (hook: string) => string
}

const hookPath = (path: string) => (hook: string) => path.replace('{id}', hook)

/** Every write; one that is added without its cost fails. */
export const COSTS: Record<string, Cost> = {
  'pools.create': { largest: { image: IMAGE, description: 'd'.repeat(500) }, stores: 64 },
  // Stores nothing. One that runs holds the event loop for a tenth of a second at a time, and some 40 MiB until it ends.
  'pools.rehearse': { largest: { image: IMAGE, description: 'd'.repeat(500) }, stores: 1 },
  'pools.verify': { largest: { transactions: repeat(10, () => TRANSACTION) }, stores: 64 },
  'pools.share': { largest: {}, stores: 64 },
  'pools.swap': { largest: { amount: U64_MAX }, stores: 64 },
  'pools.migrate': { largest: {}, stores: 64 },
  'pools.transferCreator': { largest: {}, stores: 64 },
  'pools.transferPositions': { largest: {}, stores: 64 },
  'positions.open': { largest: { amount_a: U64_MAX, amount_b: U64_MAX }, stores: 64 },
  'positions.add': { largest: { amount_a: U64_MAX, amount_b: U64_MAX }, stores: 64 },
  'positions.remove': { largest: { liquidity: String(2n ** 128n - 1n) }, stores: 64 },
  'positions.lock': { largest: { liquidity: String(2n ** 128n - 1n) }, stores: 64 },
  'positions.vest': { largest: { liquidity: String(2n ** 128n - 1n), cliff_slot: U64_MAX }, stores: 64 },
  'positions.close': { largest: {}, stores: 64 },
  'feeClaims.delegate': { largest: {}, stores: 64 },
  'feeClaims.create': { largest: { splits: repeat(10, (n) => ({ recipient: wallet(n), bps: 1000 })) }, stores: 64 },
  'feeSchedules.create': {
    largest: {
      cron: '0 6 * * *',
      splits: repeat(10, (n) => ({ recipient: wallet(n), bps: 1000 })),
      filter: { pools: repeat(100, wallet) },
    },
    stores: 64,
  },
  'feeSchedules.update': { largest: { filter: { pools: repeat(100, wallet) } }, stores: 64 },
  'feeSchedules.delete': { largest: {}, stores: 64 },
  'feeSchedules.run': { largest: {}, stores: 64 },
  'airdrops.create': { largest: { platform_id: 'p'.repeat(64), fund_amount: U64_MAX }, stores: 64 },
  'airdrops.claim': { largest: { proof: repeat(64, () => HASH) }, stores: 64 },
  'sponsorships.update': { largest: { budget: U64_MAX }, stores: 64 },
  'sponsorships.build': { largest: {}, stores: 64 },
  'sponsorships.submit': { largest: { transaction: TRANSACTION }, stores: 64 },
  'airdrops.withdraw': { largest: { admin: A, amount: U64_MAX }, stores: 64 },
  'merkleTrees.create': {
    largest: { entries: entries(runs(50, 50_000)).map((entry) => ({ ...entry, amount_locked: '7' })) },
    vary: (run) => ({ airdrop_count: run }),
    stores: 12 * KIB,
  },
  // Some 50 bytes a holder, of whom a node may show a million.
  'holderSnapshots.create': { largest: { mint: A, owners: 'off_curve', allow_confidential: true }, stores: 64 },
  'stakes.create': { largest: { platform_id: 'p'.repeat(64) }, stores: 64 },
  'stakes.release': { largest: { platform_id: 'p'.repeat(64) }, stores: 64 },
  'nfts.create': { largest: { uri: `https://example.com/${'u'.repeat(600)}` }, stores: 64 },
  'nfts.burn': { largest: { platform_id: 'p'.repeat(64) }, stores: 64 },
  'collections.transferAuthority': { largest: {}, stores: 64 },
  'collections.create': { largest: { uri: `https://example.com/${'u'.repeat(600)}` }, stores: 64 },
  'goldLocks.create': { largest: { platform_id: 'p'.repeat(64), amount: U64_MAX }, stores: 64 },
  'goldLocks.unlock': { largest: { platform_id: 'p'.repeat(64) }, stores: 64 },
  'locks.create': {
    largest: {
      ...{ cliff_amount: '1', frequency: 3_153_600_000, periods: 36, base: A, allow_programs: true },
      ...{ title: 't'.repeat(64), description: 'd'.repeat(200), amount: U64_MAX },
    },
    stores: 64,
  },
  'locks.claim': { largest: { amount: U64_MAX }, stores: 64 },
  'locks.cancel': { largest: {}, stores: 64 },
  'locks.changeRecipient': { largest: { allow_programs: true }, stores: 64 },
  'locks.entitle': { largest: { title: 't'.repeat(64), description: 'd'.repeat(200) }, stores: 64 },
  'locks.close': { largest: {}, stores: 64 },
  'tokens.create': { largest: { uri: `https://example.com/${'u'.repeat(180)}` }, stores: 64 },
  'tokens.batchFetch': {
    largest: {},
    // Mints that were never asked for, because the address of each one's metadata is searched for once.
    vary: (run) => ({ mints: repeat(100, (n) => wallet(10_000 + 100 * run + n)) }),
    stores: 64,
  },
  'tokens.transferAuthority': { largest: {}, stores: 64 },
  'tokens.revokeAuthority': { largest: {}, stores: 64 },
  'tokens.withdrawWithheld': { largest: { accounts: repeat(64, wallet), allow_programs: true }, stores: 64 },
  'tokens.harvestFees': { largest: { accounts: repeat(64, wallet) }, stores: 64 },
  'tokens.updateMetadata': {
    largest: { fields: repeat(16, (n) => ({ key: `k${n}`.padEnd(64, 'k'), value: 'v'.repeat(512) })) },
    stores: 64,
  },
  'tokens.updateExtensions': { largest: {}, stores: 64 },
  'tokens.mint': { largest: { amount: undefined, recipients: recipients(64) }, stores: 64 },
  'tokens.burn': { largest: { amount: undefined, holders: recipients(64) }, stores: 64 },
  'tokens.freeze': { largest: { wallet: undefined, wallets: repeat(64, wallet) }, stores: 64 },
  'tokens.thaw': { largest: {}, stores: 64 },
  'tokens.thawList': { largest: { wallets: repeat(64, wallet) }, stores: 64 },
  'tokens.pause': { largest: {}, stores: 64 },
  'tokens.resume': { largest: {}, stores: 64 },
  'tokens.close': { largest: {}, stores: 64 },
  'solTransfers.create': { largest: { lamports: U64_MAX, allow_programs: true }, stores: 64 },
  'tokenTransfers.create': { largest: { recipients: recipients(64) }, stores: 64 },
  'tokenTransfers.plan': { largest: { recipients: recipients(500) }, stores: 1 },
  'multisigs.create': { largest: {}, stores: 64 },
  'proposals.create': { largest: { transaction: TRANSACTION }, stores: 64 },
  'proposals.import': { largest: {}, stores: 64 },
  'proposals.approve': { largest: { signature: 's'.repeat(128) }, stores: 64 },
  'proposals.reject': { largest: { signature: 's'.repeat(128) }, stores: 64 },
  'proposals.cancel': { largest: { signature: 's'.repeat(128) }, stores: 64 },
  'proposals.execute': { largest: {}, stores: 64 },
  'proposals.reclaim': { largest: {}, stores: 64 },
  'proposals.renew': { largest: {}, stores: 64 },
  'raises.create': {
    largest: {
      ...{ quote_mint: B, creator: B, supply: U64_MAX, min: U64_MAX, max: U64_MAX, buyer_max: U64_MAX },
      pool: { quote_bps: 10_000, reserve: U64_MAX },
      allowlist: true,
    },
    stores: 64,
  },
  'raises.storeAllowlist': {
    largest: { entries: repeat(50_000, (n) => ({ wallet: wallet(n), cap: '1000000', round: 1 })) },
    stores: 64,
  },
  'raises.open': { largest: { root: HASH, url: `https://example.com/${'u'.repeat(230)}` }, stores: 64 },
  'raises.deposit': { largest: { cap: U64_MAX, proof: repeat(20, () => HASH), amount: U64_MAX }, stores: 64 },
  'raises.withdraw': { largest: { amount: U64_MAX }, stores: 64 },
  'raises.claim': { largest: {}, stores: 64 },
  'raises.refund': { largest: {}, stores: 64 },
  'raises.settle': { largest: { skip_pool: true }, stores: 64 },
  'rentReclaims.create': { largest: { close_empty: true }, stores: 64 },
  'transactions.submit': {
    largest: { transaction: undefined, bundle: true, signed_transactions: repeat(5, () => TRANSACTION) },
    stores: 64,
  },
  'transactions.refresh': {
    largest: { transactions: repeat(5, () => TRANSACTION), generated_keys: 'A'.repeat(4_096) },
    stores: 64,
  },
  'transactions.forecast': { largest: { transactions: repeat(5, () => TRANSACTION) }, stores: 64 },
  'transactions.simulate': { largest: { transaction: TRANSACTION }, stores: 64 },
  'transactions.batchFetch': { largest: { signatures: repeat(100, () => 'z'.repeat(90)) }, stores: 64 },
  'events.repair': { largest: { until: 99_999_999_999 }, stores: 64 },
  'ledger.repair': { largest: {}, stores: 64 },
  'accounts.batchFetch': { largest: { addresses: repeat(100, wallet) }, stores: 64 },
  'programs.check': { largest: {}, stores: 64 },
  'pdas.derive': { largest: { args: { user: A } }, stores: 64 },
  'storage.delegate': { largest: { agent_did: `did:key:z${'6'.repeat(1_000)}` }, stores: 64 },
  'payRequests.create': { largest: { expires_in: 604_800 }, stores: 64 },
  'payRequests.build': { largest: {}, stores: 64 },
  'payRequests.revoke': { largest: {}, stores: 64 },
  'webhookSubscriptions.create': {
    largest: { url: `https://example.com/${'u'.repeat(2_000)}`, enabled_events: ['*'] },
    stores: 64,
  },
  'webhookSubscriptions.update': { largest: {}, stores: 64, path: hookPath('/v2/webhook-subscriptions/{id}') },
  'webhookSubscriptions.delete': { largest: {}, stores: 64 },
  'webhookSubscriptions.test': { largest: {}, stores: 128, path: hookPath('/v2/webhook-subscriptions/{id}/test') },
  'webhookSubscriptions.replay': {
    largest: { event_ids: repeat(100, (n) => `evt_${n}`.padEnd(64, 'x')) },
    stores: 64,
    path: hookPath('/v2/webhook-subscriptions/{id}/replays'),
  },
  'webhookSubscriptions.rotateSecret': {
    largest: {},
    stores: 64,
    path: hookPath('/v2/webhook-subscriptions/{id}/secret-rotations'),
  },
  'signer.updatePolicy': {
    largest: {
      programs: repeat(64, wallet),
      destinations: repeat(1_000, wallet),
      tokens: repeat(256, (n) => ({ mint: wallet(n), per_transaction: U64_MAX, per_day: U64_MAX })),
      approvals: {
        needed: 16,
        approvers: repeat(64, wallet),
        expires_in: 2_592_000,
        rules: {
          tokens: repeat(64, (n) => ({ mint: wallet(n), per_transaction: U64_MAX, per_day: U64_MAX })),
          hours: { days: ['mon'], from: '00:00', to: '24:00', timezone: 'z'.repeat(64) },
        },
      },
    },
    stores: 512,
  },
  'auditEntries.cut': { largest: { file_sha256: HASH }, stores: 64 },
  'signer.pause': { largest: { reason: 'r'.repeat(200) }, stores: 256 },
  'signer.resume': { largest: {}, stores: 256 },
  'signer.reset': { largest: {}, stores: 256 },
  'signer.test': { largest: { memo: 'm'.repeat(200) }, stores: 256 },
  'apiKeys.create': {
    largest: {
      name: 'n'.repeat(100),
      scopes: Array(32).fill('fees:claim'),
      expires_in: 315_360_000,
      allow_ips: RANGES,
    },
    stores: 64,
  },
  'apiKeys.update': { largest: { expires_in: 315_360_000, allow_ips: RANGES }, stores: 64 },
  'apiKeys.rotate': { largest: { overlap_hours: 168 }, stores: 64 },
  'apiKeys.revoke': { largest: {}, stores: 64 },
  'approvers.add': { largest: { address: wallet(1), name: 'n'.repeat(100), api_key_id: 'k'.repeat(64) }, stores: 64 },
  'approvers.remove': { largest: {}, stores: 64 },
  'consoleSessions.link': { largest: {}, stores: 64 },
  'consoleSessions.end': { largest: {}, stores: 64 },
  'attention.snooze': { largest: { until: 1_800_000_000, reason: 'r'.repeat(200) }, stores: 64 },
}

/** The writes as the app mounts them. */
export async function mountedWrites(): Promise<AnyRoute[]> {
  const found: AnyRoute[] = []
  const mount = (route: AnyRoute) => void found.push(route)
  await mountRoutes(Object.assign(mount, { methodsOf: () => [] }) as never)
  return found.filter(({ method }) => method !== 'get')
}

export const nameOf = ({ method, path }: AnyRoute) =>
  routes.find(([, route]) => route.method === method && route.path === path)?.[0] ?? `${method} ${path}`

const METADATA = Object.fromEntries(repeat(32, (n) => [`k${n}`.padEnd(10, '-'), 'v'.repeat(490)]))

function largestBody(name: string, run = 0): Record<string, unknown> {
  const { largest, vary } = COSTS[name]!
  return { ...MINIMAL[name], externalUid: 'u'.repeat(128), metadata: METADATA, ...largest, ...vary?.(run) }
}

/** White space is as legal as anything else, and fills the body to its ceiling. */
export const largestText = (route: AnyRoute, run = 0): string =>
  JSON.stringify(largestBody(nameOf(route), run)).padEnd(ceilingOf(route))

export const ceilingOf = ({ large }: AnyRoute): number => (large ? 16 * MIB : 256 * KIB)

/** The address of the write, about the webhook subscription `hook` or another resource. */
export const urlOf = (route: AnyRoute, hook: string): string =>
  COSTS[nameOf(route)]!.path?.(hook) ??
  route.path
    .replace('{id}', route.path.startsWith('/v2/raises/') ? A : TREE)
    .replace('{kind}', 'gold_lock')
    .replace('{type}', 'mint')
    .replace(/\{\w+\}/g, A)
