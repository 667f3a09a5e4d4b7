/** Rules between fields, and the exact path of what breaks them. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { EVENT_TYPES } from '../../src/api/event-types.ts'
import { api, BENEFICIARIES, FEE_CLAIM_KINDS, PDA_ARGS, PDA_KINDS, pdaRequest } from '../../src/api/index.ts'
import { trackedResource } from '../../src/api/payloads.ts'
import { A, B, bodyFault, bodyOf, fault, routes, TX, U64_MAX } from './bodies.ts'

describe('splits', () => {
  const splits = (...bps: unknown[]) => ({ splits: bps.map((share) => ({ recipient: A, bps: share })) })

  it('are 2 to 10 shares that sum to exactly 10000', () => {
    expect(bodyFault('feeClaims.create', splits(1, 9999))).toBeUndefined()
    expect(bodyFault('feeClaims.create', splits(...Array(10).fill(1000)))).toBeUndefined()
    expect(bodyFault('feeClaims.create', splits(10000))).toBe('splits')
    expect(bodyFault('feeClaims.create', splits(...Array(10).fill(900), 1000))).toBe('splits')
    expect(bodyFault('feeClaims.create', splits(5000, 4999))).toBe('splits')
    expect(bodyFault('feeClaims.create', splits(5000, 5001))).toBe('splits')
  })

  it('name the share and the recipient that are invalid', () => {
    expect(bodyFault('feeClaims.create', splits(10000, 0))).toBe('splits.1.bps')
    expect(bodyFault('feeClaims.create', splits(1, 10001))).toBe('splits.1.bps')
    expect(bodyFault('feeClaims.create', splits(5000, '5000'))).toBe('splits.1.bps')
    expect(bodyFault('feeClaims.create', splits(5000.5, 4999.5))).toBe('splits.0.bps')
    const recipient = {
      splits: [
        { recipient: A, bps: 5000 },
        { recipient: 'z'.repeat(44), bps: 5000 },
      ],
    }
    expect(bodyFault('feeClaims.create', recipient)).toBe('splits.1.recipient')
    const extra = {
      splits: [
        { recipient: A, bps: 5000, note: '' },
        { recipient: B, bps: 5000 },
      ],
    }
    expect(bodyFault('feeClaims.create', extra)).toBe('splits.0.note')
  })

  it('are accepted only for kind dbc', () => {
    expect(bodyFault('feeClaims.create', { kind: 'damm_v2', ...splits(5000, 5000) })).toBe('splits')
    expect(bodyFault('feeClaims.create', { kind: 'surplus', ...splits(5000, 5000) })).toBe('splits')
    expect(bodyFault('feeClaims.create', { kind: 'dbc', ...splits(5000, 5000) })).toBeUndefined()
  })

  it('require an owner only for positions, and a beneficiary that the kind pays', () => {
    const claimFault = (body: Record<string, unknown>) => bodyFault('feeClaims.create', body)
    expect(claimFault({ kind: 'damm_v2', owner: B, beneficiary: 'creator' })).toBeUndefined()
    expect(claimFault({ owner: B })).toBe('owner')
    expect(claimFault({ kind: 'vesting', owner: B })).toBe('owner')
    for (const kind of FEE_CLAIM_KINDS) {
      const refused = BENEFICIARIES.filter((beneficiary) => claimFault({ kind, beneficiary }) === 'beneficiary')
      expect(refused).toEqual(
        { leftover: ['creator'], pool_creation_fee: ['creator'], vesting: ['partner'] }[kind as string] ?? [],
      )
    }
  })
})

describe('fields that depend on each other', () => {
  it('submit one transaction, or one to five as a bundle', () => {
    const submit = (body: object) => fault(bodyOf('transactions.submit'), body)
    expect(submit({})).toBe('transaction')
    expect(submit({ signed_transactions: [TX] })).toBe('transaction')
    expect(submit({ transaction: TX, signed_transactions: [TX] })).toBe('signed_transactions')
    expect(submit({ bundle: true, transaction: TX })).toBe('signed_transactions')
    expect(submit({ bundle: true, transaction: TX, signed_transactions: [TX] })).toBe('transaction')
    expect(submit({ bundle: true, signed_transactions: [] })).toBe('signed_transactions')
    expect(submit({ bundle: true, signed_transactions: [TX] })).toBeUndefined()
    expect(submit({ bundle: true, signed_transactions: Array(5).fill(TX) })).toBeUndefined()
    expect(submit({ bundle: true, signed_transactions: Array(6).fill(TX) })).toBe('signed_transactions')
    expect(submit({ bundle: true, signed_transactions: [TX, '!'] })).toBe('signed_transactions.1')
  })

  it('check the amount of a claim only if a proof is sent', () => {
    for (const amount of ['x', '', 1.5, -1, 2 ** 53, '18446744073709551616']) {
      expect(bodyFault('airdrops.claim', { amount }), String(amount)).toBeUndefined()
      expect(bodyFault('airdrops.claim', { amount, proof: [] }), String(amount)).toBe('amount')
    }
    for (const amount of ['0', U64_MAX, 0, 2 ** 53 - 1]) {
      expect(bodyFault('airdrops.claim', { amount, proof: [] }), String(amount)).toBeUndefined()
    }
  })

  it('replay by ids or since a time, never both', () => {
    const replay = (body: object) => fault(bodyOf('webhookSubscriptions.replay'), body)
    expect(replay({ since: '2026-01-01T00:00:00Z' })).toBeUndefined()
    expect(replay({ since: 1767225600 })).toBeUndefined()
    expect(replay({ since: 'yesterday' })).toBe('since')
    expect(replay({})).toBe('event_ids')
    expect(replay({ event_ids: ['a'], since: '2026-01-01T00:00:00Z' })).toBe('since')
  })

  it('refuse a funding amount if funding is off', () => {
    expect(bodyFault('airdrops.create', { fund: false, fund_amount: '1' })).toBe('fund_amount')
    expect(bodyFault('airdrops.create', { fund: true, fund_amount: '1' })).toBeUndefined()
  })

  it('limit the bytes of a symbol and a URI only for a program that limits them', () => {
    expect(bodyFault('tokens.create', { symbol: '€€€', token_program: 'spl' })).toBeUndefined()
    expect(bodyFault('tokens.create', { symbol: '€€€€', token_program: 'token2022' })).toBeUndefined()
  })
})

describe('a tracked resource', () => {
  it('holds a type, an id and up to five event types', () => {
    const hint = { resource_type: 'airdrop', resource_id: 'x' }
    const types = EVENT_TYPES.slice(0, 5)
    expect(trackedResource.parse(hint)).toEqual({ ...hint, related_events: [] })
    expect(fault(trackedResource, { ...hint, related_events: types })).toBeUndefined()
    expect(fault(trackedResource, { ...hint, related_events: EVENT_TYPES.slice(0, 6) })).toBe('related_events')
    expect(fault(trackedResource, { ...hint, resource_type: 'x'.repeat(64) })).toBeUndefined()
    expect(fault(trackedResource, { ...hint, resource_type: 'x'.repeat(65) })).toBe('resource_type')
    expect(fault(trackedResource, { ...hint, resource_id: 'x'.repeat(256) })).toBeUndefined()
    expect(fault(trackedResource, { ...hint, resource_id: '' })).toBe('resource_id')
    expect(fault(trackedResource, { ...hint, resource_id: 'x'.repeat(257) })).toBe('resource_id')
    const body = { tracked_resource: { ...hint, related_events: ['pool.live', 'x'] } }
    expect(bodyFault('transactions.submit', body)).toBe('tracked_resource.related_events.1')
    expect(bodyFault('transactions.submit', { tracked_resource: { ...hint, hint: 1 } })).toBe('tracked_resource.hint')
  })
})

describe('texts', () => {
  /** Of a JSON Schema: the paths of all values that may be text, with `0` for an item and `x` for a name that a client chooses. */
  function textsIn(schema: z.core.JSONSchema.BaseSchema, path: string[] = []): string[][] {
    const either = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    const inside = (part: z.core.JSONSchema._JSONSchema | undefined, name: string) =>
      typeof part === 'object' ? textsIn(part, [...path, name]) : []
    return [
      ...(schema.type === 'string' && schema.enum === undefined ? [path] : []),
      ...either.flatMap((part) => (typeof part === 'object' ? textsIn(part, path) : [])),
      ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) => inside(part, name)),
      ...inside(schema.additionalProperties, 'x'),
      ...(Array.isArray(schema.items) ? [] : inside(schema.items, '0')),
    ]
  }
  const holding = (text: string, [name, ...rest]: string[]): unknown => {
    if (name === undefined) return text
    return name === '0' ? [holding(text, rest)] : { [name]: holding(text, rest) }
  }
  const inputs = routes.flatMap(([name, { params, query, body }]) =>
    [params, query, body].flatMap((schema) => (schema === undefined ? [] : [{ name, schema }])),
  )
  const taking = (text: string) =>
    inputs.flatMap(({ name, schema }) =>
      textsIn(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
        .filter((path) => {
          const issues = schema.safeParse(holding(text, path)).error?.issues ?? []
          return !issues.some(
            (issue: z.core.$ZodIssue) => issue.path.length > 0 && issue.path.every((at, i) => String(at) === path[i]),
          )
        })
        .map((path) => `${name} ${path.join('.')}`),
    )

  /** Kept as JSON, which escapes them: in a column of JSON text, or in the metadata file of a token. */
  const isJson = (text: string) => / metadata\.x$|^pools\.(?:create|rehearse) (?:description|loot_from)$/.test(text)

  it('contain no NUL, which PostgreSQL cannot store, and no lone surrogate, except where they are stored as JSON', () => {
    for (const text of ['ipfs://a\0b', 'a\0b', 'a\ud800b'])
      expect(taking(text).filter((each) => !isJson(each))).toEqual([])
  })
})

