/** Every path of the documents is a route, with its scopes, status and place in the OpenAPI document. */
import { describe, expect, it } from 'vitest'
import { DETECTION, EVENT_TYPES } from '../../src/api/event-types.ts'
import { api } from '../../src/api/index.ts'
import { openApiDocument } from '../../src/api/openapi.ts'
import { paths } from '../../src/api/paths.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import { A, fault, routes } from './bodies.ts'

describe('the routes', () => {
  it('are exactly the paths that the documents name', () => {
    const documented = `
      GET /v2/health
      GET /v2/health/workers
      GET /v2/webhook-event-types
      GET /v2/cluster
      POST /v2/pools
      GET /v2/pools
      GET /v2/pools/{address}
      GET /v2/pools/{address}/curve-progress
      GET /v2/pools/{address}/earnings
      GET /v2/pools/{address}/trades
      GET /v2/pools/{address}/fee-metrics
      POST /v2/pools/{address}/fee-claims
      POST /v2/pools/{address}/fee-delegations
      GET /v2/pools/{address}/fee-delegations
      GET /v2/pools/{address}/fee-claims
      POST /v2/pools/{address}/verifications
      POST /v2/pools/{address}/swaps
      POST /v2/pools/{address}/creator-transfers
      POST /v2/pools/{address}/position-transfers
      GET /v2/pools/{address}/positions
      POST /v2/pools/{address}/positions
      POST /v2/pools/{address}/positions/{position}/additions
      POST /v2/pools/{address}/positions/{position}/removals
      POST /v2/pools/{address}/positions/{position}/locks
      POST /v2/pools/{address}/positions/{position}/vestings
      POST /v2/pools/{address}/positions/{position}/closings
      POST /v2/pools/{address}/migrations
      GET /v2/pool-presets
      GET /v2/pool-presets/{name}/preview
      GET /v2/pool-presets/{name}/shared-config
      POST /v2/pool-presets/{name}/shared-config
      POST /v2/pool-rehearsals
      GET /v2/fee-claims
      POST /v2/fee-schedules
      GET /v2/fee-schedules
      GET /v2/fee-schedules/{id}
      PATCH /v2/fee-schedules/{id}
      DELETE /v2/fee-schedules/{id}
      GET /v2/fee-schedules/{id}/runs
      POST /v2/fee-schedules/{id}/runs
      GET /v2/airdrops
      POST /v2/airdrops
      GET /v2/airdrops/{id}
      GET /v2/airdrops/{id}/stats
      GET /v2/airdrops/{id}/claims
      GET /v2/airdrops/{id}/unclaimed
      POST /v2/airdrops/{id}/claims
      POST /v2/airdrops/{id}/vault-withdrawals
      GET /v2/airdrops/{id}/sponsorship
      PATCH /v2/airdrops/{id}/sponsorship
      POST /v2/airdrops/{id}/sponsored-claims
      POST /v2/airdrops/{id}/sponsored-claims/{claim}/submissions
      GET /v2/wallets/{wallet}/airdrops
      GET /v2/merkle-trees
      POST /v2/merkle-trees
      GET /v2/merkle-trees/{id}
      GET /v2/merkle-trees/{id}/entries
      GET /v2/merkle-trees/{id}/proofs/{wallet}
      GET /v2/holder-snapshots
      POST /v2/holder-snapshots
      GET /v2/holder-snapshots/{id}
      GET /v2/holder-snapshots/{id}/holders
      GET /v2/holder-snapshots/{id}/pieces/{n}
      POST /v2/stakes
      DELETE /v2/stakes/{asset}
      GET /v2/stakes
      GET /v2/stakes/{asset}
      GET /v2/wallets/{wallet}/stakes
      POST /v2/nfts
      DELETE /v2/nfts/{asset}
      GET /v2/nfts
      GET /v2/nfts/{asset}
      POST /v2/collections
      PUT /v2/collections/{address}/update-authority
      GET /v2/collections/{address}
      POST /v2/gold-locks
      DELETE /v2/gold-locks/{user}
      GET /v2/gold-locks
      GET /v2/gold-locks/{user}
      GET /v2/gold-token
      POST /v2/locks
      GET /v2/locks
      GET /v2/locks/{address}
      POST /v2/locks/{address}/claims
      DELETE /v2/locks/{address}
      PUT /v2/locks/{address}/recipient
      PUT /v2/locks/{address}/title
      POST /v2/locks/{address}/closings
      POST /v2/tokens
      GET /v2/tokens
      GET /v2/tokens/{mint}
      GET /v2/tokens/{mint}/report
      POST /v2/tokens/batch-fetch
      PUT /v2/tokens/{mint}/authorities/{type}
      DELETE /v2/tokens/{mint}/authorities/{type}
      POST /v2/tokens/{mint}/withheld-withdrawals
      POST /v2/tokens/{mint}/harvests
      PATCH /v2/tokens/{mint}/extensions
      POST /v2/tokens/{mint}/mints
      POST /v2/tokens/{mint}/burns
      POST /v2/tokens/{mint}/freezes
      DELETE /v2/tokens/{mint}/freezes/{wallet}
      DELETE /v2/tokens/{mint}/freezes
      PUT /v2/tokens/{mint}/pause
      DELETE /v2/tokens/{mint}/pause
      DELETE /v2/tokens/{mint}
      PATCH /v2/tokens/{mint}
      GET /v2/airdrops/{id}/claims/{wallet}
      GET /v2/distributors/{address}
      POST /v2/multisigs
      GET /v2/multisigs/{address}
      POST /v2/proposals
      POST /v2/proposals/imports
      GET /v2/proposals
      GET /v2/proposals/{id}
      GET /v2/proposals/{id}/forecast
      POST /v2/proposals/{id}/approvals
      POST /v2/proposals/{id}/rejections
      POST /v2/proposals/{id}/cancellations
      POST /v2/proposals/{id}/executions
      POST /v2/proposals/{id}/reclaims
      POST /v2/proposals/{id}/renewals
      POST /v2/raises
      GET /v2/raises
      GET /v2/raises/{id}
      GET /v2/raises/{id}/buyers/{wallet}
      POST /v2/raises/{id}/allowlist
      POST /v2/raises/{id}/openings
      POST /v2/raises/{id}/deposits
      POST /v2/raises/{id}/withdrawals
      POST /v2/raises/{id}/claims
      POST /v2/raises/{id}/refunds
      POST /v2/raises/{id}/settlements
      POST /v2/rent-reclaims
      POST /v2/sol-transfers
      POST /v2/token-transfers
      POST /v2/token-transfer-plans
      POST /v2/pay-requests
      GET /v2/pay-requests
      GET /v2/pay-requests/{id}
      POST /v2/pay-requests/{id}/transactions
      DELETE /v2/pay-requests/{id}
      POST /v2/transactions
      GET /v2/transactions
      GET /v2/transactions/{signature}
      GET /v2/transactions/{signature}/balance-changes
      GET /v2/transactions/{signature}/content
      POST /v2/transaction-simulations
      POST /v2/transactions/batch-fetch
      POST /v2/transactions/refresh
      POST /v2/transaction-forecasts
      GET /v2/accounts/{address}
      POST /v2/accounts/batch-fetch
      GET /v2/wallets/{wallet}/balances
      POST /v2/pdas/{kind}
      POST /v2/storage/delegations
      GET /v2/events
      GET /v2/events/{id}
      POST /v2/webhook-subscriptions
      GET /v2/webhook-subscriptions
      GET /v2/webhook-subscriptions/{id}
      PATCH /v2/webhook-subscriptions/{id}
      DELETE /v2/webhook-subscriptions/{id}
      POST /v2/webhook-subscriptions/{id}/test
      GET /v2/webhook-subscriptions/{id}/deliveries
      GET /v2/webhook-subscriptions/{id}/deliveries/{delivery_id}
      GET /v2/webhook-subscriptions/{id}/stats
      POST /v2/webhook-subscriptions/{id}/replays
      POST /v2/webhook-subscriptions/{id}/secret-rotations
      GET /v2/signer
      PATCH /v2/signer/policy
      POST /v2/signer/pauses
      POST /v2/signer/resumptions
      POST /v2/signer/resets
      POST /v2/signer/tests
      GET /v2/programs
      POST /v2/program-checks
      GET /v2/event-verification
      POST /v2/event-repairs
      GET /v2/ledger
      GET /v2/ledger/summary
      GET /v2/ledger/verification
      POST /v2/ledger/repairs
      DELETE /v2/approvers/{address}
      GET /v2/approvers
      POST /v2/approvers
      GET /v2/attention
      POST /v2/attention/{id}/snooze
      GET /v2/audit-entries
      GET /v2/audit-verification
      POST /v2/audit-cuts
      POST /v2/api-keys
      GET /v2/api-keys
      PATCH /v2/api-keys/{id}
      POST /v2/api-keys/{id}/rotations
      DELETE /v2/api-keys/{id}
      POST /v2/console/links
      GET /v2/console/sessions
      DELETE /v2/console/sessions/{id}`
      .trim()
      .split('\n')
      .map((line) => line.trim())
    const declared = routes.map(([, { method, path }]) => `${method.toUpperCase()} ${path}`)
    expect(declared.toSorted()).toEqual(documented.toSorted())
  })

  it('have the names and paths of `paths`', () => {
    for (const [name, route] of routes) {
      const [noun, verb] = name.split('.') as [keyof typeof paths, never]
      expect(route.at, name).toEqual(paths[noun][verb])
    }
    expect(routes).toHaveLength(Object.values(paths).flatMap((verbs) => Object.keys(verbs)).length)
  })

  it('declare exactly the parameters of their path', () => {
    for (const [name, { path, params }] of routes) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param)
      expect(Object.keys(params?.shape ?? {}), name).toEqual(named)
    }
  })

  it('never use one name for both a path parameter and a field', () => {
    for (const [name, { params, query, body }] of routes) {
      const names = [params, query, body].flatMap((schema) => Object.keys(schema?.shape ?? {}))
      expect(new Set(names).size, name).toBe(names.length)
    }
  })

  it('refuse mode signed if only the user may sign, and require the documented scopes', () => {
    const by = (pick: (route: AnyRoute) => unknown) =>
      Object.fromEntries(routes.flatMap(([name, route]) => (pick(route) === undefined ? [] : [[name, pick(route)]])))
    expect(by(({ signed }) => signed)).toEqual({
      'pools.create': '*',
      'pools.swap': 'refused',
      'pools.migrate': 'refused',
      'pools.transferCreator': 'refused',
      'pools.transferPositions': 'refused',
      'pools.share': 'refused',
      'positions.open': '*',
      'positions.add': '*',
      'positions.remove': '*',
      'positions.lock': '*',
      'positions.vest': '*',
      'positions.close': '*',
      'feeClaims.create': 'fees:claim',
      'feeClaims.delegate': 'fees:claim',
      'airdrops.create': 'airdrop:admin',
      'airdrops.claim': 'refused',
      'stakes.create': 'refused',
      'stakes.release': 'refused',
      'nfts.create': 'refused',
      'nfts.burn': 'refused',
      'collections.create': 'refused',
      'collections.transferAuthority': 'refused',
      'goldLocks.create': 'refused',
      'goldLocks.unlock': 'refused',
      'locks.create': '*',
      'locks.claim': '*',
      'locks.cancel': '*',
      'locks.changeRecipient': '*',
      'locks.entitle': '*',
      'locks.close': '*',
      'tokens.create': 'refused',
      'tokens.transferAuthority': '*',
      'tokens.revokeAuthority': 'refused',
      'tokens.withdrawWithheld': '*',
      'tokens.harvestFees': '*',
      'tokens.updateExtensions': '*',
      'tokens.updateMetadata': '*',
      'tokens.mint': '*',
      'tokens.burn': '*',
      'tokens.freeze': '*',
      'tokens.thaw': '*',
      'tokens.thawList': '*',
      'tokens.pause': '*',
      'tokens.resume': '*',
      'tokens.close': '*',
      'solTransfers.create': 'refused',
      'tokenTransfers.create': 'airdrop:admin',
      'raises.create': '*',
      'raises.open': '*',
      'raises.deposit': 'refused',
      'raises.withdraw': 'refused',
      'raises.claim': 'refused',
      'raises.refund': 'refused',
      'raises.settle': '*',
      'rentReclaims.create': '*',
      'multisigs.create': 'refused',
      'proposals.create': '*',
      'proposals.approve': '*',
      'proposals.reject': '*',
      'proposals.cancel': '*',
      'proposals.execute': '*',
      'proposals.reclaim': '*',
      'proposals.renew': '*',
    })
    expect(by(({ scope }) => scope)).toEqual({
      'feeSchedules.create': 'fees:claim',
      'feeSchedules.update': 'fees:claim',
      'feeSchedules.delete': 'fees:claim',
      'feeSchedules.run': 'fees:claim',
      'airdrops.withdraw': 'airdrop:admin',
      'sponsorships.update': 'airdrop:admin',
      'sponsorships.build': 'airdrop:admin',
      'sponsorships.submit': 'airdrop:admin',
      'merkleTrees.create': 'airdrop:write',
      'holderSnapshots.create': 'airdrop:write',
      'raises.storeAllowlist': 'airdrop:write',
      'storage.delegate': 'storage:delegate',
      'events.verify': '*',
      'events.repair': '*',
      'ledger.repair': '*',
      'signer.get': '*',
      'signer.updatePolicy': '*',
      'programs.check': '*',
      'signer.pause': '*',
      'signer.resume': '*',
      'signer.reset': '*',
      'signer.test': '*',
      'auditEntries.list': '*',
      'auditEntries.verify': '*',
      'approvers.add': '*',
      'approvers.list': '*',
      'approvers.remove': '*',
      'auditEntries.cut': '*',
      'consoleSessions.link': '*',
      'consoleSessions.list': '*',
      'consoleSessions.end': '*',
      'attention.snooze': '*',
      'apiKeys.create': '*',
      'apiKeys.list': '*',
      'apiKeys.update': '*',
      'apiKeys.rotate': '*',
      'apiKeys.revoke': '*',
    })
    expect(by((route) => route.public)).toEqual({ 'service.health': true, 'service.eventTypes': true })
  })

  it('answer 201 if a resource is stored', () => {
    const created = routes.filter(([, { status }]) => status === 201).map(([name]) => name)
    expect(created.toSorted()).toEqual([
      'apiKeys.create',
      'approvers.add',
      'consoleSessions.link',
      'feeSchedules.create',
      'feeSchedules.run',
      'holderSnapshots.create',
      'merkleTrees.create',
      'payRequests.create',
      'pools.create',
      'proposals.create',
      'proposals.import',
      'proposals.renew',
      'raises.storeAllowlist',
      'webhookSubscriptions.create',
    ])
  })

  it('make one OpenAPI document with each path and each record as a component', () => {
    const document = openApiDocument()
    expect(Object.keys(document.paths ?? {}).toSorted()).toEqual(
      [...new Set(routes.map(([, { path }]) => path))].toSorted(),
    )
    expect(Object.keys(document.components?.schemas ?? {})).toEqual(
      expect.arrayContaining([
        'Pool',
        'FeeClaim',
        'Airdrop',
        'MerkleTree',
        'Stake',
        'Nft',
        'GoldLock',
        'Token',
        'Transaction',
        'Account',
        'Event',
        'WebhookSubscription',
        'ApiKey',
        'Error',
        'WebhookPayload',
      ]),
    )
    const pool = document.components?.schemas?.Pool as { required: string[]; properties: Record<string, object> }
    expect(pool.required).toEqual(Object.keys(pool.properties))
    expect(pool.properties.address).toMatchObject({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' })
  })
})

