/** The custodial signer: its state, its policy, and pausing it. */
import { z } from '@hono/zod-openapi'
import { WEEKDAYS } from '../platform/timing.ts'
import { GUARD_MODES } from '../solana/constants.ts'
import { HOLDER_POWERS } from '../solana/token-authorities.ts'
import { address, mintAddress, signatureText, u64Digits } from './chain-scalars.ts'
import { txTermsShape, writeBody } from './envelope.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, nullOr, timestamp } from './scalars.ts'
import { SIGNED_OPERATIONS } from './signed-operations.ts'

const SIGNER_PROVIDERS = ['keypair', 'vault', 'turnkey', 'privy', 'aws-kms'] as const

/** Rules of the policy, in the order in which they are checked. */
export const SIGNING_RULES = [
  'paused',
  'simulation',
  'unstable',
  'signers',
  'program',
  'authority',
  'delegate',
  'power',
  'close',
  'guard',
  'sponsorship',
  'fee',
  'destination',
  'lamports_per_transaction',
  'tokens_per_transaction',
  'lamports_per_day',
  'tokens_per_day',
  'operation',
  'hours',
] as const

const lamportsField = u64Digits.meta({ description: 'Lamports, digits', example: '1000000000' })
const units = u64Digits.meta({ description: 'Raw units of the mint, digits', example: '1000000' })

const tokenLimit = z.strictObject({ mint: mintAddress, per_transaction: units, per_day: units })

const clockTime = (pattern: RegExp, text: string) => z.string().regex(pattern, text)

const hours = z
  .strictObject({
    days: z.array(z.enum(WEEKDAYS)).min(1).max(7),
    from: clockTime(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/, 'must be a time as HH:MM'),
    to: clockTime(/^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, 'must be a time as HH:MM, at most 24:00').meta({
      description: 'Exclusive. A time before `from` is on the next day',
    }),
    timezone: line(64).meta({ description: 'IANA name', example: 'Europe/Berlin' }),
  })
  .openapi('ApprovalHours', { example: { days: ['mon', 'fri'], from: '09:00', to: '17:00', timezone: 'UTC' } })

const waits = (what: string) =>
  z
    .boolean()
    .default(false)
    .meta({ description: `Whether ${what} waits for approvals` })
const ceiling = (what: string) =>
  u64Digits
    .nullable()
    .default(null)
    .meta({
      description: `Most lamports that may leave ${what} with approvals; null: the limit is final`,
      example: '5000000000',
    })

/** What waits for approvals instead of being refused. */
const signerApprovals = z
  .strictObject({
    needed: z.int().min(1).max(16).meta({ description: 'Approvals that an act needs', example: 2 }),
    approvers: z
      .array(address)
      .max(64)
      .nullable()
      .default(null)
      .meta({ description: 'Addresses of those who may approve; null: every approver' }),
    expires_in: z
      .int()
      .min(60)
      .max(2_592_000)
      .default(86_400)
      .meta({ description: 'Seconds until a proposal expires' }),
    rules: z.strictObject({
      lamports_per_transaction: ceiling('in one transaction'),
      lamports_per_day: ceiling('in any 24 hours'),
      tokens: z
        .array(tokenLimit)
        .max(64)
        .default([])
        .meta({ description: 'Most that may leave of each mint with approvals' }),
      destination: waits('a payment to a destination that is not listed'),
      authority: waits('the loss of an authority'),
      delegate: waits('a new delegate'),
      power: waits('an act on what others hold, for example to freeze a token account'),
      close: waits('closing an account whose lamports others get'),
      operations: z
        .array(z.enum(SIGNED_OPERATIONS))
        .max(SIGNED_OPERATIONS.length)
        .default([])
        .meta({ description: 'Operations that always wait' }),
      hours: nullOr(hours).default(null).meta({ description: 'Outside these hours everything waits; null: never' }),
    }),
  })
  .openapi('SignerApprovals')

const limits = {
  programs: z
    .array(address)
    .max(64)
    .meta({ description: 'Programs that a signed transaction may invoke, directly or through another program' }),
  destinations: z
    .array(address)
    .max(1000)
    .nullable()
    .meta({ description: 'Wallets that may receive lamports or tokens; null allows any wallet' }),
  max_fee_lamports: lamportsField.meta({
    description: 'Highest fee of one transaction in lamports, including the priority fee',
  }),
  lamports_per_transaction: lamportsField.meta({
    description: 'Most lamports that may leave in one transaction, including fee and rent',
  }),
  lamports_per_day: lamportsField.meta({ description: 'Most lamports that may leave in any 24 hours' }),
  tokens: z
    .array(tokenLimit)
    .max(256)
    .meta({ description: 'Most that may leave of each mint; mints that are not listed may not leave' }),
  powers: z.array(z.enum(HOLDER_POWERS)).max(HOLDER_POWERS.length).meta({
    description:
      'Authorities of mints with which the platform wallet may act on what others hold: freeze token accounts, pause a token, change its fee, rate, multiplier or hook, close the mint',
  }),
  guards: z.enum(GUARD_MODES).meta({
    description:
      'Whether what is signed must be guarded on chain: `required` refuses what cannot be, `off` adds none, unless a request requires them',
  }),
  approvals: nullOr(signerApprovals).meta({
    description: 'What waits for approvals instead of being refused; null: nothing does',
  }),
}

