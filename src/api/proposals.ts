/** Proposals: acts that wait, as one plan that can be read, until whoever must approve them has. */
import { z } from '@hono/zod-openapi'
import { HOLDER_POWERS } from '../solana/token-authorities.ts'
import { address, digits, hex32, signatureText, transactionBase64, u64Digits } from './chain-scalars.ts'
import { approverField, buildBody, listQuery, txTermsShape, writeBody } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import { proposalCreation, signedPayload, trackedResource, unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { anything, line, nullOr, recordId, timestamp } from './scalars.ts'
import { balanceChange, controlChanges } from './transactions.ts'

const PROPOSAL_KINDS = ['squads', 'rule'] as const
const PROPOSAL_STATUSES = [
  'planned',
  'active',
  'approved',
  'executed',
  'rejected',
  'cancelled',
  'stale',
  'expired',
  'failed',
] as const
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number]

const squadsMember = z.object({
  address,
  propose: z.boolean().meta({ description: 'Whether it may propose' }),
  vote: z.boolean().meta({ description: 'Whether it may approve, reject and cancel' }),
  execute: z.boolean().meta({ description: 'Whether it may execute' }),
})

const squadsApprover = z.object({
  kind: z.literal('squads'),
  multisig: address,
  vault: address.meta({ description: 'Wallet of the multisig that acts' }),
  vault_index: z.int().min(0).max(255),
  transaction_index: digits.meta({ description: 'Number of the transaction in its multisig', example: '7' }),
  transaction_address: address,
  proposal_address: address,
  member: address.nullable().meta({ description: 'Member who proposes; null if it is not known' }),
  members: z.array(squadsMember).meta({ description: 'Members at the last look' }),
  time_lock: z.int().min(0).meta({ description: 'Seconds that pass between the last approval and the execution' }),
  approved_at: timestamp.nullable().meta({ description: 'Time of the last approval that was needed' }),
})

const approvedAmount = digits.meta({ description: 'Lamports, or raw units of the mint', example: '1000000' })
const approvedMovement = z
  .object({
    lamports: approvedAmount.meta({ description: 'Most lamports that leave, with fee and rent' }),
    tokens: z.array(z.object({ mint: address, amount: approvedAmount })),
    receivers: z
      .array(z.object({ address, owner: address.nullable(), mint: address.nullable(), amount: approvedAmount }))
      .meta({ description: 'Accounts of others that gain; the mint is null for lamports' }),
    authorities: z.array(z.object({ address, what: z.string(), to: address.nullable() })),
    delegates: z.array(
      z.object({ address, kind: z.string(), delegate: address.nullable(), amount: approvedAmount.nullable() }),
    ),
    powers: z
      .array(z.object({ mint: address, power: z.enum(HOLDER_POWERS).nullable(), account: address, what: z.string() }))
      .meta({ description: 'What it does to holders of a mint, and with which of its authorities' }),
    closes: z.array(z.object({ address, what: z.string(), to: z.array(address) })),
    programs: z.array(address),
  })
  .openapi('ApprovedMovement')

const ruleApprover = z.object({
  kind: z.literal('rule'),
  rule: z.string().meta({ description: 'The first rule that waits', example: 'lamports_per_transaction' }),
  rules: z.array(z.string()).meta({ description: 'Every rule that waits' }),
  reason: z.string().meta({ description: 'Why it waits, in one sentence' }),
  approvers: z.array(z.object({ address, name: z.string(), revoked: z.boolean() }).openapi('ProposalApprover')),
  genesis: z.string().meta({ description: 'Genesis hash of the cluster, which the text of a decision names' }),
  movement: approvedMovement.meta({ description: 'What is approved: more than this is never signed' }),
  page: z.string().meta({
    description: 'Path of the page with which a phone approves it. It needs no API key, so its token is a secret',
  }),
})

const proposalDecision = z
  .object({
    approver: address,
    decision: z.enum(['approved', 'rejected', 'cancelled']),
    signature: z.string().nullable().meta({ description: 'Signature of the decision; null for a multisig' }),
    at: timestamp,
  })
  .openapi('ProposalDecision')

