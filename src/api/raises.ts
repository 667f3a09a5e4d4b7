/** Raises: sales of a token by the presale program, whose money can open the token's pool. Rounds count from 1. */
import { z } from '@hono/zod-openapi'
import { SETTLEMENT_ACTS } from '../solana/raise-due.ts'
import { RAISE_MODES, RAISE_STATES } from '../solana/raises.ts'
import { address, digits, hash32, hex32, mintAddress, otherWallet, u64Digits, warningsField } from './chain-scalars.ts'
import { buildBody, listQuery, writeBody } from './envelope.ts'
import { eitherMode, unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, nullOr, timestamp } from './scalars.ts'

export type { SettlementAct } from '../solana/raise-due.ts'

export const BUYER_ACTS = ['deposit', 'withdraw', 'claim', 'refund'] as const
export type BuyerAct = (typeof BUYER_ACTS)[number]

const WHOLE_BPS = 10_000
const raiseId = address.meta({
  description: 'Address of the raise: the `presale` account of the program',
  example: 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
})
const positive = (text: string) => /[1-9]/.test(text)
const amount = u64Digits.refine(positive, 'must be more than 0')
const bps = (max: number) => z.int().min(0).max(max)
const seconds = z.int().min(0).max(315_360_000)
/** The program numbers rounds (its registries) from 0. */
const roundNumber = z.int().min(1).max(5)
const price = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?$/, { error: 'must be a decimal number in digits', abort: true })
  .refine(positive, 'must be more than 0')
  .meta({ description: 'Whole units of what is paid for one whole token', example: '0.001' })

/** How the pool opens after the raise. */
export const raisePool = z
  .strictObject({
    quote_bps: bps(WHOLE_BPS).min(1).meta({
      description:
        'Part of what was raised that goes into the pool, in hundredths of a percent; the creator keeps the rest',
    }),
    reserve: amount.meta({ description: 'Most raw units of the token that the creator puts into the pool' }),
    price: z.enum(['raise', 'reserve']).default('raise').meta({
      description:
        '`raise`: the pool opens at `price_bps` of the price that buyers paid, and the rest of the reserve stays with the creator; `reserve`: the whole reserve goes in, and the price follows from it',
    }),
    price_bps: z.int().min(1).max(1_000_000).default(WHOLE_BPS).meta({
      description: 'Price of the pool in hundredths of a percent of the price of the raise; only with `price: raise`',
    }),
    fee_bps: z.int().min(1).max(9900).default(100).meta({ description: 'Trading fee of the pool' }),
    locked_bps: bps(WHOLE_BPS).default(WHOLE_BPS).meta({
      description: 'Part of the liquidity that is locked for good; its fees can still be claimed',
    }),
    when: z.enum(['after', 'before_end']).default('after').meta({
      description:
        '`after`: with the withdrawal, while buyers cannot claim yet, so that nobody else can open the pool; `before_end`: with a little liquidity before the end, closed to trades until `opens_after_seconds` after it',
    }),
    opens_after_seconds: z.int().min(0).max(86_400).default(600).meta({
      description:
        'Seconds from the end to the first trade, in which the settlement adds the rest; only with `when: before_end`',
    }),
  })
  .openapi('RaisePool')
export type RaisePool = z.output<typeof raisePool>

const buyerTerms = {
  buyer_min: amount.optional().meta({ description: 'Least that one buyer pays, raw units of the quote' }),
  buyer_max: amount.optional().meta({ description: 'Most that one buyer pays, raw units of the quote' }),
  deposit_fee_bps: bps(5000).default(0).meta({ description: 'Fee of the creator on top of each deposit' }),
}
const roundTerms = {
  supply: amount.meta({ description: 'Raw units of the token that the round sells' }),
  ...buyerTerms,
}

const round = z.object({
  round: roundNumber,
  supply: digits,
  buyer_min: digits,
  buyer_max: digits,
  deposit_fee_bps: z.int(),
  deposited: digits,
  buyers: digits,
})

