/** Transaction payloads: the answer of a build, unsigned or signed, and the hint that is sent with a submit. */
import { z } from '@hono/zod-openapi'
import { address, digits, signatureText, signedDigits, transactionBase64 } from './chain-scalars.ts'
import { eventType } from './event-types.ts'
import { line } from './scalars.ts'

/** Hint that a build returns and that the client sends verbatim as `tracked_resource` on the submit. */
export const trackedResource = z
  .strictObject({
    resource_type: line(64),
    resource_id: line(256),
    related_events: z.array(eventType).max(5).default([]),
  })
  .openapi('TrackedResource')
export type TrackedResource = z.output<typeof trackedResource>

/** Block height after which a transaction with this blockhash can no longer land. */
export const lastValidBlockHeight = z.int().min(0).meta({
  description:
    'Last block height at which it can land; GET /v2/cluster has the present height, and the duration of a slot',
  example: 418_000_150,
})
/** Keys that a build generated, sealed for their transactions. */
export const generatedKeys = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,4096}$/, 'must be the generated_keys of a build')
  .meta({
    description:
      'Keys that the build generated, encrypted by this server for these transactions only. POST /v2/transactions/refresh signs with them again',
  })

/** A proposal that a build with `approver` made, and the transactions that put it on chain. */
export const proposalCreation = z
  .object({
    id: z.string().meta({ example: 'prp_4fJq1Vb0aW2mX8sYtLcD3eRk' }),
    transaction_index: digits.meta({ description: 'Number of the transaction in its multisig', example: '7' }),
    proposal_address: address,
    transactions: z
      .array(transactionBase64)
      .meta({ description: 'For the member to sign and send, one after another; empty once it is signed' }),
    requiredSigners: z.array(address).meta({ description: 'Wallets that must sign them' }),
    last_valid_block_height: lastValidBlockHeight,
    signatures: z
      .array(signatureText)
      .optional()
      .meta({ description: 'With `mode: signed`: the transactions that the platform wallet has signed' }),
    following: z
      .array(z.string())
      .optional()
      .meta({ description: 'Proposals of the further transactions of this build, in their order' }),
  })
  .openapi('ProposalCreation')
export type ProposalCreation = z.output<typeof proposalCreation>

/** Field of the answers of routes that take `approver`. */
export const proposed = proposalCreation.optional().meta({ description: 'With `approver`: the proposal' })

export const UNGUARDED_REASONS = [
  'off',
  'vault',
  'program_missing',
  'program_changed',
  'not_simulated',
  'no_room',
  'no_lamports',
  'fails',
] as const

/** What the chain itself holds of a built transaction. */
export const guardAnswer = z
  .object({
    state: z.enum(['whole', 'part', 'none']).meta({ description: 'Whether all that it needs is guarded' }),
    reason: z.enum(UNGUARDED_REASONS).nullable().meta({ description: 'Why something is not guarded; null if all is' }),
    text: z.string().nullable().meta({ description: 'The reason as a sentence' }),
    missing_bytes: z
      .int()
      .nullable()
      .meta({ description: 'Bytes that the missing guards need; null for other reasons' }),
    wallets: z
      .array(z.object({ address, lamports: signedDigits }))
      .meta({ description: 'Least change of each wallet without the fee, in lamports: more than this cannot leave' }),
    token_accounts: z.array(z.object({ address, amount: signedDigits.nullable() })).meta({
      description:
        'Least change of each token account in raw units, whose owner, delegate, close authority and state also stay; null for one that it opens',
    }),
    unguarded: z.array(address).meta({ description: 'Accounts that have no guard for lack of room' }),
  })
  .openapi('Guard')
export type GuardAnswer = z.output<typeof guardAnswer>

const unsignedShape = {
  mode: z.literal('unsigned'),
  transaction: transactionBase64,
  requiredSigners: z.array(address).optional().meta({ description: 'Wallets that must still sign' }),
  last_valid_block_height: lastValidBlockHeight,
  generated_keys: generatedKeys.optional(),
  tracked_resource: trackedResource.optional(),
  proposal: proposed,
  guard: guardAnswer.optional(),
}
/** Creates the unsigned transaction payload with the additional fields of a build. */
export function unsignedPayload<S extends z.ZodRawShape>(more: S) {
  return z.object({ ...unsignedShape, ...more })
}
/** Creates the signed transaction payload with the additional fields of an operation. */
export function signedPayload<S extends z.ZodRawShape>(more: S) {
  return z.object({ mode: z.literal('signed'), signature: signatureText, ...more })
}
/** Either payload, distinguished by `mode`, with the same additional fields in both. */
export const eitherMode = <S extends z.ZodRawShape>(shape: S) =>
  z.discriminatedUnion('mode', [unsignedPayload(shape), signedPayload(shape)])
export const eitherPayload = eitherMode({}).openapi('TransactionPayload')
