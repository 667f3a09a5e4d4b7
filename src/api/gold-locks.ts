/** Gold locks: gold tokens (of the mint in the setting `gold.mint`) that a wallet has locked until a date. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress, platformFeeField, platformId, u64Digits } from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { timestamp } from './scalars.ts'

const GOLD_LOCK_STATUSES = ['locked', 'unlockable', 'unlocked'] as const

export const goldLock = z
  .object({
    user: address,
    mint: mintAddress,
    amount: digits,
    unlocks_at: timestamp,
    status: z.enum(GOLD_LOCK_STATUSES),
    escrow: address.meta({ description: 'Account that holds the tokens' }),
    created_at: timestamp.nullable(),
  })
  .openapi('GoldLock')

export type GoldLock = z.output<typeof goldLock>

const secondsLeftField = z
  .int()
  .min(0)
  .meta({ description: "Seconds until it can be unlocked, by the chain's clock; 0 when it can be unlocked" })

/** One lock read from the chain. */
const goldLockRead = goldLock.extend({ seconds_left: secondsLeftField }).openapi('GoldLockRead')

const goldLocking = unsignedPayload({
  escrow: address.meta({ description: 'Account that will hold the tokens' }),
  mint: mintAddress,
  unlocks_at: timestamp,
})
export type GoldLocking = z.output<typeof goldLocking>

const goldUnlocking = unsignedPayload({
  escrow: address.meta({ description: 'Account that holds the tokens; it is closed' }),
  mint: mintAddress,
  amount: digits.meta({ description: 'Raw units that are paid out; 0 if another tool has already paid them out' }),
})
export type GoldUnlocking = z.output<typeof goldUnlocking>

const goldToken = z
  .object({ mint: mintAddress, decimals: z.int().min(0).max(255), token_program: z.enum(['spl', 'token2022']) })
  .openapi('GoldToken')
export type GoldToken = z.output<typeof goldToken>

const goldLockParams = z.object({ user: address })

const GOLD_LOCKS_TAG: Tag = {
  name: 'Gold locks',
  description: 'Gold tokens (of the mint in the setting `gold.mint`) that a wallet locks until a fixed date.',
}

export const goldLocks = {
  create: defineRoute({
    at: ['post', '/v2/gold-locks'],
    tag: GOLD_LOCKS_TAG,
    summary: 'Build the locking of gold for a number of days',
    description:
      'A wallet has one live lock at a time, and it cannot be cancelled. The days count from the build, by the clock of the chain.',
    body: buildBody({
      user: address,
      platform_id: platformId,
      amount: u64Digits.refine((text) => /[1-9]/.test(text), 'must be more than 0'),
      lock_duration_days: z.int().min(1).max(1460).meta({ example: 30 }),
      platform_fee: platformFeeField,
    }),
    data: goldLocking,
    signed: 'refused',
    payable: 'user',
    says: async ({ amount }, units) => `Lock ${await units(amount)} of gold`,
  }),
  unlock: defineRoute({
    at: ['delete', '/v2/gold-locks/{user}'],
    tag: GOLD_LOCKS_TAG,
    summary: 'Build the unlocking of gold after its date',
    description:
      'Pays the gold out and closes the account in one transaction. Before the date it is refused, and the error names the date.',
    params: goldLockParams,
    body: buildBody({ platform_id: platformId, platform_fee: platformFeeField }),
    data: goldUnlocking,
    signed: 'refused',
    payable: 'user',
    says: () => 'Unlock gold',
  }),
  list: defineRoute({
    at: ['get', '/v2/gold-locks'],
    tag: GOLD_LOCKS_TAG,
    summary: 'List gold locks, newest first',
    description:
      'Locks of this chain that this service has seen, including ended ones. A page may have fewer than `limit`.',
    query: listQuery({ user: address.optional(), status: z.enum(GOLD_LOCK_STATUSES).optional() }),
    data: goldLock,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/gold-locks/{user}'],
    tag: GOLD_LOCKS_TAG,
    summary: 'Read the gold lock of a wallet from the chain',
    description: "With the seconds that are left by the chain's clock, or the last ended lock where there is none.",
    params: goldLockParams,
    data: goldLockRead,
  }),
  token: defineRoute({
    at: ['get', '/v2/gold-token'],
    tag: GOLD_LOCKS_TAG,
    summary: 'Read the token that gold locks are made of',
    description: 'The mint of the setting `gold.mint`, with its decimals.',
    data: goldToken,
  }),
}