/** One result of a raise: who gets what, in raw units. */
const raiseOutcome = z
  .object({
    raised: digits.meta({ description: 'What buyers have paid, without fees' }),
    buyers_get: digits.meta({ description: 'Raw units of the token that all buyers get' }),
    price: nullOr(z.string()).meta({ description: 'Whole units of the quote for one token; null if none is sold' }),
    creator_gets: digits.meta({ description: 'Raw units of the quote that stay with the creator after the pool' }),
    creator_tokens: digits.meta({ description: 'Raw units of the token that return to the creator, reserve included' }),
    fees: digits.meta({ description: 'Deposit fees that the creator collects' }),
    refunded: digits.meta({ description: 'Raw units of the quote that buyers get back' }),
    burned: digits,
    dust: digits.meta({ description: 'Most raw units of the token that stay in the vault, by rounding' }),
    pool_quote: digits,
    pool_tokens: digits,
    pool_price: nullOr(z.string()),
    pool_price_bps: nullOr(z.int()).meta({ description: 'Price of the pool in hundredths of a percent of the raise' }),
    locked_bps: z.int().meta({ description: 'Part of the liquidity that is locked for good' }),
    lamports: digits.meta({ description: 'Rent and network fees of the creator that do not come back' }),
  })
  .openapi('RaiseOutcome')
export type RaiseOutcome = z.output<typeof raiseOutcome>

const terms = {
  mint: mintAddress,
  quote_mint: address,
  creator: otherWallet.meta({
    description:
      'Wallet or vault that takes what was raised. It never changes, and nothing on chain makes it open a pool',
  }),
  sale_mode: z.enum(RAISE_MODES),
  price: nullOr(z.string()).meta({
    description: 'Whole units of the quote for a whole token: fixed, or by the deposits so far; null before the first',
  }),
  min: digits.meta({ description: 'Least that must be deposited, or all is refunded; raw units of the quote' }),
  max: digits.meta({ description: 'Most that is taken, raw units of the quote' }),
  supply: digits.meta({ description: 'Raw units of the token for sale' }),
  starts_at: timestamp,
  ends_at: timestamp,
  release_bps: z.int().meta({ description: 'Part of the tokens that buyers get at once' }),
  release_at: nullOr(timestamp).meta({ description: 'When buyers get this part' }),
  vesting_starts_at: timestamp.meta({ description: 'When the rest begins to vest' }),
  vesting_ends_at: timestamp.meta({ description: 'When buyers can claim all of it' }),
  unsold: z.enum(['return', 'burn']),
  early_end: z.boolean().meta({ description: 'Whether it ends as soon as the maximum is reached' }),
  withdrawable: z.boolean().meta({ description: 'Whether buyers can withdraw deposits before the end' }),
  allowlist: z.boolean(),
  rounds: z.array(round),
}

const due = z.object({
  act: z.enum(['open', ...SETTLEMENT_ACTS, ...BUYER_ACTS]),
  by: z.enum(['creator', 'buyers']),
  text: z.string(),
})

const raise = z
  .object({
    id: raiseId,
    base: address.meta({ description: 'Key from which, with both mints, the address of the raise follows' }),
    ...terms,
    decimals: z.int(),
    quote_decimals: z.int(),
    state: z.enum(RAISE_STATES).meta({ description: "The program's word" }),
    state_text: z.string().meta({ description: 'The state in a sentence' }),
    deposited: digits.meta({ description: 'Deposits so far without fees, raw units of the quote' }),
    fees: digits.meta({ description: 'Deposit fees so far' }),
    buyers: digits,
    claimed: digits.meta({ description: 'Raw units of the token that buyers have claimed' }),
    refunded: digits,
    withdrawn: z.boolean().meta({ description: 'Whether the creator has taken what was raised, or the tokens back' }),
    fee_collected: z.boolean(),
    unsold_done: z.boolean(),
    root: nullOr(hex32).meta({ description: 'Root of the stored allowlist; null without one' }),
    root_version: nullOr(z.int()).meta({ description: 'Which account has it, or will have it; null without' }),
    url: nullOr(z.string()).meta({ description: 'Where proofs are, as written on chain' }),
    pool: nullOr(raisePool).meta({ description: 'The plan of the pool, as stored here; null without' }),
    pool_address: nullOr(address).meta({ description: 'The pool, once it is open' }),
    settle: z.boolean().meta({ description: 'Whether a worker settles it' }),
    settle_error: nullOr(z.string()).meta({ description: 'Why its last attempt failed; null if none did' }),
    creator_vault: nullOr(
      z.object({
        ...{ multisig: address, vault_index: z.int(), threshold: z.int() },
        members: z.int().meta({ description: 'Members who can approve' }),
        time_lock: z.int(),
        config_authority: nullOr(address).meta({
          description: 'Who can change members and rules without them; null if nobody can',
        }),
      }),
    ).meta({ description: 'The multisig that holds the key of the creator; null for a wallet, and in lists' }),
    due: z.array(due).meta({ description: 'What can be done now, and by whom' }),
    created_at: nullOr(timestamp).meta({ description: 'When it was recorded here; null if it was made elsewhere' }),
  })
  .openapi('Raise')
