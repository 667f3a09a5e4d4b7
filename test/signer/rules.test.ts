/** The rules over any movement: what is above a cap never passes, what is exactly at it does, and the order stands. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SIGNING_RULES } from '../../src/api/signer.ts'
import { approvedMovement, excessOver } from '../../src/policy/approved-movement.ts'
import type { Movement } from '../../src/policy/movement/movement.ts'
import type { Approvals } from '../../src/policy/policy.ts'
import { DEFAULT_POLICY, DEFAULT_PROGRAMS, type SigningPolicy, type Spent } from '../../src/policy/policy.ts'
import { checkPolicy, judgeMovement, type PolicyRule } from '../../src/policy/rules/check-policy.ts'
import { spendOf } from '../../src/policy/rules/spend.ts'
import type { PolicyCheckOptions, SponsoredOutflow } from '../../src/policy/rules/violation.ts'
import { HOLDER_POWERS } from '../../src/solana/token-authorities.ts'
import { runs } from '../support/runs.ts'

const WALLET = 'So11111111111111111111111111111111111111112'
const STRANGER = 'Vote111111111111111111111111111111111111111'
const MINTS = ['Stake11111111111111111111111111111111111111', 'Config1111111111111111111111111111111111111']
const PAYS = { role: 'pays' } as const
const NOTHING: Spent = { lamports: 0n, tokens: new Map() }

const movement = (parts: Partial<Movement> = {}): Movement => ({
  wallet: WALLET,
  slot: 1,
  err: null,
  logs: [],
  stable: true,
  unread: [],
  signers: [WALLET],
  fee_payer: WALLET,
  fee: 5000n,
  programs: [
    { program: DEFAULT_PROGRAMS[0]!, depth: 1, where: 'instruction 0', wallet: true, call: null, first: null },
  ],
  lamports_out: 5000n,
  lamports_to_others: 0n,
  tokens_out: [],
  tokens_to_others: [],
  destinations: [],
  authority_changes: [],
  delegates: [],
  powers: [],
  closes: [],
  guards: { needed: [], held: [] },
  ...parts,
})

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
/** Small figures meet their caps more often. */
const few = fc.bigInt({ min: 0n, max: 4n })
const amount = fc.oneof({ arbitrary: few, weight: 4 }, { arbitrary: u64, weight: 1 })
const limit = fc.oneof(few, { arbitrary: u64, weight: 3 })
const token = fc.record({ mint: fc.constantFrom(...MINTS), amount })
const tokens = fc.uniqueArray(token, { selector: ({ mint }) => mint })
const moved = fc.record({
  fee: amount,
  lamports_out: amount,
  lamports_to_others: amount,
  tokens_out: tokens,
  tokens_to_others: tokens,
})
const policyOf = (caps: Partial<SigningPolicy>): SigningPolicy => ({ ...DEFAULT_POLICY, ...caps })
const caps = fc.record({
  max_fee_lamports: limit,
  lamports_per_transaction: limit,
  lamports_per_day: limit,
  tokens: fc.uniqueArray(fc.record({ mint: fc.constantFrom(...MINTS), per_transaction: limit, per_day: limit }), {
    selector: ({ mint }) => mint,
  }),
})
const spentOf = fc.record({
  lamports: amount,
  tokens: tokens.map((rows) => new Map(rows.map((row) => [row.mint, row.amount]))),
})