describe('path parameters', () => {
  it('are checked like fields', () => {
    expect(fault(api.pools.get.params, { address: 'z'.repeat(44) })).toBe('address')
    expect(fault(api.tokens.revokeAuthority.params, { mint: A, type: 'close' })).toBe('type')
    for (const type of ['mint', 'freeze', 'metadata']) {
      expect(fault(api.tokens.revokeAuthority.params, { mint: A, type })).toBeUndefined()
    }
    expect(fault(api.transactions.get.params, { signature: '1'.repeat(42) })).toBe('signature')
    expect(fault(api.transactions.get.params, { signature: '1'.repeat(43) })).toBeUndefined()
    expect(fault(api.transactions.get.params, { signature: '1'.repeat(90) })).toBeUndefined()
    expect(fault(api.transactions.get.params, { signature: '1'.repeat(91) })).toBe('signature')
    expect(fault(api.airdrops.get.params, { id: 'A'.repeat(46) })).toBeUndefined()
    expect(fault(api.airdrops.get.params, { id: 'A'.repeat(45) })).toBe('id')
  })
})

describe('the event catalogue', () => {
  it('is the closed set of 31 types that subscriptions and filters accept', () => {
    expect(EVENT_TYPES).toHaveLength(31)
    expect(EVENT_TYPES.filter((type) => type.startsWith('fee_claim.'))).toEqual([
      'fee_claim.executed',
      'fee_claim.split_executed',
    ])
  })

  it('says for each event what detects it', () => {
    expect(Object.keys(DETECTION)).toEqual([...EVENT_TYPES])
    const by = (detection: string) => EVENT_TYPES.filter((type) => DETECTION[type] === detection)
    expect(by('synchronous')).toEqual([
      'pool.created',
      'airdrop.tree_built',
      'transaction.submitted',
      'webhook.test_event',
    ])
    expect(by('polling_required')).toEqual([
      'pool.migration_triggered',
      'pool.migrated',
      'pool.failed',
      'airdrop.fully_claimed',
      'gold.unlock_eligible',
    ])
    expect(by('tx_confirmed')).toHaveLength(22)
  })
})
