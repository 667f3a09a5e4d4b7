/** Locks of any mint in Jupiter Lock: an amount that a recipient can claim at a date, or step by step. */
import { z } from '@hono/zod-openapi'
import { LOCK_PARTIES } from '../solana/programs/jupiter-lock.ts'
import {
  address,
  allowProgramsField,
  digits,
  mintAddress,
  otherWallet,
  u64Digits,
  warningsField,
} from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { eitherMode } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, nullOr, timestamp } from './scalars.ts'

/** What made a lock: `gold` is a gold lock, `launch` the vesting that a launch agreed on. */
export const LOCK_ORIGINS = ['gold', 'launch', 'other'] as const

/** UTF-8 bytes of the texts that the transaction of a lock has room for. */
export const LOCK_TEXT_BYTES = { title: 64, description: 200 } as const

const bytesOf = (text: string) => new TextEncoder().encode(text).length
const lockText = (max: number) =>
  line(max).refine((text) => bytesOf(text) <= max, `must be at most ${max} bytes in UTF-8`)

const lockAddress = address.meta({
  description: 'Address of the lock: the account with its terms',
  example: 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
})
const moment = nullOr(timestamp).meta({ description: 'ISO 8601, UTC; null beyond the year 9999' })

/** Terms as the chain has them. A lock of another tool can have numbers beyond 53 bits, so all of them are digits. */
const terms = {
  mint: mintAddress,
  token_program: z.enum(['spl', 'token2022']),
  creator: address.meta({ description: 'Wallet that made the lock' }),
  recipient: otherWallet,
  amount: digits.meta({ description: 'Raw units of the whole lock' }),
  starts_at: moment,
  cliff_at: moment,
  cliff_amount: digits.meta({ description: 'Raw units that unlock at the cliff' }),
  frequency: digits.meta({ description: 'Seconds of a period. The first one begins at the cliff', example: '2592000' }),
  periods: digits.meta({ description: 'Number of periods after the cliff', example: '36' }),
  amount_per_period: digits.meta({ description: 'Raw units that unlock at the end of each period' }),
  ends_at: moment,
  cancellable_by: z.enum(LOCK_PARTIES),
  recipient_changeable_by: z.enum(LOCK_PARTIES),
}

const unlock = z.object({ at: moment, amount: digits })

const lock = z
  .object({
    address: lockAddress,
    origin: z.enum(LOCK_ORIGINS),
    ...terms,
    unlocked: digits.meta({ description: "Raw units that have unlocked by the chain's clock, with the claimed ones" }),
    claimed: digits,
    claimable: digits.meta({ description: 'Raw units that the recipient can claim now' }),
    locked: digits.meta({ description: 'Raw units that are still to unlock; 0 once cancelled' }),
    next_unlock: nullOr(unlock).meta({ description: 'Null if nothing is still to unlock' }),
    cancelled_at: nullOr(timestamp),
  })
  .openapi('Lock')
export type Lock = z.output<typeof lock>

const noText = 'Written by the creator, so it proves nothing; null without'
const lockRead = lock
  .extend({
    title: nullOr(z.string()).meta({ description: noText }),
    description: nullOr(z.string()).meta({ description: noText }),
    held: digits.meta({
      description:
        'Raw units in the token account of the lock. Less than what is not claimed means that a permanent delegate of the mint took some',
    }),
    decimals: nullOr(z.int().min(0).max(255)).meta({ description: 'Null if the mint no longer exists' }),
  })
  .openapi('LockRead')
export type LockRead = z.output<typeof lockRead>

const lockCreated = eitherMode({
  address: lockAddress,
  ...terms,
  deposit: digits.meta({
    description: 'Most raw units that leave the payer: the amount, and the transfer fee of the mint if it has one',
  }),
  rent: digits.meta({ description: 'Lamports that the payer pays for the accounts; closing the lock returns them' }),
  warnings: warningsField,
}).openapi('LockCreated')
export type LockCreated = z.output<typeof lockCreated>

const whoMay = z.enum(LOCK_PARTIES).default('none')
const positive = (text: string) => /[1-9]/.test(text)