/** By the figures alone, written without the rules: whether it may pass. */
function fits(
  { fee, ...figures }: typeof moved extends fc.Arbitrary<infer T> ? T : never,
  policy: SigningPolicy,
  spent: Spent,
) {
  const most = (a: bigint, b: bigint) => (a > b ? a : b)
  const lamports = most(figures.lamports_out, figures.lamports_to_others)
  const within = (asked: bigint, each: bigint, day: bigint, before: bigint) =>
    asked <= each && (asked === 0n || asked + before <= day)
  return (
    fee <= policy.max_fee_lamports &&
    within(lamports, policy.lamports_per_transaction, policy.lamports_per_day, spent.lamports) &&
    MINTS.every((mint) => {
      const of = (rows: { mint: string; amount: bigint }[]) => rows.find((row) => row.mint === mint)?.amount ?? 0n
      const cap = policy.tokens.find((row) => row.mint === mint) ?? { per_transaction: 0n, per_day: 0n }
      const asked = most(of(figures.tokens_out), of(figures.tokens_to_others))
      return within(asked, cap.per_transaction, cap.per_day, spent.tokens.get(mint) ?? 0n)
    })
  )
}

describe('the figures of a policy', () => {
  it('pass exactly if every one is within its cap', { tags: 'sampled' }, () => {
    let passed = 0
    fc.assert(
      fc.property(moved, caps, spentOf, (figures, limits, spent) => {
        const policy = policyOf(limits)
        const refusal = checkPolicy(movement(figures), policy, spent, PAYS)
        if (refusal === null) passed++
        expect(refusal === null).toBe(fits(figures, policy, spent))
      }),
      { numRuns: runs(400, 3000) },
    )
    expect(passed).toBeGreaterThan(runs(0, 20))
  })

  it('pass at their caps to the last unit, and not one above', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(moved, spentOf, fc.nat(3), (figures, spent, which) => {
        const asked = movement(figures)
        const spend = spendOf(asked)
        const tokensAt = spend.tokens.map(({ mint, amount: per_transaction }) => {
          return { mint, per_transaction, per_day: per_transaction + (spent.tokens.get(mint) ?? 0n) }
        })
        const at = policyOf({
          max_fee_lamports: figures.fee,
          lamports_per_transaction: spend.lamports,
          lamports_per_day: spend.lamports + spent.lamports,
          tokens: tokensAt,
        })
        expect(checkPolicy(asked, at, spent, PAYS)).toBeNull()
        const less = (value: bigint) => (value === 0n ? 0n : value - 1n)
        const [rule, tighter, figure] = (
          [
            ['fee', { max_fee_lamports: less(figures.fee) }, figures.fee],
            ['lamports_per_transaction', { lamports_per_transaction: less(spend.lamports) }, spend.lamports],
            ['lamports_per_day', { lamports_per_day: less(at.lamports_per_day) }, spend.lamports],
            [
              'tokens_per_transaction',
              { tokens: tokensAt.map((cap) => ({ ...cap, per_transaction: less(cap.per_transaction) })) },
              spend.tokens.reduce((sum, each) => sum + each.amount, 0n),
            ],
          ] as const
        )[which]!
        if (figure > 0n) expect(checkPolicy(asked, { ...at, ...tighter }, spent, PAYS)?.rule).toBe(rule)
      }),
      { numRuns: runs(100, 1000) },
    )
  })

  it('of a day never add up to more than its cap, whatever is asked', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.array(moved, { maxLength: 30 }), caps, (history, limits) => {
        const policy = policyOf({ ...limits, max_fee_lamports: 2n ** 64n })
        const spent = { lamports: 0n, tokens: new Map<string, bigint>() }
        for (const figures of history) {
          const asked = movement(figures)
          if (checkPolicy(asked, policy, spent, PAYS) !== null) continue
          const { lamports, tokens: rows } = spendOf(asked)
          spent.lamports += lamports
          for (const row of rows) spent.tokens.set(row.mint, (spent.tokens.get(row.mint) ?? 0n) + row.amount)
        }
        expect(spent.lamports <= policy.lamports_per_day).toBe(true)
        for (const [mint, sum] of spent.tokens) {
          expect(sum <= (policy.tokens.find((row) => row.mint === mint)?.per_day ?? 0n)).toBe(true)
        }
      }),
      { numRuns: runs(50, 500) },
    )
  })

  it('are named in the message, with what is left and the solution', () => {
    const policy = policyOf({ lamports_per_transaction: 100n, lamports_per_day: 150n })
    const spent = { lamports: 90n, tokens: new Map() }
    const refusal = checkPolicy(movement({ lamports_out: 70n }), policy, spent, PAYS)
    expect(refusal).toEqual({
      rule: 'lamports_per_day',
      message:
        'Refused by the rule lamports_per_day: 0.00000007 SOL would leave, but 0.00000009 SOL of the 0.00000015 SOL for 24 hours are spent and 0.00000006 SOL remain; wait, raise the limit with `svc signer policy --per-day`, or reset the day with `svc signer reset`',
      details: { asked: '70', cap: '150', spent: '90', left: '60' },
    })
    const over = checkPolicy(movement({ lamports_out: 101n }), policy, spent, PAYS)
    expect(over?.message).toMatch(
      /0\.000000101 SOL would leave, but at most 0\.0000001 SOL may leave in one transaction; raise.*--per-transaction/,
    )
  })

  it('of the default policy let nothing leave, not even a fee', () => {
    expect(checkPolicy(movement(), DEFAULT_POLICY, NOTHING, PAYS)?.rule).toBe('lamports_per_transaction')
    const theirs = movement({ fee_payer: STRANGER, signers: [STRANGER, WALLET], fee: 0n, lamports_out: 0n })
    expect(checkPolicy(theirs, DEFAULT_POLICY, NOTHING, { role: 'cosigns' })).toBeNull()
  })
})