const signerPolicy = z
  .object({
    paused: z.boolean(),
    paused_reason: z.string().nullable(),
    ...limits,
    updated_at: timestamp.nullable().meta({ description: 'Null if it was never set; nothing may leave then' }),
  })
  .openapi('SignerPolicy')

const signerState = z
  .object({
    provider: z.enum(['none', ...SIGNER_PROVIDERS]),
    address: address.nullable().meta({ description: 'Address of the platform wallet; null without a signer' }),
    cluster: z.string().meta({ description: 'Cluster that it may sign for: a name, or any' }),
    policy: nullOr(signerPolicy).meta({ description: 'Null without a signer' }),
    spent: z
      .object({
        since: timestamp.meta({ description: '24 hours ago, or the last reset if that is later' }),
        lamports: lamportsField,
        tokens: z.array(z.object({ mint: mintAddress, amount: units })),
      })
      .nullable()
      .meta({ description: 'What has left since then, or is reserved to leave' }),
  })
  .openapi('Signer')

const signerTest = z
  .object({
    provider: z.enum(SIGNER_PROVIDERS),
    address,
    duration_ms: z.int().min(0).nullable().meta({
      description: 'How long it took to sign the text and check the signature; null if a memo was submitted',
    }),
    signature: signatureText
      .nullable()
      .meta({ description: 'Signature of the submitted memo; null if none was requested' }),
  })
  .openapi('SignerTest')

export type SignerPolicy = z.output<typeof signerPolicy>
export type SignerState = z.output<typeof signerState>

export const SIGNER_TAG: Tag = {
  name: 'Signer',
  description: 'The platform wallet: its provider, its policy, and how to stop it at once.',
}

export const signer = {
  get: defineRoute({
    at: ['get', '/v2/signer'],
    tag: SIGNER_TAG,
    summary: 'Read the signer, its policy and what it has spent',
    description: 'Provider and address of the signer, what it may sign, and what has left in the last 24 hours.',
    data: signerState,
    scope: '*',
  }),
  updatePolicy: defineRoute({
    at: ['patch', '/v2/signer/policy'],
    tag: SIGNER_TAG,
    summary: 'Change the policy',
    description: 'Omitted fields stay unchanged; a list replaces the whole list.',
    body: writeBody({
      programs: limits.programs.optional(),
      destinations: limits.destinations.optional(),
      max_fee_lamports: limits.max_fee_lamports.optional(),
      lamports_per_transaction: limits.lamports_per_transaction.optional(),
      lamports_per_day: limits.lamports_per_day.optional(),
      tokens: limits.tokens.optional(),
      powers: limits.powers.optional(),
      guards: limits.guards.optional(),
      approvals: limits.approvals.optional(),
    }),
    example: { lamports_per_transaction: '500000000' },
    data: signerState,
    scope: '*',
  }),
  pause: defineRoute({
    at: ['post', '/v2/signer/pauses'],
    tag: SIGNER_TAG,
    summary: 'Stop signing at once',
    description:
      'Every `mode: signed` is refused by all daemons until signing is resumed. Transactions that are already signed are followed to their end.',
    body: writeBody({ reason: line(200).optional() }),
    data: signerState,
    scope: '*',
  }),
  resume: defineRoute({
    at: ['post', '/v2/signer/resumptions'],
    tag: SIGNER_TAG,
    summary: 'Sign again',
    description: 'Ends a pause. Requests that were refused during the pause are not repeated.',
    body: writeBody({}),
    data: signerState,
    scope: '*',
  }),
  reset: defineRoute({
    at: ['post', '/v2/signer/resets'],
    tag: SIGNER_TAG,
    summary: 'Reset the daily count',
    description:
      'Spending before the reset no longer counts against the daily limits. The audit log records the reset.',
    body: writeBody({}),
    data: signerState,
    scope: '*',
  }),
  test: defineRoute({
    at: ['post', '/v2/signer/tests'],
    tag: SIGNER_TAG,
    summary: 'Try the provider',
    description:
      'Signs a text that cannot be a transaction on any chain. With `submit` it signs and submits a memo instead, under the policy like any other transaction.',
    body: writeBody({
      submit: z.boolean().default(false),
      memo: line(200).default('svc signer test'),
      ...txTermsShape,
    }),
    data: signerTest,
    scope: '*',
    waits: true,
  }),
}
