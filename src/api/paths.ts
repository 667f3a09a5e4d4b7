/** Method and path of every route as plain data, so that the client does not load a schema library. */

export type HttpMethod = 'get' | 'post' | 'patch' | 'delete'
export type RoutePath = readonly [HttpMethod, string]

export const paths = {
  service: {
    health: ['get', '/v2/health'],
    workers: ['get', '/v2/health/workers'],
    eventTypes: ['get', '/v2/webhook-event-types'],
    cluster: ['get', '/v2/cluster'],
  },
  pools: {
    create: ['post', '/v2/pools'],
    rehearse: ['post', '/v2/pool-rehearsals'],
    list: ['get', '/v2/pools'],
    get: ['get', '/v2/pools/{address}'],
    curveProgress: ['get', '/v2/pools/{address}/curve-progress'],
    feeMetrics: ['get', '/v2/pools/{address}/fee-metrics'],
    earnings: ['get', '/v2/pools/{address}/earnings'],
    verify: ['post', '/v2/pools/{address}/verifications'],
    swap: ['post', '/v2/pools/{address}/swaps'],
    transferCreator: ['post', '/v2/pools/{address}/creator-transfers'],
    presets: ['get', '/v2/pool-presets'],
    preview: ['get', '/v2/pool-presets/{name}/preview'],
    sharedConfig: ['get', '/v2/pool-presets/{name}/shared-config'],
    share: ['post', '/v2/pool-presets/{name}/shared-config'],
  },
  feeClaims: {
    create: ['post', '/v2/pools/{address}/fee-claims'],
    listByPool: ['get', '/v2/pools/{address}/fee-claims'],
    list: ['get', '/v2/fee-claims'],
  },
  feeSchedules: {
    create: ['post', '/v2/fee-schedules'],
    list: ['get', '/v2/fee-schedules'],
    get: ['get', '/v2/fee-schedules/{id}'],
    update: ['patch', '/v2/fee-schedules/{id}'],
    delete: ['delete', '/v2/fee-schedules/{id}'],
    runs: ['get', '/v2/fee-schedules/{id}/runs'],
    run: ['post', '/v2/fee-schedules/{id}/runs'],
  },
  airdrops: {
    create: ['post', '/v2/airdrops'],
    list: ['get', '/v2/airdrops'],
    get: ['get', '/v2/airdrops/{id}'],
    claim: ['post', '/v2/airdrops/{id}/claims'],
    entitlement: ['get', '/v2/airdrops/{id}/claims/{wallet}'],
    withdraw: ['post', '/v2/airdrops/{id}/vault-withdrawals'],
    lookup: ['get', '/v2/wallets/{wallet}/airdrops'],
  },
  merkleTrees: {
    create: ['post', '/v2/merkle-trees'],
    list: ['get', '/v2/merkle-trees'],
    get: ['get', '/v2/merkle-trees/{id}'],
    entries: ['get', '/v2/merkle-trees/{id}/entries'],
    proof: ['get', '/v2/merkle-trees/{id}/proofs/{wallet}'],
  },
  stakes: {
    create: ['post', '/v2/stakes'],
    release: ['delete', '/v2/stakes/{asset}'],
    list: ['get', '/v2/stakes'],
    get: ['get', '/v2/stakes/{asset}'],
    lookup: ['get', '/v2/wallets/{wallet}/stakes'],
  },
  nfts: {
    create: ['post', '/v2/nfts'],
    burn: ['delete', '/v2/nfts/{asset}'],
    list: ['get', '/v2/nfts'],
    get: ['get', '/v2/nfts/{asset}'],
  },
  collections: {
    create: ['post', '/v2/collections'],
    get: ['get', '/v2/collections/{address}'],
  },
  goldLocks: {
    create: ['post', '/v2/gold-locks'],
    unlock: ['delete', '/v2/gold-locks/{user}'],
    list: ['get', '/v2/gold-locks'],
    get: ['get', '/v2/gold-locks/{user}'],
    token: ['get', '/v2/gold-token'],
  },
  tokens: {
    create: ['post', '/v2/tokens'],
    list: ['get', '/v2/tokens'],
    get: ['get', '/v2/tokens/{mint}'],
    revokeAuthority: ['delete', '/v2/tokens/{mint}/authorities/{type}'],
  },
  tokenTransfers: {
    create: ['post', '/v2/token-transfers'],
    plan: ['post', '/v2/token-transfer-plans'],
  },
  transactions: {
    submit: ['post', '/v2/transactions'],
    get: ['get', '/v2/transactions/{signature}'],
    simulate: ['post', '/v2/transaction-simulations'],
    refresh: ['post', '/v2/transactions/refresh'],
  },
  accounts: {
    get: ['get', '/v2/accounts/{address}'],
    batchFetch: ['post', '/v2/accounts/batch-fetch'],
  },
  pdas: {
    derive: ['post', '/v2/pdas/{kind}'],
  },
  storage: {
    delegate: ['post', '/v2/storage/delegations'],
  },
  events: {
    list: ['get', '/v2/events'],
    verify: ['get', '/v2/event-verification'],
    get: ['get', '/v2/events/{id}'],
  },
  webhookSubscriptions: {
    create: ['post', '/v2/webhook-subscriptions'],
    list: ['get', '/v2/webhook-subscriptions'],
    get: ['get', '/v2/webhook-subscriptions/{id}'],
    update: ['patch', '/v2/webhook-subscriptions/{id}'],
    delete: ['delete', '/v2/webhook-subscriptions/{id}'],
    test: ['post', '/v2/webhook-subscriptions/{id}/test'],
    deliveries: ['get', '/v2/webhook-subscriptions/{id}/deliveries'],
    replay: ['post', '/v2/webhook-subscriptions/{id}/replays'],
    rotateSecret: ['post', '/v2/webhook-subscriptions/{id}/secret-rotations'],
  },
  signer: {
    get: ['get', '/v2/signer'],
    updatePolicy: ['patch', '/v2/signer/policy'],
    pause: ['post', '/v2/signer/pauses'],
    resume: ['post', '/v2/signer/resumptions'],
    reset: ['post', '/v2/signer/resets'],
    test: ['post', '/v2/signer/tests'],
  },
  ledger: {
    list: ['get', '/v2/ledger'],
    summary: ['get', '/v2/ledger/summary'],
    verify: ['get', '/v2/ledger/verification'],
  },
  auditEntries: {
    list: ['get', '/v2/audit-entries'],
    verify: ['get', '/v2/audit-verification'],
    cut: ['post', '/v2/audit-cuts'],
  },
  apiKeys: {
    create: ['post', '/v2/api-keys'],
    list: ['get', '/v2/api-keys'],
    revoke: ['delete', '/v2/api-keys/{id}'],
  },
} as const satisfies Record<string, Record<string, RoutePath>>
