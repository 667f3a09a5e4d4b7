/** Recorded claims of an airdrop, and its figures: what was claimed when, and what is left. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress, signatureText, treeId } from './chain-scalars.ts'
import { timestamp } from './scalars.ts'

export const airdropClaim = z
  .object({
    airdrop_id: treeId,
    wallet: address,
    amount: digits.meta({ description: 'What the claim paid of the unlocked amount, raw units' }),
    amount_locked: digits.meta({ description: 'What it paid of the locked amount; 0 without vesting' }),
    signature: signatureText,
    slot: z.int().min(0),
    claimed_at: timestamp.meta({
      description: 'Time of the block, or the time at which a claim submitted here was seen confirmed',
    }),
  })
  .openapi('AirdropClaim')

const claimSums = {
  claims: z.int().min(0),
  wallets: z.int().min(0).meta({ description: 'Wallets that claimed for the first time' }),
  amount: digits.meta({ description: 'Raw units, locked amounts included' }),
}

const claimTimes = { first_claim_at: timestamp.nullable(), last_claim_at: timestamp.nullable() }

const claimWindow = z
  .object({ at: timestamp.meta({ description: 'Start of the hour or day, UTC' }), ...claimSums })
  .openapi('AirdropClaimWindow')

const share = z
  .number()
  .min(0)
  .max(1)
  .nullable()
  .meta({ description: 'From 0 to 1, rounded down; null if the chain or the total is not known' })

const known = <S extends z.ZodType>(schema: S, description: string) => schema.nullable().meta({ description })

export const airdropStats = z
  .object({
    id: treeId,
    mint: mintAddress,
    status: z.string().meta({ description: 'As in GET /v2/airdrops/{id}' }),
    leaf_count: z.int().min(0).meta({ description: 'Wallets of the list' }),
    total: known(digits, 'Sum of the list in raw units; null if no list is stored'),
    claimed_count: known(z.int().min(0), 'Wallets that have claimed, by the chain; null if it was not read'),
    claimed_amount: known(digits, 'Raw units, by the chain'),
    claimed_count_share: share,
    claimed_amount_share: share,
    left_count: known(z.int().min(0), 'Wallets that have not claimed'),
    left_amount: known(digits, 'Raw units that have not been claimed'),
    vault_balance: known(digits, 'Raw units'),
    clawback_at: known(timestamp, 'When the remaining tokens can be withdrawn'),
    clawed_back: known(z.boolean(), 'Whether the vault was withdrawn'),
    recorded: z
      .object({
        ...claimSums,
        missing_count: known(
          z.int().min(0),
          'Wallets that have claimed by the chain but have no record here: they claimed before this installation followed the airdrop, or just now',
        ),
        median_amount: known(
          digits,
          'Median of what a claim paid; for an even number of claims, the mean of the middle two',
        ),
        claims_per_hour: z.number().min(0).meta({ description: 'Over the last 24 hours, or since the first claim' }),
        ...claimTimes,
      })
      .meta({ description: 'Sums of the recorded claims; `hours` and `days` are computed from the same records' }),
    hours: z.array(claimWindow).meta({ description: 'The last hours, oldest first, including the current one' }),
    days: z.array(claimWindow).meta({ description: 'The last days, oldest first, including the current one' }),
    note: known(z.string(), 'What is wrong, in words'),
  })
  .openapi('AirdropStats')

export const airdropUnclaimed = z
  .object({
    id: treeId,
    mint: mintAddress,
    leaf_count: z.int().min(0).meta({ description: 'Wallets of the list' }),
    recorded: z
      .object({ claims: claimSums.claims, wallets: claimSums.wallets, ...claimTimes })
      .meta({ description: 'The recorded claims that the list was compared with' }),
    wallets: z
      .array(
        z.object({
          wallet: address,
          amount: digits.meta({ description: 'What it can claim at once, raw units' }),
          amount_locked: digits.meta({ description: 'What vests for it in addition, raw units; 0 without vesting' }),
          index: z.int().min(0).meta({ description: 'Index of its leaf' }),
        }),
      )
      .meta({ description: 'The largest sum of both amounts first' }),
  })
  .openapi('AirdropUnclaimed')

export type AirdropUnclaimed = z.output<typeof airdropUnclaimed>
export type AirdropClaimRecord = z.output<typeof airdropClaim>
export type AirdropStats = z.output<typeof airdropStats>

/** A number of windows in decimal digits, sent once. */
const windows = (most: number, usual: number, what: string) => {
  const error = `must be a whole number from 1 to ${most}, sent once`
  return z
    .string({ error })
    .regex(/^[1-9][0-9]{0,3}$/, { error, abort: true })
    .transform(Number)
    .refine((count) => count <= most, error)
    .default(usual)
    .openapi({ type: 'integer', minimum: 1, maximum: most, default: usual, description: what })
}

export const statsQuery = z.strictObject({
  hours: windows(168, 24, 'Hours to show'),
  days: windows(366, 30, 'Days to show'),
})