const destination = {
  address: STRANGER,
  owner: null,
  mint: null,
  amount: 1n,
  program: DEFAULT_PROGRAMS[0]!,
  others: [],
  created: false,
  minimum: 0n,
}
const error = { program: null, name: 'X', code: null, instruction: null, message: 'x', hint: null }
const mint = MINTS[0]!
const allowed = { tokens: [{ mint, per_transaction: 1n, per_day: 0n }] }

/** What breaks each rule alone. */
interface Broken {
  movement?: Partial<Movement>
  policy?: Partial<SigningPolicy>
  options?: Partial<PolicyCheckOptions>
}
const CLAIM: SponsoredOutflow = {
  distributor: 'Sysvar1111111111111111111111111111111111111',
  claimer: STRANGER,
  mint,
  lent: 0n,
  status: 'SysvarC1ock11111111111111111111111111111111',
  account: 'SysvarRent111111111111111111111111111111111',
  accountRent: 0n,
}
/** The rules that look at a movement. A paused signer is refused before. */
type MovementRule = Exclude<PolicyRule, 'paused'>
const MOVEMENT_RULES = SIGNING_RULES.filter((rule): rule is MovementRule => rule !== 'paused')
/** Monday, 1 June 2026, at noon and at night. */
const NOON = Date.UTC(2026, 5, 1, 12)
const NIGHT = Date.UTC(2026, 5, 1, 23)
const WAITING: Approvals = {
  needed: 2,
  approvers: null,
  expires_in: 3600,
  rules: {
    lamports_per_transaction: null,
    lamports_per_day: null,
    tokens: [],
    destination: false,
    authority: false,
    delegate: false,
    power: false,
    close: false,
    operations: ['airdrop.withdraw'],
    hours: { days: ['mon'], from: '09:00', to: '17:00', timezone: 'UTC' },
  },
}
const BREAKS: Record<MovementRule, Broken> = {
  simulation: { movement: { err: error } },
  unstable: { movement: { stable: false } },
  signers: { movement: { signers: [WALLET, STRANGER] } },
  program: {
    movement: {
      programs: [
        { program: STRANGER, depth: 2, where: 'instruction 0, inner 0', wallet: false, call: null, first: null },
      ],
    },
  },
  authority: { movement: { authority_changes: [{ address: STRANGER, what: 'owner', to: STRANGER }] } },
  delegate: { movement: { delegates: [{ address: WALLET, kind: 'token account', delegate: STRANGER, amount: 1n }] } },
  power: {
    movement: { powers: [{ mint: MINTS[0]!, power: 'pause', account: MINTS[0]!, what: 'it would be paused' }] },
  },
  close: { movement: { closes: [{ address: WALLET, what: 'token account', lamports: 1n, to: [WALLET, STRANGER] }] } },
  guard: {
    movement: { guards: { needed: [{ kind: 'wallet', address: WALLET, change: -1n }], held: [] } },
    policy: { guards: 'required' },
  },
  sponsorship: { options: { sponsored: { ...CLAIM, lent: 1n } } },
  fee: { policy: { max_fee_lamports: 4999n } },
  destination: { movement: { destinations: [destination] }, policy: { destinations: [WALLET] } },
  lamports_per_transaction: { policy: { lamports_per_transaction: 4999n } },
  tokens_per_transaction: { movement: { tokens_out: [{ mint, amount: 2n }] }, policy: allowed },
  lamports_per_day: { policy: { lamports_per_day: 4999n } },
  tokens_per_day: { movement: { tokens_out: [{ mint, amount: 1n }] }, policy: allowed },
  operation: { policy: { approvals: WAITING }, options: { act: { operation: 'airdrop.withdraw', at: NOON } } },
  hours: { policy: { approvals: WAITING }, options: { act: { operation: 'pool.create', at: NIGHT } } },
}
const OPEN = policyOf({ lamports_per_transaction: 5000n, lamports_per_day: 5000n })

