/** One request of each operation, as the samples of the reference page show it. */
import type { Client } from '../../src/client.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'

const POOL = 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4'
const MINT = '9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY'
const WALLET = '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g'
const OTHER_WALLET = '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78'
const AIRDROP = '6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw'
const MERKLE_ROOT = '9c8448f94162666b80a3ae7732e0a1fd2ba1bce92918de2c02bdb9910ea5521f'
const DISTRIBUTOR = 'FR4HBTXWB87YK4gR98serDF9pUeJ3egkQfth4dGpBsrB'
const ASSET = 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222'
const COLLECTION = 'ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq'
const SIGNATURE = '2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY'
const SCHEDULE = 'fsc_5TgBn1Xe8WkRq3YvMz6JcH2s'
const SNAPSHOT = 'hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C'
const EVENT = 'evt_0Mh4sPqY7tLx2RzKc9BvDn6G'
const SUBSCRIPTION = 'whs_3kFz8NcR5uJq2XwTa9VbM7Hd'
const API_KEY = 'key_7vQ2mXr9LdT4sYb1WnGe6KpA'
const SPONSORED_CLAIM = 'spc_8LtQz5WmXc2RvYb7KdNe4JhF'
const SHA256 = '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef'
/** The first bytes of an image and of a transaction, in base64; the whole would fill the page. */
const [IMAGE, TRANSACTION] = ['iVBORw0KGgo=', 'AQAAAA==']

const launch = { creator: WALLET, name: 'My Token', symbol: 'MTK', image: IMAGE, buy_amount: 0.5 }
const transfer = { payer: WALLET, mint: MINT, recipients: [{ wallet: OTHER_WALLET, amount: '1000000' }] }

/** The inputs of the client for each operation: path, query and body in one object. */
type SampleRequests = {
  [N in keyof Client]: {
    [V in keyof Client[N]]: Client[N][V] extends (input: infer I, ...rest: never[]) => unknown
      ? Exclude<I, undefined>
      : never
  }
}