export const LOCKS_TAG: Tag = {
  name: 'Locks',
  description:
    'Tokens of any mint that a recipient can claim at a date or step by step, in Jupiter Lock: create, read, claim, cancel.',
}

const lockParams = z.object({ address: lockAddress })
/** What every act on a lock has: the platform wallet can sign it too, and a pay request can carry it. */
const ACT_ON_LOCK = { tag: LOCKS_TAG, params: lockParams, signed: '*', payable: 'payer' } as const

export const locks = {
  create: defineRoute({
    at: ['post', '/v2/locks'],
    tag: LOCKS_TAG,
    summary: 'Build a lock of tokens for a recipient',
    description:
      'The cliff amount unlocks at the cliff, and the rest in equal parts at the end of each period after it. What does not divide evenly is added to the cliff amount, so that the parts are the amount to the unit. Without periods everything unlocks at the cliff, which `warnings` says. The generated key of the lock has already signed. With `mode: signed` the platform wallet locks its own tokens, whatever `payer` says, if its policy permits.',
    body: buildBody({
      payer: address.meta({ description: 'Wallet whose tokens are locked; it pays fee and rent' }),
      mint: mintAddress,
      recipient: otherWallet,
      amount: u64Digits.refine(positive, 'must be more than 0'),
      starts_at: timestamp.optional().meta({
        description: "When the schedule begins, ISO 8601 (default now by the chain's clock)",
      }),
      cliff_at: timestamp.optional().meta({
        description: 'When the cliff amount unlocks and the first period begins (default starts_at)',
      }),
      cliff_amount: u64Digits.optional().meta({
        description: 'Raw units that unlock at the cliff (default 0, or everything without periods)',
      }),
      frequency: z.int().min(1).optional().meta({ description: 'Seconds of a period; required with periods' }),
      periods: z.int().min(0).optional().meta({
        description: 'Number of periods after the cliff (default 0); required with frequency',
      }),
      cancellable_by: whoMay.meta({ description: 'Who may end the lock: the creator gets what has not unlocked' }),
      recipient_changeable_by: whoMay.meta({ description: 'Who may give the lock to another recipient' }),
      title: lockText(LOCK_TEXT_BYTES.title).optional().meta({ description: 'Stored on chain for everybody to read' }),
      description: lockText(LOCK_TEXT_BYTES.description)
        .optional()
        .meta({ description: 'Stored on chain like the title' }),
      base: address.optional().meta({
        description:
          'Address of a new key of yours, which signs too and gives the lock its address: the same key can never make a second lock while the first one exists. Only with mode `unsigned`',
      }),
      allow_programs: allowProgramsField,
    }),
    example: { frequency: 2_592_000, periods: 36 },
    data: lockCreated,
    signed: '*',
    payable: 'payer',
    says: async ({ mint, amount, recipient }, units) =>
      `Lock ${await units(amount)} of the token ${mint} for ${recipient}`,
  }),
  list: defineRoute({
    at: ['get', '/v2/locks'],
    tag: LOCKS_TAG,
    summary: 'List locks of a mint, a recipient or a creator',
    description:
      'Read from the chain, whoever made them, with the vesting of launches and gold locks, in the order of their addresses. Without a filter they are those that the platform wallet made.',
    query: listQuery({
      mint: mintAddress.optional(),
      recipient: address.optional(),
      creator: address.optional(),
    }),
    data: lock,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/locks/{address}'],
    tag: LOCKS_TAG,
    summary: 'Read one lock from the chain',
    description: "Its terms, and what has unlocked, is claimed and can be claimed by the chain's clock.",
    params: lockParams,
    data: lockRead,
  }),
  claim: defineRoute({
    at: ['post', '/v2/locks/{address}/claims'],
    ...ACT_ON_LOCK,
    summary: 'Build the claim of what has unlocked',
    description:
      'The recipient signs and is paid. If nothing can be claimed, the error names the next unlock. With `mode: signed` the platform wallet claims for itself, whatever `payer` says.',
    body: buildBody({
      payer: address.meta({ description: 'The recipient, who pays the fee' }),
      amount: u64Digits.refine(positive, 'must be more than 0').optional().meta({
        description: 'Raw units to claim (default everything that has unlocked)',
      }),
    }),
    data: eitherMode({
      address: lockAddress,
      mint: mintAddress,
      recipient: otherWallet,
      amount: digits.meta({ description: 'Raw units that leave the lock' }),
      received: digits.meta({ description: 'Raw units that arrive, without the transfer fee of the mint' }),
      remaining: digits.meta({ description: 'Raw units that stay in the lock' }),
      closes: z.boolean().meta({
        description:
          'Whether the lock is closed too, which returns its rent: the recipient made it, and takes the last units',
      }),
    }).openapi('LockClaim'),
    says: ({ address }) => `Claim from the lock ${address}`,
  }),
  cancel: defineRoute({
    at: ['delete', '/v2/locks/{address}'],
    ...ACT_ON_LOCK,
    summary: 'Build the cancellation of a lock',
    description:
      'The recipient is paid what has unlocked, and the creator gets the rest. If the creator cancels, the lock is closed too, which returns its rent. With `mode: signed` the platform wallet cancels, whatever `payer` says.',
    body: buildBody({ payer: address.meta({ description: 'Creator or recipient, whoever may cancel' }) }),
    data: eitherMode({
      address: lockAddress,
      mint: mintAddress,
      creator: address,
      recipient: otherWallet,
      to_recipient: digits.meta({ description: 'Raw units that have unlocked and are paid to the recipient' }),
      to_creator: digits.meta({ description: 'Raw units that return to the creator' }),
      closes: z.boolean().meta({
        description:
          'Whether the lock is closed too, which returns its rent to the creator; only the creator can do this',
      }),
    }).openapi('LockCancellation'),
    says: ({ address }) => `Cancel the lock ${address}`,
  }),
  changeRecipient: defineRoute({
    at: ['put', '/v2/locks/{address}/recipient'],
    ...ACT_ON_LOCK,
    summary: 'Build the change of the recipient of a lock',
    description:
      'The new recipient gets everything that is not claimed yet. With `mode: signed` the platform wallet signs, whatever `payer` says.',
    body: buildBody({
      payer: address.meta({ description: 'Creator or recipient, whoever may change it' }),
      new_recipient: otherWallet,
      allow_programs: allowProgramsField,
    }),
    data: eitherMode({
      address: lockAddress,
      mint: mintAddress,
      recipient: otherWallet.meta({ description: 'The recipient until now' }),
      new_recipient: otherWallet,
      claimable: digits.meta({ description: 'Raw units that have unlocked and go to the new recipient too' }),
    }).openapi('LockRecipientChange'),
    says: ({ address, new_recipient }) => `Make ${new_recipient} the recipient of the lock ${address}`,
  }),
  entitle: defineRoute({
    at: ['put', '/v2/locks/{address}/title'],
    ...ACT_ON_LOCK,
    summary: 'Build the writing of title and description of a lock',
    description:
      'Only the creator can, once, and only if the lock has none: the program never changes them. With `mode: signed` the platform wallet signs, whatever `payer` says.',
    body: buildBody({
      payer: address.meta({ description: 'The creator of the lock' }),
      title: lockText(LOCK_TEXT_BYTES.title).meta({ example: 'Team' }),
      description: lockText(LOCK_TEXT_BYTES.description).optional(),
    }),
    data: eitherMode({
      address: lockAddress,
      title: z.string(),
      description: z.string(),
      rent: digits.meta({ description: 'Lamports that the payer pays for the account; closing the lock returns them' }),
    }).openapi('LockTitling'),
    says: ({ address, title }) => `Give the lock ${address} the title ${title}`,
  }),
  close: defineRoute({
    at: ['post', '/v2/locks/{address}/closings'],
    ...ACT_ON_LOCK,
    summary: 'Build the closing of a lock that is claimed or cancelled',
    description:
      'Returns the rent to the creator, who signs. With `mode: signed` the platform wallet closes its own lock, whatever `payer` says.',
    body: buildBody({ payer: address.meta({ description: 'The creator of the lock' }) }),
    data: eitherMode({
      address: lockAddress,
      mint: mintAddress,
      creator: address,
      rent: digits.meta({ description: 'Lamports that return to the creator' }),
    }).openapi('LockClosing'),
    says: ({ address }) => `Close the lock ${address}`,
  }),
}