describe('the rules of a policy', () => {
  it('are those of the API, and the first broken one is reported', () => {
    expect(Object.keys(BREAKS).sort()).toEqual([...MOVEMENT_RULES].sort())
    expect(checkPolicy(movement(), OPEN, NOTHING, PAYS)).toBeNull()
    fc.assert(
      fc.property(fc.subarray(MOVEMENT_RULES, { minLength: 1 }), (broken) => {
        const parts = broken.map((rule) => BREAKS[rule])
        // Both speak of tokens: the greater amount breaks either rule.
        const asked = Object.assign({}, ...parts.map((part) => part.movement ?? {}))
        if (broken.includes('tokens_per_transaction')) asked.tokens_out = [{ mint, amount: 2n }]
        const policy = Object.assign({}, OPEN, ...parts.map((part) => part.policy ?? {}))
        const options = Object.assign({}, PAYS, ...parts.map((part) => part.options ?? {}))
        if (broken.includes('operation') && broken.includes('hours'))
          options.act = { operation: 'airdrop.withdraw', at: NIGHT }
        const refusal = checkPolicy(movement(asked), policy, NOTHING, options)
        expect(refusal?.rule).toBe(broken[0])
        expect(refusal?.message).toContain(`rule ${broken[0]}`)
      }),
      { numRuns: 500 },
    )
  })

  it('permit no use of a power that the policy does not name, and demand approvals only for what can wait', () => {
    const uses = fc.array(fc.constantFrom(...HOLDER_POWERS, null), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(uses, fc.subarray([...HOLDER_POWERS]), fc.boolean(), fc.boolean(), (used, powers, waits, named) => {
        const asked = movement({
          powers: used.map((power) => ({ mint: MINTS[0]!, power, account: MINTS[0]!, what: 'it would be paused' })),
        })
        const may = used.every((power) => power !== null && powers.includes(power))
        const approvals = {
          ...WAITING,
          rules: { ...WAITING.rules, power: waits, operations: named ? (['token.pause'] as const) : [], hours: null },
        }
        const policy = { ...OPEN, powers, approvals }
        expect(checkPolicy(asked, { ...policy, approvals: null }, NOTHING, PAYS)?.rule).toBe(may ? undefined : 'power')
        const act = { operation: 'token.pause', at: NOON }
        const { kind } = judgeMovement(asked, policy, NOTHING, { ...PAYS, act })
        expect(kind).toBe(named ? 'waits' : may ? 'permits' : waits ? 'waits' : 'refuses')
        // Nothing waits that the wallet only cosigns.
        if (!may) {
          const cosigned = judgeMovement(asked, policy, NOTHING, { role: 'cosigns', act })
          expect(cosigned.kind).toBe('refuses')
        }
      }),
    )
  })

  it('give details as JSON', () => {
    for (const rule of MOVEMENT_RULES) {
      const { movement: asked = {}, policy = {}, options = {} } = BREAKS[rule]
      const refusal = checkPolicy(movement(asked), { ...OPEN, ...policy }, NOTHING, { ...PAYS, ...options })
      expect(refusal?.rule).toBe(rule)
      expect(() => JSON.stringify(refusal)).not.toThrow()
    }
  })

  it('allow a cosigning wallet to lend its signature to few programs, and let nothing leave', () => {
    const rich = policyOf({ lamports_per_transaction: 2n ** 64n, lamports_per_day: 2n ** 64n, tokens: allowed.tokens })
    const theirs = { fee_payer: STRANGER, signers: [STRANGER, WALLET], fee: 0n, lamports_out: 0n }
    const cosigns = { role: 'cosigns' } as const
    const rule = (parts: Partial<Movement>) =>
      checkPolicy(movement({ ...theirs, ...parts }), rich, NOTHING, cosigns)?.rule
    expect(rule({})).toBeUndefined()
    expect(rule({ lamports_to_others: 10n ** 12n, tokens_to_others: [{ mint, amount: 5n }] })).toBeUndefined()
    expect(rule({ lamports_out: 1n })).toBe('lamports_per_transaction')
    expect(rule({ tokens_out: [{ mint, amount: 1n }] })).toBe('tokens_per_transaction')
    expect(rule({ fee_payer: WALLET })).toBe('signers')
    expect(rule({ signers: [STRANGER] })).toBe('signers')
    const asked = (wallet: boolean) => ({
      programs: DEFAULT_PROGRAMS.map((program) => ({ program, depth: 1, where: 'i', wallet, call: null, first: null })),
    })
    expect(rule(asked(false))).toBeUndefined()
    expect(rule(asked(true))).toBe('program')
  })

  it('allow a sponsored claim to cost exactly fee and rent, for its own accounts, and no tokens of the wallet', () => {
    const rich = policyOf({ lamports_per_transaction: 2n ** 64n, lamports_per_day: 2n ** 64n, tokens: allowed.tokens })
    const sponsored = { ...CLAIM, lent: 1_000_001n, accountRent: 1_500_002n }
    const out = 5000n + sponsored.lent + sponsored.accountRent
    const gains = [
      { ...destination, address: CLAIM.claimer, amount: sponsored.lent },
      { ...destination, address: CLAIM.account, amount: sponsored.accountRent },
      { ...destination, address: CLAIM.account, mint, amount: 77n },
      { ...destination, address: CLAIM.status, amount: sponsored.lent },
    ]
    const rule = (parts: Partial<Movement>, policy = rich) => {
      const asked = movement({ lamports_out: out, destinations: gains, ...parts })
      return checkPolicy(asked, policy, NOTHING, { ...PAYS, uncapped: [mint], sponsored })?.rule
    }
    expect(rule({})).toBeUndefined()
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 8n }), (lamports_out) => {
        expect(rule({ lamports_out })).toBe(lamports_out === out ? undefined : 'sponsorship')
      }),
    )
    expect(rule({ tokens_out: [{ mint, amount: 1n }] })).toBe('sponsorship')
    for (const [i, gain] of gains.entries()) {
      const other = (parts: Partial<typeof destination>) =>
        rule({ destinations: gains.with(i, { ...gain, ...parts } as (typeof gains)[number]) })
      expect(other({ address: MINTS[1]! })).toBe('sponsorship')
      // The claim status keeps what it gets, whatever others have sent to it.
      if (i < 2) expect(other({ amount: gain.amount + 1n })).toBe('sponsorship')
    }
    // Where destinations are listed, the distributor stands for its claims.
    expect(rule({}, { ...rich, destinations: [WALLET] })).toBe('destination')
    expect(rule({}, { ...rich, destinations: [CLAIM.distributor] })).toBeUndefined()
    const unsponsored = checkPolicy(
      movement({ lamports_out: out, destinations: gains }),
      { ...rich, destinations: [CLAIM.distributor] },
      NOTHING,
      PAYS,
    )
    expect(unsponsored?.rule).toBe('destination')
  })

  it('do not count the rent of a new account of an allowed program as gain, but anything above it', () => {
    const core = DEFAULT_PROGRAMS.find((program) => program.startsWith('CoREE'))!
    const policy = { ...OPEN, destinations: [] }
    const rule = (parts: Partial<typeof destination>) =>
      checkPolicy(movement({ destinations: [{ ...destination, ...parts }] }), policy, NOTHING, PAYS)?.rule
    const made = { program: core, created: true, minimum: 1_158_240n, amount: 1_158_240n }
    expect(rule(made)).toBeUndefined()
    expect(rule({ ...made, created: false })).toBe('destination')
    expect(rule({ ...made, amount: made.amount + 10_000_001n })).toBe('destination')
    expect(rule({ ...made, program: STRANGER })).toBe('destination')
    expect(rule({ ...made, program: DEFAULT_PROGRAMS[0]! })).toBe('destination')
  })
})