describe('PDA inputs', () => {
  const NEEDED: Record<(typeof PDA_KINDS)[number], Record<string, unknown>> = {
    ata: { owner: A, mint: B },
    metadata: { mint: A },
    dbc_pool: { base_mint: A, config: B },
    damm_v2_pool: { config: A, base_mint: B },
    merkle_distributor: { mint: A, airdrop_count: 0 },
    claim_status: { mint: A, airdrop_count: 65535, claimer: B },
    gold_lock: { user: A },
  }

  it('refuse an unknown kind', () => {
    expect(fault(api.pdas.derive.params, { kind: 'vault' })).toBe('kind')
    expect(fault(pdaRequest, { kind: 'vault', args: {} })).toBe('kind')
    for (const kind of PDA_KINDS) expect(fault(api.pdas.derive.params, { kind })).toBeUndefined()
  })

  it.each(PDA_KINDS)('of kind %s are refused by name if missing, wrong or unknown', (kind) => {
    const args = NEEDED[kind]
    expect(fault(pdaRequest, { kind, args })).toBeUndefined()
    for (const name of Object.keys(args)) {
      const { [name]: _, ...rest } = args
      expect(fault(pdaRequest, { kind, args: rest })).toBe(`args.${name}`)
      expect(fault(pdaRequest, { kind, args: { ...args, [name]: 'x' } })).toBe(`args.${name}`)
    }
    expect(fault(pdaRequest, { kind, args: { ...args, seed: 'x' } })).toBe('args.seed')
    expect(fault(PDA_ARGS[kind], args)).toBeUndefined()
  })

  it('default to wrapped SOL and to the original token program', () => {
    expect(PDA_ARGS.dbc_pool.parse(NEEDED.dbc_pool)).toMatchObject({ quote_mint: A })
    expect(PDA_ARGS.ata.parse(NEEDED.ata)).toMatchObject({ token_program: 'spl' })
  })
})
