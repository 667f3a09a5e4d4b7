/** Every write: its minimal body, its required fields, the common fields and the defaults. */
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { fromMultipart } from '../../src/api/index.ts'
import { A, bodyFault, bodyOf, fault, MINIMAL, routes, TX, writes } from './bodies.ts'

describe('a write', () => {
  it('has a minimal body in this file', () => {
    expect(Object.keys(MINIMAL).toSorted()).toEqual(writes.map(([name]) => name).toSorted())
  })

  it.each(writes)('%s accepts its minimal body and the three common fields', (name) => {
    expect(bodyFault(name)).toBeUndefined()
    expect(bodyFault(name, { mode: 'unsigned', externalUid: 'order:1', metadata: { a: 'b' } })).toBeUndefined()
  })

  it.each(writes)('%s requires every field of its minimal body', (name) => {
    for (const field of Object.keys(MINIMAL[name]!)) {
      const { [field]: _, ...rest } = MINIMAL[name]!
      expect(fault(bodyOf(name), rest), `${name}.${field}`).toBe(field)
    }
  })

  it.each(writes)('%s names an unknown field', (name) => {
    expect(bodyFault(name, { split: [] })).toBe('split')
  })

  it.each(routes)('%s names an unknown field in every object that it takes', (name, { query, body }) => {
    const open = [query, body].flatMap((schema) => (schema === undefined ? [] : objectsOf(schema, name)))
    expect(
      open.filter(([, { def }]) => (def.catchall as z.ZodType | undefined)?.def.type !== 'never').map(([path]) => path),
    ).toEqual([])
  })

  it.each([
    ['tokens.updateMetadata', { fields: [{ key: 'a', value: 'b', valeu: 'c' }] }, 'fields.0.valeu'],
    [
      'signer.updatePolicy',
      { tokens: [{ mint: A, per_transaction: '1', per_day: '1', per_week: '1' }] },
      'tokens.0.per_week',
    ],
  ])('%s names a nested unknown field by its path', (name, changes, path) => {
    expect(bodyFault(name, changes)).toBe(path)
  })

  it.each(writes)('%s applies the rules of the common fields', (name) => {
    expect(bodyFault(name, { mode: 'custodial' })).toBe('mode')
    expect(bodyFault(name, { externalUid: '' })).toBe('externalUid')
    expect(bodyFault(name, { externalUid: 'a'.repeat(128) })).toBeUndefined()
    expect(bodyFault(name, { externalUid: 'a'.repeat(129) })).toBe('externalUid')
    expect(bodyFault(name, { externalUid: 'a b' })).toBe('externalUid')
    expect(bodyFault(name, { metadata: { note: 'x'.repeat(500) } })).toBeUndefined()
    expect(bodyFault(name, { metadata: { note: 'x'.repeat(501) } })).toBe('metadata.note')
    expect(bodyFault(name, { metadata: { note: 1 } })).toBe('metadata.note')
  })

  it.each([
    ['pools.create', { type: 'dbc', buy_amount: 0, mode: 'unsigned' }],
    ['feeClaims.create', { kind: 'dbc' }],
    ['feeSchedules.create', { timezone: 'UTC', kinds: ['dbc'], threshold: '0', filter: {}, active: true }],
    ['airdrops.create', { clawback_after_days: 30 }],
    ['airdrops.claim', { platform_fee: 0, swap_to_sol: false }],
    ['merkleTrees.create', { airdrop_count: 0, persist: true, duplicates: 'reject', replace: false }],
    ['holderSnapshots.create', { owners: 'all', allow_confidential: false }],
    ['stakes.create', { platform_fee: 0 }],
    [
      'tokens.create',
      { decimals: 6, revoke_mint_authority: false, revoke_freeze_authority: true, token_program: 'spl' },
    ],
    ['solTransfers.create', { allow_programs: false, dry_run: false, tx_version: 0 }],
    ['tokenTransfers.create', { allow_programs: false, accept_transfer_fee: false, dry_run: false, tx_version: 0 }],
    ['rentReclaims.create', { close_empty: false, dry_run: false, tx_version: 0 }],
    ['transactions.submit', { bundle: false, skip_preflight: false, max_retries: 2 }],
    ['webhookSubscriptions.rotateSecret', { overlap_hours: 24 }],
    ['apiKeys.create', { scopes: [], allow_ips: [] }],
    ['apiKeys.rotate', { overlap_hours: 24 }],
  ])('%s fills in the documented defaults', (name, defaults) => {
    expect(bodyOf(name).parse(MINIMAL[name])).toMatchObject(defaults)
  })
})

describe('optional fields whose default is decided later', () => {
  it('stay undefined, so that the operation can decide', () => {
    expect(bodyOf('apiKeys.create').parse({ name: 'n' })).not.toHaveProperty('rate_limit_per_minute')
    expect(bodyOf('airdrops.create').parse(MINIMAL['airdrops.create'])).not.toHaveProperty('fund')
  })
})

describe('a form', () => {
  it('becomes the JSON body that it stands for', () => {
    const fields = { creator: A, name: 'a', symbol: 'b', image: TX, buy_amount: '0.25', metadata: '{"a":"b"}' }
    expect(bodyOf('pools.create').parse(fromMultipart(fields))).toMatchObject({
      buy_amount: 0.25,
      metadata: { a: 'b' },
      name: 'a',
    })
  })

  it('passes on values that do not parse, so that the schema names them', () => {
    const fields = { creator: A, name: 'a', symbol: 'b', image: TX }
    const body = bodyOf('pools.create')
    expect(fault(body, fromMultipart({ ...fields, buy_amount: 'lots' }))).toBe('buy_amount')
    expect(fault(body, fromMultipart({ ...fields, buy_amount: '' }))).toBeUndefined()
    expect(fault(body, fromMultipart({ ...fields, metadata: '{' }))).toBe('metadata')
    expect(fault(body, fromMultipart({ ...fields, metadata: '[1]' }))).toBe('metadata')
  })
})

/** Every object schema in a schema, with its path. */
function objectsOf(schema: z.ZodType, path: string): [path: string, object: z.ZodObject][] {
  // biome-ignore lint/suspicious/noExplicitAny: the definition of any schema
  const def = schema.def as any
  const within: [string, z.ZodType][] = [
    ...Object.entries((def.shape ?? {}) as Record<string, z.ZodType>).map(([key, value]): [string, z.ZodType] => [
      `${path}.${key}`,
      value,
    ]),
    ...[
      def.element,
      def.innerType,
      def.in,
      def.valueType,
      def.left,
      def.right,
      ...(def.options ?? []),
      ...(def.items ?? []),
    ]
      .filter((part) => part?.def !== undefined)
      .map((part): [string, z.ZodType] => [path, part]),
  ]
  const own: [string, z.ZodObject][] = def.type === 'object' ? [[path, schema as z.ZodObject]] : []
  return [...own, ...within.flatMap(([name, part]) => objectsOf(part, name))]
}
