/** Gold locks: a wallet's gold token held back until a date. */
import { z } from '@hono/zod-openapi'
import {
  address,
  digits,
  listQuery,
  platformFee,
  platformId,
  timestamp,
  u64,
  unsignedPayload,
  writeBody,
} from './envelope.ts'
import { paths } from './paths.ts'
import { defineRoute } from './route.ts'

export const GOLD_LOCK_STATUSES = ['locked', 'unlockable', 'unlocked'] as const
export type GoldLockStatus = (typeof GOLD_LOCK_STATUSES)[number]

export const goldLock = z
  .object({
    user: address,
    mint: address,
    amount: digits,
    unlocks_at: timestamp,
    status: z.enum(GOLD_LOCK_STATUSES),
    escrow: address.meta({ description: 'Account that holds the tokens' }),
    created_at: timestamp.nullable(),
  })
  .openapi('GoldLock')

export type GoldLock = z.output<typeof goldLock>

const params = z.object({ user: address })

export const goldLocks = {
  create: defineRoute({
    at: paths.goldLocks.create,
    tag: 'Gold locks',
    summary: 'Build the locking of gold for a number of days',
    description: 'A wallet has one live lock at a time; it cannot be cancelled.',
    body: writeBody({
      user: address,
      platform_id: platformId,
      amount: u64.refine((text) => /[1-9]/.test(text), 'must be more than 0'),
      lock_duration_days: z.int().min(1).max(1460),
      platform_fee: platformFee,
    }),
    data: unsignedPayload({}),
    signed: 'refused',
  }),
  unlock: defineRoute({
    at: paths.goldLocks.unlock,
    tag: 'Gold locks',
    summary: 'Build the unlocking of gold whose time has come',
    params,
    body: writeBody({ platform_id: platformId, platform_fee: platformFee }),
    data: unsignedPayload({}),
    signed: 'refused',
  }),
  list: defineRoute({
    at: paths.goldLocks.list,
    tag: 'Gold locks',
    summary: 'List gold locks, newest first',
    query: listQuery({ user: address.optional(), status: z.enum(GOLD_LOCK_STATUSES).optional() }),
    data: goldLock,
    list: true,
  }),
  get: defineRoute({
    at: paths.goldLocks.get,
    tag: 'Gold locks',
    summary: 'Read the gold lock of a wallet from the chain',
    params,
    data: goldLock,
  }),
}