export type Raise = z.output<typeof raise>

/** What is stored here, without the chain. */
const raiseListed = raise
  .pick({ id: true, mint: true, quote_mint: true, creator: true, sale_mode: true, min: true, max: true, supply: true })
  .extend({
    state: z.enum(['pending', ...RAISE_STATES]).meta({ description: '`pending` until it is seen on chain' }),
    deposited: digits,
    ends_at: timestamp,
    withdrawn: z.boolean(),
    pool_address: nullOr(address),
    settle: z.boolean(),
    settle_error: nullOr(z.string()),
    created_at: timestamp,
  })
  .openapi('RaiseListed')
export type RaiseListed = z.output<typeof raiseListed>

const raiseCreated = eitherMode({
  id: raiseId,
  ...terms,
  deposit: digits.meta({ description: 'Raw units of the token that leave the payer' }),
  received: digits.meta({ description: 'Raw units that arrive for sale, without the transfer fee of the mint' }),
  rent: digits.meta({ description: 'Lamports for the accounts' }),
  rent_kept: digits.meta({ description: 'The part of it that never comes back' }),
  preview: z.object({ best: raiseOutcome, expected: raiseOutcome, failed: raiseOutcome }),
  warnings: warningsField,
}).openapi('RaiseCreated')
export type RaiseCreated = z.output<typeof raiseCreated>

const allowlistStored = z
  .object({
    id: raiseId,
    root: hex32,
    entries: z.int(),
    total: digits.meta({ description: 'Sum of all caps' }),
    warnings: warningsField,
  })
  .openapi('RaiseAllowlist')
export type RaiseAllowlist = z.output<typeof allowlistStored>

const buyerRound = z.object({
  round: roundNumber,
  cap: nullOr(digits).meta({ description: 'Most that it may deposit; null if it is not on the stored allowlist' }),
  deposited: digits.meta({ description: 'Raw units of the quote, without the fee' }),
  fee: digits.meta({ description: 'Deposit fees paid' }),
  can_deposit: digits.meta({ description: 'Most that can be deposited now' }),
  can_withdraw: digits,
  can_claim: digits.meta({ description: 'Raw units of the token that can be claimed now' }),
  can_refund: digits.meta({ description: 'Raw units of the quote that can be taken back, fee included' }),
  allocation: digits.meta({ description: 'Raw units of the token for the deposits, by the present state' }),
  claimed: digits,
  next_claim_at: nullOr(timestamp),
  note: nullOr(z.string()).meta({ description: 'Why nothing can be done now; null if something can' }),
})

const raiseBuyer = z
  .object({
    id: raiseId,
    wallet: address,
    state: z.enum(RAISE_STATES),
    rounds: z.array(buyerRound),
    can: z.array(z.enum(BUYER_ACTS)),
  })
  .openapi('RaiseBuyer')
export type RaiseBuyer = z.output<typeof raiseBuyer>