export const REQUESTS: SampleRequests = {
  service: { health: {}, workers: {}, cluster: {}, eventTypes: {} },
  pools: {
    create: launch,
    rehearse: launch,
    list: { limit: '20' },
    get: { address: POOL },
    curveProgress: { address: POOL },
    feeMetrics: { address: POOL },
    earnings: { address: POOL },
    verify: { address: POOL },
    swap: { address: POOL, payer: WALLET, side: 'buy', amount: '500000000' },
    transferCreator: { address: POOL, payer: WALLET, new_creator: OTHER_WALLET },
    presets: {},
    preview: { name: 'my-curve' },
    sharedConfig: { name: 'my-curve' },
    share: { name: 'my-curve', payer: WALLET },
  },
  feeClaims: { create: { address: POOL, payer: WALLET }, listByPool: { address: POOL }, list: { limit: '20' } },
  feeSchedules: {
    create: { cron: '0 6 * * *', kinds: ['dbc', 'damm_v2'] },
    list: {},
    get: { id: SCHEDULE },
    update: { id: SCHEDULE, cron: '0 */6 * * *' },
    delete: { id: SCHEDULE },
    runs: { id: SCHEDULE },
    run: { id: SCHEDULE },
  },
  airdrops: {
    create: { payer: WALLET, platform_id: 'season-1', mint: MINT, airdrop_count: 0, merkle_root: MERKLE_ROOT },
    list: { limit: '20' },
    get: { id: AIRDROP },
    stats: { id: AIRDROP },
    claims: { id: AIRDROP, limit: '20' },
    distributor: { address: DISTRIBUTOR },
    claim: { id: AIRDROP, claimer: WALLET, platform_id: 'season-1', amount: '1000000' },
    entitlement: { id: AIRDROP, wallet: WALLET },
    withdraw: { id: AIRDROP, amount: '1000000' },
    lookup: { wallet: WALLET },
  },
  sponsorships: {
    get: { id: AIRDROP },
    update: { id: AIRDROP, budget: '1500000000' },
    build: { id: AIRDROP, claimer: WALLET },
    submit: { id: AIRDROP, claim: SPONSORED_CLAIM, transaction: TRANSACTION },
  },
  merkleTrees: {
    create: { mint: MINT, entries: [{ wallet: WALLET, amount: '1000000' }], persist: true },
    list: { limit: '20' },
    get: { id: AIRDROP },
    entries: { id: AIRDROP },
    proof: { id: AIRDROP, wallet: WALLET },
  },
  holderSnapshots: {
    create: { mint: MINT },
    list: {},
    get: { id: SNAPSHOT },
    holders: { id: SNAPSHOT },
    piece: { id: SNAPSHOT, n: '0' },
  },
  stakes: {
    create: { user: WALLET, platform_id: 'season-1', asset: ASSET, collection: COLLECTION },
    release: { asset: ASSET, user: WALLET, platform_id: 'season-1', collection: COLLECTION },
    list: { limit: '20' },
    get: { asset: ASSET },
    lookup: { wallet: WALLET },
  },
  nfts: {
    create: {
      payer: WALLET,
      platform_id: 'season-1',
      collection: COLLECTION,
      name: 'Genesis #1',
      uri: 'https://example.com/1.json',
    },
    burn: { asset: ASSET, owner: WALLET, platform_id: 'season-1', collection: COLLECTION },
    list: { limit: '20' },
    get: { asset: ASSET },
  },
  collections: {
    create: { payer: WALLET, name: 'Genesis', uri: 'https://example.com/genesis.json' },
    get: { address: COLLECTION },
  },
  goldLocks: {
    create: { user: WALLET, platform_id: 'season-1', amount: '100000000', lock_duration_days: 30 },
    unlock: { user: WALLET, platform_id: 'season-1' },
    list: { limit: '20' },
    get: { user: WALLET },
    token: {},
  },
  tokens: {
    create: {
      payer: WALLET,
      name: 'My Token',
      symbol: 'MTK',
      initial_supply: '1000000000000',
      uri: 'https://example.com/mtk.json',
    },
    list: { limit: '20' },
    get: { mint: MINT },
    batchFetch: { mints: [WRAPPED_SOL, MINT] },
    revokeAuthority: { mint: MINT, type: 'freeze', payer: WALLET },
  },
  solTransfers: { create: { payer: WALLET, recipient: OTHER_WALLET, lamports: '1500000000' } },
  tokenTransfers: { create: transfer, plan: transfer },
  transactions: {
    submit: { transaction: TRANSACTION },
    refresh: { transactions: [TRANSACTION] },
    get: { signature: SIGNATURE },
    simulate: { transaction: TRANSACTION },
  },
  accounts: {
    get: { address: WALLET },
    batchFetch: { addresses: [WALLET, OTHER_WALLET] },
    balances: { wallet: WALLET },
  },
  pdas: { derive: { kind: 'ata', args: { owner: WALLET, mint: MINT } } },
  storage: { delegate: { agent_did: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' } },
  events: {
    verify: { since: '2026-11-20T00:00:00Z', until: '2026-11-21T00:00:00Z' },
    list: { limit: '20', type: 'pool.migrated' },
    get: { id: EVENT },
  },
  webhookSubscriptions: {
    create: { url: 'https://example.com/hooks', enabled_events: ['pool.live', 'airdrop.claimed'] },
    list: {},
    get: { id: SUBSCRIPTION },
    update: { id: SUBSCRIPTION, active: false },
    delete: { id: SUBSCRIPTION },
    test: { id: SUBSCRIPTION },
    deliveries: { id: SUBSCRIPTION },
    replay: { id: SUBSCRIPTION, since: '2026-11-21T00:00:00Z' },
    rotateSecret: { id: SUBSCRIPTION },
  },
  signer: {
    get: {},
    updatePolicy: { lamports_per_transaction: '500000000' },
    pause: {},
    resume: {},
    reset: {},
    test: {},
  },
  ledger: { list: { limit: '20' }, summary: { by: 'month' }, verify: {} },
  auditEntries: { list: { limit: '20' }, verify: {}, cut: { through: 1000, hash: SHA256 } },
  apiKeys: {
    create: { name: 'backend', scopes: ['airdrop:write'], rate_limit_per_minute: 600 },
    list: {},
    revoke: { id: API_KEY },
  },
}