describe('a movement that people approved', () => {
  const [MINT] = MINTS as [string]
  const [OTHER] = HOLDER_POWERS
  const paid = { address: 'account', owner: STRANGER, mint: MINT, amount: 7n, program: '', others: [] }
  const destination = { ...paid, created: false, minimum: 0n }
  const approved = movement({
    lamports_out: 9_000n,
    tokens_out: [{ mint: MINT, amount: 7n }],
    destinations: [destination],
    delegates: [{ address: 'account', kind: 'token account', delegate: STRANGER, amount: 7n }],
  })
  const excess = (parts: Partial<Movement>) => excessOver(approvedMovement(approved), { ...approved, ...parts })

  it('may do the same, or less of everything', () => {
    expect(excess({})).toBeNull()
    expect(excess({ lamports_out: 8_999n, tokens_out: [], destinations: [], delegates: [], programs: [] })).toBeNull()
    expect(excess({ delegates: [{ ...approved.delegates[0]!, amount: 6n }] })).toBeNull()
  })

  it.each<[string, Partial<Movement>]>([
    ['a lamport more', { lamports_out: 9_001n }],
    ['a unit more', { tokens_out: [{ mint: MINT, amount: 8n }] }],
    ['another token', { tokens_out: [{ mint: MINTS[1]!, amount: 1n }] }],
    ['another receiver', { destinations: [{ ...destination, address: 'other' }] }],
    ['an account that has another owner since', { destinations: [{ ...destination, owner: 'other' }] }],
    ['a unit more for a receiver', { destinations: [{ ...destination, amount: 8n }] }],
    ['lamports in place of tokens', { destinations: [{ ...destination, mint: null }] }],
    ['the loss of an authority', { authority_changes: [{ address: 'mint', what: 'mint authority', to: null }] }],
    ['a unit more for a delegate', { delegates: [{ ...approved.delegates[0]!, amount: 8n }] }],
    ['another delegate', { delegates: [{ ...approved.delegates[0]!, delegate: 'other' }] }],
    ['a power over holders', { powers: [{ mint: MINT, power: OTHER!, account: 'account', what: 'it freezes' }] }],
    ['a closed account', { closes: [{ address: 'account', what: 'token account', lamports: 1n, to: [WALLET] }] }],
    ['another program', { programs: [{ ...approved.programs[0]!, program: STRANGER }] }],
  ])('is exceeded by %s', (_, parts) => {
    expect(excess(parts)).toEqual(expect.any(String))
  })
})