const settlement = eitherMode({
  id: raiseId,
  acts: z.array(z.enum(SETTLEMENT_ACTS)).meta({ description: 'What the transaction does, in order' }),
  left: z.array(z.enum(SETTLEMENT_ACTS)).meta({ description: 'What is due after it, with another request' }),
  quote: digits.meta({ description: 'Raw units of the quote that arrive with the creator' }),
  tokens: digits.meta({ description: 'Raw units of the token that arrive with the creator' }),
  pool_address: nullOr(address),
  pool_quote: digits,
  pool_tokens: digits,
  locked_bps: z.int(),
  warnings: warningsField,
}).openapi('RaiseSettlement')
export type RaiseSettlement = z.output<typeof settlement>

export const RAISES_TAG: Tag = {
  name: 'Raises',
  description:
    "Sales of a token by Meteora's presale program: create, allowlist, deposit, refund, claim, and the pool that opens with what was raised.",
}

const params = z.object({ id: raiseId })
const ACT = { tag: RAISES_TAG, params } as const
/** Only the buyer signs, and anyone may build. */
const BUYER = { ...ACT, signed: 'refused', payable: 'buyer' } as const
const buyerFields = {
  buyer: address.meta({ description: 'Wallet that deposited, or will; it signs and pays the network fee' }),
  round: roundNumber.default(1),
}
const paidBuyer = { id: raiseId, buyer: address, round: roundNumber, quote_mint: address, mint: mintAddress }