export const proposal = z
  .object({
    id: z.string().meta({ example: 'prp_4fJq1Vb0aW2mX8sYtLcD3eRk' }),
    kind: z.enum(PROPOSAL_KINDS),
    status: z.enum(PROPOSAL_STATUSES).meta({
      description: '`planned` until it is on chain, then `active` until it is `approved`; the others are final',
    }),
    operation: z.string().meta({ description: 'What was asked for', example: 'POST /v2/pools/{address}/fee-claims' }),
    what: z.string().meta({ description: 'The act in one sentence' }),
    plan: z.array(z.string()).meta({
      description:
        'The text that people read before they approve, in lines: what changes control, and each instruction whole, with every account, every argument and every byte of data',
    }),
    asked_by: z.string().nullable().meta({ description: 'API key that asked; null if it was proposed elsewhere' }),
    message_sha256: hex32.meta({
      description: 'SHA-256 of the message of `transaction`, whose blockhash is zero: the hash that people compare',
    }),
    transaction: transactionBase64.meta({ description: 'What the approval executes, unsigned, base64' }),
    approver: z.discriminatedUnion('kind', [squadsApprover, ruleApprover]),
    needed: z.int().min(0).meta({ description: 'Number of approvals that it needs' }),
    decisions: z.array(proposalDecision),
    expires_at: timestamp.nullable().meta({
      description:
        'Of a rule: when it expires. Of a multisig: until when it can be executed, which is the start of an airdrop that it creates; null if at any time',
    }),
    signature: signatureText.nullable().meta({ description: 'Transaction that executed it' }),
    fault: z.string().nullable().meta({ description: 'Why it cannot be approved or executed; null if it can' }),
    next: z.string().nullable().meta({ description: 'What to do next, with the command; null if nothing is left' }),
    tracked_resource: nullOr(trackedResource),
    reclaimed_at: timestamp.nullable().meta({ description: 'Time at which the rent of its accounts was returned' }),
    renewed_by: z.string().nullable().meta({ description: 'Proposal that takes its place' }),
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('Proposal')
export type Proposal = z.output<typeof proposal>
export type ProposalDecision = z.output<typeof proposalDecision>
export type SquadsApprover = z.output<typeof squadsApprover>
export type RuleApprover = z.output<typeof ruleApprover>

/** Answer of a proposal that was created: the transactions that put it on chain, or their signature. */
export const proposed = z
  .discriminatedUnion('mode', [
    z.object({ mode: z.literal('unsigned'), proposal: proposalCreation }),
    z.object({ mode: z.literal('signed'), signature: signatureText, proposal: proposalCreation }),
  ])
  .openapi('Proposed')
export type Proposed = z.output<typeof proposed>

const returns = z
  .object({ lamports: digits, to: address })
  .optional()
  .meta({ description: 'Of a reclaim: the rent that returns, and the rent collector of the multisig' })

const closedBuffer = z
  .object({ address, buffer_index: z.int().min(0).max(255), lamports: digits })
  .openapi('ClosedBuffer')
export type ClosedBuffer = z.output<typeof closedBuffer>
const buffers = z.array(closedBuffer).optional().meta({
  description: 'Of a reclaim: buffers that interrupted proposals left. Their rent returns to the member who signs',
})

/** Answer of a decision or an execution. */
export const proposalStep = z
  .discriminatedUnion('mode', [
    unsignedPayload({ returns, buffers }).omit({ proposal: true }).extend({ proposal }),
    signedPayload({ proposal, returns, buffers }),
    z.object({ mode: z.literal('recorded'), proposal }),
  ])
  .openapi('ProposalStep')
export type ProposalStep = z.output<typeof proposalStep>

const proposalForecast = z
  .object({
    failed: z
      .object({ err: anything, logs: z.array(z.string()) })
      .nullable()
      .meta({ description: 'Why its execution would fail now; null if it would not' }),
    balance_changes: z.array(balanceChange).meta({ description: 'What its execution would change now' }),
    control_changes: controlChanges,
    changes: z.array(z.string()).meta({
      description:
        'How its execution would now differ from what was proposed: a lower amount for the vault, or another owner. It is then refused. Empty if nothing differs',
    }),
    not_compared: z
      .string()
      .optional()
      .meta({ description: 'What the execution cannot be compared with, because an older version did not store it' }),
  })
  .openapi('ProposalForecast')
export type ProposalForecast = z.output<typeof proposalForecast>

const PROPOSALS_TAG: Tag = {
  name: 'Proposals',
  description: 'Acts that wait until a multisig or the named approvers have approved them.',
}

const proposalParams = z.object({ id: recordId.meta({ example: 'prp_4fJq1Vb0aW2mX8sYtLcD3eRk' }) })
const decisionBody = writeBody({
  ...txTermsShape,
  member: address
    .optional()
    .meta({ description: 'Squads: member of the multisig who signs. By default the one who proposed' }),
  approver: address.optional().meta({ description: 'Rule: address of the approver' }),
  signature: line(128)
    .optional()
    .meta({ description: "Rule: the approver's signature of the decision's text, base58" }),
})
const stepRoute = {
  tag: PROPOSALS_TAG,
  params: proposalParams,
  data: proposalStep,
  signed: '*',
  payable: 'member',
} as const

export const proposals = {
  create: defineRoute({
    at: ['post', '/v2/proposals'],
    tag: PROPOSALS_TAG,
    summary: 'Propose an unsigned transaction to a multisig',
    description:
      'For transactions that no other route builds. The vault is their payer. Every route that builds takes `approver` too, and proposes what it builds.',
    body: buildBody({ transaction: transactionBase64, tracked_resource: trackedResource.optional() }).extend({
      approver: approverField,
    }),
    data: proposed,
    signed: '*',
    status: 201,
  }),
  import: defineRoute({
    at: ['post', '/v2/proposals/imports'],
    tag: PROPOSALS_TAG,
    summary: 'Take up a proposal that was made elsewhere',
    description:
      'Reads it from the chain, decodes it, and follows it from then on. A proposal that is known already is answered as it is.',
    body: writeBody({
      multisig: address,
      transaction_index: u64Digits.meta({ description: 'Number of the transaction in its multisig', example: '7' }),
    }),
    data: proposal,
    status: 201,
    unstored: 'The proposal is known already',
  }),
  list: defineRoute({
    at: ['get', '/v2/proposals'],
    tag: PROPOSALS_TAG,
    summary: 'List proposals, newest first',
    description: 'Proposals that were made here or imported, with their state at the last look.',
    query: listQuery({
      kind: z.enum(PROPOSAL_KINDS).optional(),
      status: z.enum(PROPOSAL_STATUSES).optional(),
      multisig: address.optional(),
    }),
    data: proposal,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/proposals/{id}'],
    tag: PROPOSALS_TAG,
    summary: 'Read a proposal',
    description: 'Its plan, who has decided, and what to do next. `forecast` shows the balances that it would change.',
    params: proposalParams,
    data: proposal,
  }),
  forecast: defineRoute({
    at: ['get', '/v2/proposals/{id}/forecast'],
    tag: PROPOSALS_TAG,
    summary: 'Find what the execution of a proposal would change now',
    description:
      'Runs it on the present accounts, and builds the original request again to compare. Nothing is changed.',
    params: proposalParams,
    data: proposalForecast,
  }),
  approve: defineRoute({
    ...stepRoute,
    at: ['post', '/v2/proposals/{id}/approvals'],
    summary: 'Approve a proposal',
    description:
      'Of a multisig: builds the vote of `member`, after the stored transaction was compared with the plan. Of a rule: records the signature of an approver.',
    body: decisionBody,
  }),
  reject: defineRoute({
    ...stepRoute,
    at: ['post', '/v2/proposals/{id}/rejections'],
    summary: 'Reject a proposal',
    description: 'Of a multisig: builds the vote of `member`. Of a rule: records the signature of an approver.',
    body: decisionBody,
  }),
  cancel: defineRoute({
    ...stepRoute,
    at: ['post', '/v2/proposals/{id}/cancellations'],
    summary: 'Cancel a proposal',
    description:
      'Of a multisig: builds the vote of `member` against a proposal that is approved. Of a rule: ends a proposal that waits.',
    body: decisionBody,
  }),
  execute: defineRoute({
    ...stepRoute,
    at: ['post', '/v2/proposals/{id}/executions'],
    summary: 'Execute an approved proposal',
    description:
      'The stored transaction is compared with the plan, and the original request is built again. If an amount or a recipient has changed, it is refused, and the answer says what changed.',
    body: decisionBody,
  }),
  reclaim: defineRoute({
    ...stepRoute,
    at: ['post', '/v2/proposals/{id}/reclaims'],
    summary: 'Close the accounts of a finished proposal',
    description:
      'Of a multisig: their rent returns to its rent collector. Transaction buffers that interrupted proposals of `member` left in this multisig are closed too, at most 10 at a time, and their rent returns to the member. With such buffers, the proposal need not be finished: only they are closed. A buffer that a planned proposal still fills stays.',
    body: decisionBody,
  }),
  renew: defineRoute({
    at: ['post', '/v2/proposals/{id}/renewals'],
    tag: PROPOSALS_TAG,
    summary: 'Propose the same request anew',
    description: 'Builds the original request again, with the amounts of now, and proposes it at the next number.',
    params: proposalParams,
    body: writeBody({ member: address.optional() }),
    data: proposed,
    signed: '*',
    status: 201,
  }),
}
