/** Structures that all endpoints share: common fields, list parameters, the answer to a deletion. */

import { z } from '@hono/zod-openapi'
import { GUARD_MODES } from '../solana/constants.ts'
import { address } from './chain-scalars.ts'
import { metadata } from './metadata.ts'
import { externalUid } from './scalars.ts'

export const mode = z.enum(['unsigned', 'signed']).default('unsigned')

/** The three fields that every write accepts. */
const commonFields = {
  mode,
  externalUid: externalUid.optional().meta({
    description:
      'Your own id for this write: returned in `meta`, and kept with its record and its events. An unsigned build has neither, except a launch: send it with `POST /v2/transactions` too',
  }),
  metadata: metadata.optional(),
}

/** A multisig whose vault acts: the build becomes a proposal of it. */
export const approverField = z
  .strictObject({
    kind: z.literal('squads'),
    multisig: address,
    vault_index: z.int().min(0).max(255).default(0),
    member: address
      .optional()
      .meta({ description: 'Member who proposes and pays its rent. With `mode: signed` it is the platform wallet' }),
    guard_inside: z.boolean().optional().meta({
      description:
        'Whether what the members approve ends with a guard of its own: the vault keeps what the simulation leaves it, whoever executes. After any other spend of the vault it can no longer be executed',
    }),
  })
  .openapi('SquadsApprover', {
    description:
      'Multisig of Squads v4 that must approve. Its vault is the payer, creator and authority of the request, and the answer has `proposal`, with the transactions that put it on chain',
  })
export type Approver = z.output<typeof approverField>

/** Creates the body of a write: the given fields and the common ones; all other fields are rejected. */
export function writeBody<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject({ ...shape, ...commonFields })
}

const txVersionSchema = z
  .union([z.literal(0), z.literal(1)], { error: 'must be 0 or 1' })
  .default(0)
  .openapi({
    type: 'integer',
    enum: [0, 1],
    default: 0,
    description:
      'Version of the transaction. Version 1 has room for 4,096 bytes, 64 accounts, 64 instructions and 12 signers; its message contains its limits and priority fee',
  })
export type TxVersion = z.output<typeof txVersionSchema>
export type { GuardMode } from '../solana/constants.ts'

/** How a transaction is built, for writes without a dry run. */
export const txTermsShape = {
  tx_version: txVersionSchema,
  guard: z.enum(GUARD_MODES).default('when_it_fits').meta({
    description:
      'Whether the transaction ends with guards: it fails on chain if it would take more from the wallets that sign than its simulation shows. `required` refuses what cannot be guarded',
  }),
}

const LIMIT = 'must be a whole number from 1 to 100, sent once'
/** Page size in decimal digits only; other notations are rejected and the value is never clamped. */
export const pageLimit = (size: number) =>
  z
    .string({ error: LIMIT })
    .regex(/^[1-9][0-9]{0,2}$/, { error: LIMIT, abort: true })
    .transform(Number)
    .refine((limit) => limit <= 100, LIMIT)
    .default(size)
    .openapi({ type: 'integer', minimum: 1, maximum: 100, default: size, description: 'Items on a page' })

/** Creates the body of a write that builds a transaction, which has a version and supports a dry run. */
export function buildBody<S extends z.ZodRawShape>(shape: S) {
  return writeBody({
    ...shape,
    ...txTermsShape,
    approver: approverField.optional(),
    force: z.boolean().default(false).meta({
      description:
        'Builds even what is refused with `program_changed`, because an instruction fails in the present build of its program. Only with mode `unsigned`',
    }),
    dry_run: z.boolean().default(false).meta({
      description:
        'Checks and builds as usual, and stores nothing: no record, event, file, ticker, platform signature or Idempotency-Key',
    }),
  })
}

/** Creates the query of a list: its filters, `limit` (`pageSize` by default) and `cursor`; others are rejected. */
export function listQuery<S extends z.ZodRawShape>(filters: S, pageSize = 20) {
  return z.strictObject({
    ...filters,
    limit: pageLimit(pageSize),
    cursor: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,512}$/, 'must be the next_cursor of the previous page')
      .optional()
      .meta({ description: 'meta.next_cursor of the previous page' }),
  })
}

/** Response to the deletion of a stored record. */
export const deletedSchema = z.object({ id: z.string(), deleted: z.literal(true) }).openapi('Deleted')