export const raises = {
  create: defineRoute({
    at: ['post', '/v2/raises'],
    tag: RAISES_TAG,
    summary: 'Build the creation of a raise',
    description:
      'Moves the tokens for sale into a vault of the program. Before anything is signed, `preview` says who gets what in the best, the expected and the failed case. Refused: a mint whose authorities are still held, a creator who does not prove that it can sign, prices and limits that the program or buyers cannot fulfil. With `mode: signed` the platform wallet pays and is the creator, if its policy permits.',
    body: buildBody({
      payer: address.meta({ description: 'Wallet whose tokens are sold; it pays fee and rent' }),
      mint: mintAddress,
      quote_mint: address.optional().meta({ description: 'What buyers pay (default wrapped SOL)' }),
      creator: otherWallet.optional().meta({
        description: 'Wallet that takes what was raised (default the payer). Another wallet must sign too',
      }),
      creator_vault: z
        .strictObject({ multisig: address, vault_index: z.int().min(0).max(255).default(0) })
        .optional()
        .meta({ description: 'In place of `creator`: a vault of this multisig of Squads v4, which need not sign' }),
      sale_mode: z.enum(RAISE_MODES),
      price: price.optional(),
      supply: amount.optional().meta({
        description:
          'Raw units of the token for sale. With a fixed price either this or `price`; with rounds it is their sum and left out',
      }),
      min: amount.meta({ description: 'Least that must be deposited, or all is refunded; raw units of the quote' }),
      max: amount.meta({ description: 'Most that is taken, raw units of the quote' }),
      starts_at: timestamp.optional().meta({ description: 'Default now; at most 30 days ahead' }),
      ends_at: timestamp.meta({ description: '1 minute to 30 days after the start', example: '2026-12-31T12:00:00Z' }),
      ...buyerTerms,
      release_bps: bps(WHOLE_BPS).optional().meta({
        description:
          'Part of the tokens that buyers get at once. Default all of it; nothing with a lock, with vesting, or with a plan of a pool, so that nobody else can open the pool',
      }),
      release_at: timestamp.optional().meta({ description: 'When buyers get this part (default at the end)' }),
      lock_seconds: seconds.optional().meta({
        description: 'From the end until the rest begins to vest (default 0, with a plan of a pool 3600)',
      }),
      vesting_seconds: seconds.default(0).meta({ description: 'For how long the rest vests; 0 is all at once' }),
      unsold: z.enum(['return', 'burn']).default('return'),
      early_end: z.boolean().default(true).meta({ description: 'Whether it ends as soon as the maximum is reached' }),
      withdrawable: z.boolean().optional().meta({
        description:
          'Only with a fixed price: whether buyers can withdraw before the end (default false, because one buyer could fill the raise and let it fail in the last second)',
      }),
      allowlist: z.boolean().default(false).meta({ description: 'Whether only listed wallets may deposit' }),
      rounds: z.array(z.strictObject(roundTerms)).min(2).max(5).optional().meta({
        description: 'Several rounds (registries of the program), each with its own supply; needs `allowlist`',
      }),
      pool: raisePool.optional(),
      settle: z.boolean().default(false).meta({
        description: 'Whether a worker settles the raise, if the platform wallet is the creator and its policy permits',
      }),
    }),
    data: raiseCreated,
    signed: '*',
    payable: 'payer',
    says: async ({ mint, supply, rounds, max, creator, creator_vault: vault, payer }, units) => {
      const sold = supply ?? rounds?.reduce((sum, each) => sum + BigInt(each.supply), 0n)
      const what = sold === undefined ? '' : `${await units(sold)} of `
      return `Raise at most ${max} raw units for ${what}the token ${mint}, paid to ${vault ? `vault ${vault.vault_index} of the multisig ${vault.multisig}` : (creator ?? payer)}`
    },
  }),
  list: defineRoute({
    at: ['get', '/v2/raises'],
    tag: RAISES_TAG,
    summary: 'List the raises that are recorded here, newest first',
    description: 'As they were when they were last looked at. One raise is read from the chain.',
    query: listQuery({ mint: mintAddress.optional(), creator: address.optional() }),
    data: raiseListed,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/raises/{id}'],
    tag: RAISES_TAG,
    summary: 'Read one raise from the chain',
    description: 'Of any creator and tool: terms, state, progress, and what can be done now, and by whom.',
    params,
    data: raise,
  }),
  buyer: defineRoute({
    at: ['get', '/v2/raises/{id}/buyers/{wallet}'],
    tag: RAISES_TAG,
    summary: 'Read what one wallet has deposited, and what it can do now',
    description: 'Its deposits by round, what it may still deposit, withdraw, claim or take back.',
    params: z.object({ id: raiseId, wallet: address }),
    data: raiseBuyer,
  }),
  storeAllowlist: defineRoute({
    at: ['post', '/v2/raises/{id}/allowlist'],
    ...ACT,
    summary: 'Store who may deposit, and how much',
    description:
      'The server answers proofs of it at /raise/{id}/{registry}/{wallet}. The same list again, in any order, changes nothing. Another one is taken from the key that stored it, and replaces it while its root is not on chain. Later a list can only add wallets and raise caps, because a root on chain stays valid. A wallet may be in several rounds, and its caps add up, which `warnings` says.',
    body: writeBody({
      entries: z
        .array(z.strictObject({ wallet: address, cap: amount, round: roundNumber.default(1) }))
        .min(1)
        .max(50_000),
    }),
    raw: true,
    large: true,
    data: allowlistStored,
    status: 201,
    unstored: 'Nothing new is stored: the same list is already stored',
    scope: 'airdrop:write',
  }),
  open: defineRoute({
    at: ['post', '/v2/raises/{id}/openings'],
    ...ACT,
    summary: 'Build the opening of a raise to its allowlist',
    description:
      'Writes the root of the stored allowlist, or of one that you send, and where proofs are, on chain. The creator signs.',
    body: buildBody({
      payer: address.meta({ description: 'The creator, who signs and pays' }),
      root: hash32.optional().meta({ description: 'Root of a list that is kept elsewhere (default the stored one)' }),
      url: line(256).optional().meta({
        description: 'Where proofs are, without the id of the raise (default the public URL of this server)',
        example: 'https://example.com/raise',
      }),
    }),
    data: eitherMode({
      id: raiseId,
      root: hex32,
      root_version: z.int().meta({ description: 'Number of the root in the program' }),
      url: nullOr(z.string()).meta({ description: 'Null if it was written before' }),
      rent: digits,
      warnings: warningsField,
    }).openapi('RaiseOpening'),
    signed: '*',
    payable: 'payer',
    says: ({ id }) => `Open the raise ${id} to its allowlist`,
  }),
  deposit: defineRoute({
    at: ['post', '/v2/raises/{id}/deposits'],
    ...BUYER,
    summary: 'Build a deposit of a buyer',
    description:
      'The fee is on top. SOL is wrapped for it; wrapped SOL that the buyer had stays. A listed buyer needs its cap and proof, which the stored allowlist gives.',
    body: buildBody({
      ...buyerFields,
      amount: amount.meta({ description: 'Raw units of the quote without the fee' }),
      cap: amount.optional().meta({ description: 'Cap of the entry that `proof` belongs to' }),
      proof: z.array(hash32).max(20).optional().meta({ description: 'Sibling hashes in hex, from leaf to root' }),
    }),
    data: unsignedPayload({
      ...paidBuyer,
      amount: digits,
      fee: digits.meta({ description: 'Deposit fee on top; a withdrawal does not return it' }),
      buys: digits.meta({ description: 'Raw units of the token by the present state' }),
      rent: digits.meta({ description: 'Lamports for its account, which the last claim or refund returns' }),
      warnings: warningsField,
    }).openapi('RaiseDeposit'),
    says: ({ id, amount }) => `Deposit ${amount} raw units into the raise ${id}`,
  }),
  withdraw: defineRoute({
    at: ['post', '/v2/raises/{id}/withdrawals'],
    ...BUYER,
    summary: 'Build the withdrawal of a deposit before the end',
    description: 'Where the raise allows it. The deposit fee is not returned.',
    body: buildBody({ ...buyerFields, amount: amount.optional().meta({ description: 'Default the whole deposit' }) }),
    data: unsignedPayload({
      ...paidBuyer,
      amount: digits,
      fee_lost: digits,
      remaining: digits,
      warnings: warningsField,
    }).openapi('RaiseWithdrawal'),
    says: ({ id }) => `Withdraw a deposit from the raise ${id}`,
  }),
  claim: defineRoute({
    at: ['post', '/v2/raises/{id}/claims'],
    ...BUYER,
    summary: 'Build the claim of bought tokens',
    description: 'What has been released so far, and the excess of a pro rata raise with it.',
    body: buildBody({ ...buyerFields }),
    data: unsignedPayload({
      ...paidBuyer,
      amount: digits,
      received: digits.meta({ description: 'Raw units that arrive, without the transfer fee of the mint' }),
      refunded: digits.meta({ description: 'Excess of a pro rata raise, raw units of the quote' }),
      remaining: digits,
      next_claim_at: nullOr(timestamp),
      closes: z.boolean().meta({ description: 'Whether the account of the buyer is closed, which returns its rent' }),
    }).openapi('RaiseClaim'),
    says: ({ id }) => `Claim tokens bought in the raise ${id}`,
  }),
  refund: defineRoute({
    at: ['post', '/v2/raises/{id}/refunds'],
    ...BUYER,
    summary: 'Build the refund of a failed raise, or of the excess of a pro rata raise',
    description: 'A failed raise returns deposit and fee, to the unit.',
    body: buildBody({ ...buyerFields }),
    data: unsignedPayload({ ...paidBuyer, amount: digits, closes: z.boolean() }).openapi('RaiseRefund'),
    says: ({ id }) => `Take back a deposit from the raise ${id}`,
  }),
  settle: defineRoute({
    at: ['post', '/v2/raises/{id}/settlements'],
    ...ACT,
    summary: 'Build what is due now for the creator',
    description:
      'After the end: takes what was raised, opens the pool of the plan and locks its liquidity, in one transaction where it fits; then fees and unsold tokens. If the raise failed, the tokens return. A request does what the chain says is not done yet, so it can be repeated.',
    body: buildBody({
      payer: address.meta({ description: 'The creator' }),
      skip_pool: z.boolean().default(false).meta({
        description: 'Takes what was raised without the planned pool, for example if somebody else has opened it',
      }),
    }),
    data: settlement,
    signed: '*',
    payable: 'payer',
    says: ({ id, skip_pool }) =>
      `Settle the raise ${id}: take what was raised${skip_pool ? ' without a pool' : ', and open its pool if one is planned here'}`,
  }),
} as const
