/** Multisigs of Squads v4: who may propose, approve and execute what their vaults do. */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, digits } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'

const timeLock = z.int().min(0).max(7_776_000)

export const multisig = z
  .object({
    address,
    vault: address.meta({
      description: 'Its first vault, number 0: the wallet that acts. If a vault was named, that one',
    }),
    vault_index: z
      .int()
      .min(0)
      .max(255)
      .optional()
      .meta({ description: 'Number of the vault, if a vault was named instead of the multisig' }),
    threshold: z.int().min(1).meta({ description: 'Approvals that a proposal needs' }),
    time_lock: timeLock.meta({ description: 'Seconds between the last approval and the execution' }),
    members: z.array(
      z
        .object({
          address,
          propose: z.boolean().meta({ description: 'Whether it may propose' }),
          vote: z.boolean().meta({ description: 'Whether it may approve, reject and cancel' }),
          execute: z.boolean().meta({ description: 'Whether it may execute' }),
        })
        .openapi('MultisigMember'),
    ),
    transaction_index: digits.meta({ description: 'Number of its latest proposal; 0 before the first' }),
    stale_transaction_index: digits.meta({
      description: 'Proposals up to this number that were not approved before a change of the members are stale',
    }),
    config_authority: address.nullable().meta({
      description: 'Who may change members and rules without a proposal; null if nobody may',
    }),
    rent_collector: address.nullable().meta({
      description: 'Who receives the rent of closed proposals; null if they cannot be closed',
    }),
  })
  .openapi('Multisig')
export type Multisig = z.output<typeof multisig>

const multisigCreated = unsignedPayload({
  multisig: address.meta({ description: 'Address of the new multisig; the key that it is derived from has signed' }),
  vault: address.meta({ description: 'Its first vault, number 0' }),
}).openapi('MultisigCreated')
export type MultisigCreated = z.output<typeof multisigCreated>

const MULTISIGS_TAG: Tag = {
  name: 'Multisigs',
  description: 'Multisigs of Squads v4, whose vaults hold authorities and tokens and do what their members approve.',
}

const right = z.boolean().default(true)

export const multisigs = {
  create: defineRoute({
    at: ['post', '/v2/multisigs'],
    tag: MULTISIGS_TAG,
    summary: 'Build the creation of a multisig',
    description:
      'Its members and rules change by its own proposals from then on. The rent of closed proposals returns to its first vault, unless `rent_collector` names another wallet.',
    body: buildBody({
      payer: address.meta({ description: 'Wallet that pays the rent and the fee of Squads, and signs' }),
      members: z
        .array(z.strictObject({ address, propose: right, vote: right, execute: right }))
        .min(1)
        .max(20)
        .meta({ description: 'Members and their rights; all rights by default' }),
      threshold: z.int().min(1).max(20).meta({ description: 'Approvals that a proposal needs' }),
      time_lock: timeLock.default(0).meta({ description: 'Seconds between the last approval and the execution' }),
      rent_collector: address.optional().meta({ description: 'Receives the rent of closed proposals' }),
      allow_programs: allowProgramsField,
    }),
    data: multisigCreated,
    signed: 'refused',
    payable: 'payer',
  }),
  get: defineRoute({
    at: ['get', '/v2/multisigs/{address}'],
    tag: MULTISIGS_TAG,
    summary: 'Read a multisig from the chain',
    description:
      'Its members with their rights, its rules, and the number of its latest proposal. The address of a vault finds its multisig, if a proposal or the setting `squads` here names that.',
    params: z.object({ address }),
    data: multisig,
  }),
}
