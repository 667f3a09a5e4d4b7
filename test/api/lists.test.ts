/** Every list: its page, its filters and what it refuses. */
import { describe, expect, it } from 'vitest'
import { listQuery } from '../../src/api/envelope.ts'
import { api } from '../../src/api/index.ts'
import { fault, lists } from './bodies.ts'

describe('a list', () => {
  it.each(lists)('%s takes a limit of 1 to 100, a cursor, and refuses any other field', (_, { query }) => {
    expect(query.parse({})).toMatchObject({ limit: 20 })
    expect(query.parse({ limit: '100', cursor: 'ab_-9' })).toMatchObject({ limit: 100, cursor: 'ab_-9' })
    expect(query.parse({ limit: '1' })).toMatchObject({ limit: 1 })
    for (const limit of ['0', '101', '1.5', '', 'x', '-1']) expect(fault(query, { limit }), limit).toBe('limit')
    expect(fault(query, { cursor: '' })).toBe('cursor')
    expect(fault(query, { cursor: 'a+b' })).toBe('cursor')
    expect(fault(query, { page: '2' })).toBe('page')
  })

  it('has the filters that the documents name', () => {
    const standard = Object.keys(listQuery({}).shape)
    const filters = lists.map(([name, { query }]) => [
      name,
      Object.keys(query.shape).filter((key) => !standard.includes(key)),
    ])
    expect(Object.fromEntries(filters)).toEqual({
      'pools.list': ['status', 'type', 'creator', 'mint', 'symbol'],
      'pools.trades': [],
      'pools.presets': [],
      'feeClaims.listByPool': ['kind', 'beneficiary'],
      'feeClaims.list': ['kind', 'beneficiary'],
      'feeSchedules.list': ['active'],
      'feeSchedules.runs': [],
      'airdrops.list': ['mint'],
      'airdrops.lookup': ['mint'],
      'airdrops.claims': [],
      'merkleTrees.list': ['mint'],
      'merkleTrees.entries': [],
      'holderSnapshots.list': ['address'],
      'holderSnapshots.holders': [],
      'stakes.list': ['owner', 'collection', 'status'],
      'nfts.list': ['owner', 'collection'],
      'goldLocks.list': ['user', 'status'],
      'locks.list': ['mint', 'recipient', 'creator'],
      'raises.list': ['mint', 'creator'],
      'proposals.list': ['kind', 'status', 'multisig'],
      'ledger.list': ['pool', 'mint', 'party', 'kind', 'account', 'created_after', 'created_before', 'signature'],
      'ledger.summary': ['by', 'pool', 'mint', 'party', 'kind', 'month'],
      'tokens.list': ['status', 'symbol'],
      'transactions.list': ['lifecycle', 'external_uid', 'resource_id', 'bundle_id'],
      'events.list': ['type', 'resource_type', 'resource_id', 'created_after', 'order'],
      'payRequests.list': [],
      'webhookSubscriptions.list': ['active'],
      'webhookSubscriptions.deliveries': ['status'],
      'auditEntries.list': ['action', 'order'],
      'apiKeys.list': [],
      'consoleSessions.list': [],
      'approvers.list': [],
      'attention.list': ['kind', 'subject', 'snoozed'],
    })
  })

  it('refuses a filter value outside its set', () => {
    expect(fault(api.pools.list.query, { status: 'dead' })).toBe('status')
    expect(fault(api.pools.list.query, { creator: 'x' })).toBe('creator')
    expect(fault(api.tokens.list.query, { status: 'burned' })).toBe('status')
    expect(fault(api.goldLocks.list.query, { status: 'staked' })).toBe('status')
    expect(fault(api.transactions.list.query, { lifecycle: 'pending' })).toBe('lifecycle')
    expect(fault(api.events.list.query, { type: 'pool' })).toBe('type')
    expect(fault(api.events.list.query, { order: 'up' })).toBe('order')
    expect(api.events.list.query!.parse({})).toMatchObject({ order: 'desc' })
  })

  it('accepts only the words true and false for a boolean', () => {
    const { query } = api.webhookSubscriptions.list
    expect(query!.parse({ active: 'true' })).toMatchObject({ active: true })
    expect(query!.parse({ active: 'false' })).toMatchObject({ active: false })
    for (const active of ['1', '0', 'TRUE', 'yes', '']) expect(fault(query, { active }), active).toBe('active')
  })
})
