/** Every limit that the documents state, at both edges. */
import { describe, expect, it } from 'vitest'
import { EVENT_TYPES } from '../../src/api/event-types.ts'
import { FEE_CLAIM_KINDS } from '../../src/api/fee-claims.ts'
import { wallet } from '../support/trees.ts'
import { A, bodyFault, DID, HASH, TX, U64_MAX } from './bodies.ts'

/** Base64 of 4,096 bytes, as many as a transaction of version 1 has, and of more. */
const [TX_LARGEST, TX_BEYOND] = [4_096, 4_099].map((bytes) => Buffer.alloc(bytes, 7).toString('base64'))

/** Recipients of a transfer, each another wallet. */
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ wallet: wallet(i + 1), amount: '1' }))

/** Texts that are neither an address nor a range. */
const NO_RANGES = [
  ...['', '/8', '203.0.113', '203.0.113.0/', '203.0.113.0/-1', '203.0.113.0/24/1', '010.0.0.1', 'example.com'],
  ...['2001:db8::/129', 'fe80::1%eth0', '::ffff:10.0.0.0/95', '1'.repeat(65)],
]

/** Route, field, values that pass, values that do not (and where the fault is, unless at the field). */
const LIMITS: [string, string, unknown[], (unknown | [unknown, string])[]][] = [
  ['pools.create', 'type', ['dbc', 'damm_v2'], ['cpmm']],
  ['pools.create', 'creator', [A], ['0'.repeat(32), 'abc', 1, 'z'.repeat(44)]],
  ['pools.create', 'name', ['a', 'a'.repeat(20), 'My Token 2'], ['', 'a'.repeat(21), 'tab\t', 'né']],
  ['pools.create', 'symbol', ['a', 'A1'.repeat(5)], ['', 'A'.repeat(11), 'A B']],
  ['pools.create', 'description', ['', 'x'.repeat(500)], ['x'.repeat(501)]],
  ['pools.create', 'image', ['AQID', 'AQ=='], ['', 'AQ', 'not base64!']],
  ['pools.create', 'buy_amount', [0, 0.5, 18446744073], [-0.1, '1', 18446744074, Number.POSITIVE_INFINITY]],
  ['pools.create', 'website', ['https://example.com'], ['example', '']],
  ['pools.create', 'twitter_url', ['https://x.com/a'], ['@a']],
  ['pools.create', 'telegram', ['https://t.me/a'], ['t.me/a']],
  ['pools.create', 'loot_from', ['', 'x'.repeat(100)], ['x'.repeat(101)]],
  ['pools.verify', 'transactions', [[], [TX]], [[['!'], 'transactions.0'], [[TX_BEYOND], 'transactions.0'], 'AQID']],
  ['feeClaims.create', 'kind', [...FEE_CLAIM_KINDS], ['all']],
  ['feeClaims.create', 'beneficiary', ['partner', 'creator', undefined], ['protocol', null]],
  ['airdrops.create', 'airdrop_count', [0, 65535], [-1, 65536, 0.5, '0']],
  ['airdrops.create', 'platform_id', ['x', 'x'.repeat(64)], ['', 'x'.repeat(65)]],
  ['airdrops.create', 'merkle_root', [HASH, `0x${HASH}`, HASH.toUpperCase()], ['ab', `${HASH}0`, `0X${HASH}`]],
  ['airdrops.create', 'fund_amount', ['0', U64_MAX], ['18446744073709551616', 1, '-1']],
  ['airdrops.create', 'clawback_after_days', [1, 3650], [0, 3651, 1.5]],
  ['airdrops.claim', 'amount', ['1', 1, 'ignored', 1.5], [null, ['1'], undefined]],
  ['airdrops.claim', 'proof', [[], [HASH, `0x${HASH}`]], [[[HASH, 'x'], 'proof.1'], HASH]],
  ['airdrops.claim', 'platform_fee', [0, 5000], [-1, 0.5, '1']],
  ['airdrops.claim', 'swap_to_sol', [true, false], ['true']],
  ['airdrops.withdraw', 'amount', ['0', U64_MAX], ['', '1.5', 1, '18446744073709551616']],
  ['sponsorships.update', 'budget', ['0', U64_MAX, undefined], ['', '1.5', 1, '18446744073709551616', null]],
  ['sponsorships.update', 'enabled', [true, false, undefined], ['true', null]],
  ['sponsorships.build', 'claimer', [A], ['x', null, undefined]],
  ['sponsorships.submit', 'transaction', [TX], ['', null, undefined]],
  ['airdrops.withdraw', 'admin', [A, undefined], ['x', null]],
  ['merkleTrees.create', 'airdrop_count', [0, 65535], [-1, 65536]],
  ['merkleTrees.create', 'decimals', [0, 18], [-1, 19]],
  [
    'merkleTrees.create',
    'entries',
    [Array(50000).fill({ wallet: A, amount: '1' })],
    [
      [],
      Array(50001).fill({ wallet: A, amount: '1' }),
      [
        [
          { wallet: A, amount: '1' },
          { wallet: 'x', amount: '1' },
        ],
        'entries.1.wallet',
      ],
    ],
  ],
  ['holderSnapshots.create', 'mint', [A], ['x', null, [A, 'mint'], [undefined, 'mint']]],
  ['holderSnapshots.create', 'owners', ['all', 'off_curve', undefined], ['none', null]],
  ['stakes.create', 'platform_id', ['x', 'x'.repeat(64)], ['', 'x'.repeat(65)]],
  ['stakes.create', 'platform_fee', [0, 1], [-1]],
  ['stakes.release', 'platform_fee', [0, 1], [-1]],
  ['nfts.create', 'name', ['x', 'x'.repeat(64)], ['', 'x'.repeat(65)]],
  ['nfts.create', 'uri', ['https://example.com/1.json', 'ar://x'], ['x', '']],
  ['goldLocks.create', 'lock_duration_days', [1, 1460], [0, 1461, 1.5, '1']],
  ['goldLocks.create', 'amount', ['1', U64_MAX], ['0', '', 'a', '18446744073709551616', 1]],
  ['goldLocks.unlock', 'platform_id', ['x', 'x'.repeat(64)], ['', 'x'.repeat(65)]],
  [
    'tokenTransfers.create',
    'recipients',
    [many(1), many(64)],
    [
      [],
      many(65),
      [[...many(2), ...many(1)], 'recipients.2.wallet'],
      [[{ wallet: A, amount: '0' }], 'recipients.0.amount'],
      [[{ wallet: A, amount: 1 }], 'recipients.0.amount'],
    ],
  ],
  ['solTransfers.create', 'lamports', ['1', 'all', U64_MAX], ['0', '', 'ALL', '1.5', '18446744073709551616', 1]],
  ['tokenTransfers.plan', 'recipients', [many(1), many(500)], [many(501)]],
  ['tokenTransfers.plan', 'airdrop_id', ['A'.repeat(46), undefined], ['A'.repeat(45)]],
  ['tokens.create', 'name', ['x', 'x'.repeat(20)], ['', 'x'.repeat(21), 'x-y']],
  ['tokens.create', 'symbol', ['x', 'x'.repeat(10), '$'], ['', 'x'.repeat(11), '€€€€']],
  ['tokens.create', 'decimals', [0, 9], [-1, 10, '6']],
  ['tokens.create', 'initial_supply', ['0', '1', U64_MAX], ['', '1.0', 1, '18446744073709551616']],
  ['tokens.create', 'uri', ['https://example.com', `ipfs://${'x'.repeat(193)}`], ['x', `ipfs://${'x'.repeat(194)}`]],
  ['tokens.create', 'token_program', ['spl', 'token2022'], ['token-2022']],
  ['transactions.submit', 'max_retries', [0, 10], [-1, 11, 1.5]],
  ['transactions.submit', 'transaction', [TX, TX_LARGEST], ['', '!', 1, TX_BEYOND]],
  [
    'transactions.refresh',
    'transactions',
    [[TX], Array(5).fill(TX_LARGEST)],
    [[], Array(6).fill(TX), [[TX_BEYOND], 'transactions.0'], TX],
  ],
  ['transactions.refresh', 'generated_keys', ['A', 'A'.repeat(4_096)], ['', 'A'.repeat(4_097), 'A=', 1]],
  [
    'transactions.forecast',
    'transactions',
    [[TX], Array(5).fill(TX_LARGEST)],
    [[], Array(6).fill(TX), [[TX_BEYOND], 'transactions.0'], TX],
  ],
  ['transactions.simulate', 'transaction', [TX, TX_LARGEST], ['', '!', 1, TX_BEYOND]],
  ['accounts.batchFetch', 'addresses', [[A], Array(100).fill(A)], [[], Array(101).fill(A), [[A, 'x'], 'addresses.1']]],
  ['tokens.batchFetch', 'mints', [[A], Array(100).fill(A)], [[], Array(101).fill(A), [[A, 'x'], 'mints.1']]],
  ['storage.delegate', 'agent_did', [DID], ['', 'did:web:example.com', 'did:key:', 'did:key:z0']],
  [
    'webhookSubscriptions.create',
    'url',
    ['https://example.com/a', 'http://127.0.0.1:1/'],
    ['ftp://a', 'x', 'https://me:secret@example.com', `https://example.com/${'x'.repeat(2030)}`],
  ],
  [
    'webhookSubscriptions.create',
    'enabled_events',
    [['*'], ['pool.live'], [...EVENT_TYPES]],
    [[], '*', ['*', 'pool.live'], [['pool.live', 'pool.lives'], 'enabled_events.1']],
  ],
  ['webhookSubscriptions.update', 'active', [true, false], ['true', null]],
  [
    'webhookSubscriptions.replay',
    'event_ids',
    [['a'], Array(100).fill('a')],
    [[], Array(101).fill('a'), [['a', ''], 'event_ids.1']],
  ],
  ['webhookSubscriptions.rotateSecret', 'overlap_hours', [0, 168], [-1, 169, 0.5]],
  ['apiKeys.create', 'name', ['x', 'x'.repeat(100)], ['', 'x'.repeat(101)]],
  [
    'apiKeys.create',
    'scopes',
    [[], ['*'], ['fees:claim', 'airdrop:admin', 'airdrop:write', 'storage:delegate']],
    [[['fees:claim', 'admin'], 'scopes.1']],
  ],
  ['apiKeys.create', 'rate_limit_per_minute', [1, 100000], [0, 1.5]],
  ['apiKeys.create', 'rate_limit_per_day', [1, 100000], [0, null]],
  ['apiKeys.create', 'expires_in', [60, 315_360_000], [59, 315_360_001, 60.5, '90d', null]],
  ['apiKeys.update', 'expires_in', [60, 315_360_000, null], [59, 315_360_001]],
  ['apiKeys.rotate', 'overlap_hours', [0, 168], [-1, 169, 0.5]],
  [
    'apiKeys.create',
    'allow_ips',
    [[], Array(32).fill('203.0.113.7'), ['0.0.0.0/0', '2001:db8::/32', '::/0', '10.1.2.3/32', '::ffff:10.0.0.0/104']],
    [
      Array(33).fill('203.0.113.7'),
      null,
      [['203.0.113.7', '203.0.113.0/33'], 'allow_ips.1'],
      ...NO_RANGES.map((wrong): [string[], string] => [[wrong], 'allow_ips.0']),
    ],
  ],
]

describe('a limit', () => {
  it.each(LIMITS)('of %s, on %s, accepts its edges and refuses what lies beyond', (name, field, good, bad) => {
    for (const value of good) expect(bodyFault(name, { [field]: value }), JSON.stringify(value)).toBeUndefined()
    for (const each of bad) {
      const nested =
        Array.isArray(each) && each.length === 2 && typeof each[1] === 'string' && each[1].startsWith(`${field}.`)
      const [value, path] = nested ? (each as [unknown, string]) : [each, field]
      expect(bodyFault(name, { [field]: value }), JSON.stringify(value)).toBe(path)
    }
  })
})
