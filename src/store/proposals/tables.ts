/** Tables of acts that wait for an approver: proposals, the decisions about them, and the people who may decide. */
import type { Generated } from 'kysely'
import type { ProposalDecision, ProposalStatus } from '../../api/proposals.ts'
import type { Recorded } from '../queries/recorded.ts'

interface ProposalsTable extends Recorded {
  id: string
  kind: 'squads' | 'rule'
  genesis: string
  status: ProposalStatus
  /** What was asked for, such as `POST /v2/pools/{address}/fee-claims` or `fee_claim.create`. */
  operation: string
  /** The act in one sentence, made by this service. */
  what: string
  /** Id of the API key that asked; null if it was proposed elsewhere. */
  asked_by: string | null
  /** The transaction that the approval executes, in wire format, with a zero blockhash and no signature. */
  message: Buffer
  /** SHA-256 in hex of the message within `message`: what people compare and sign. */
  message_sha256: string
  /** Squads: the message as the program stores it, with the addresses of lookup tables pinned; null for a rule. */
  stored_message: Buffer | null
  /** Sealed JSON `{ method, path, body, actor }`, to build it again; null if it was proposed elsewhere. */
  request: Buffer | null
  tracked_resource_json: string | null
  /** JSON: `SquadsApprover` or `RuleApprover`. */
  approver_json: string
  /** Squads: address of the multisig, its number for the transaction, and the member who proposes. */
  multisig: string | null
  transaction_index: number | null
  /** Squads: account with the stored message, the vault that acts, and the signers that the program adds for it. */
  transaction_address: Generated<string | null>
  vault_index: Generated<number | null>
  ephemeral_signers: Generated<number | null>
  member: string | null
  /** JSON of the balance changes that its execution was simulated to make when it was proposed. */
  forecast_json: Generated<string | null>
  /** What may have only one open proposal, such as the fee claims of a pool. */
  subject: Generated<string | null>
  /** Number of approvals that it needs. */
  needed: number
  expires_at: number | null
  /** Rule: the signing that waits. */
  signing_id: string | null
  /** Signature of the transaction that executed it. */
  signature: string | null
  /** Why it cannot be approved or executed, in one sentence. */
  fault: string | null
  /** Time of the next look at the chain, or of a rule's at its transaction; null once it can no longer change. */
  next_look_at: number | null
  /** Slot of the last look. */
  checked_slot: Generated<number>
  /** Slot of the execution. */
  executed_slot: Generated<number | null>
  /** Time at which the rent of its accounts was found to be returned. */
  reclaimed_at: Generated<number | null>
  /** Id of the proposal that takes its place. */
  renewed_by: Generated<string | null>
  updated_at: number
}

interface ProposalDecisionsTable {
  seq: Generated<number>
  proposal_id: string
  /** Address of who decided. */
  approver: string
  decision: ProposalDecision['decision']
  /** Rule: the Ed25519 signature of the decision's text, base58. */
  signature: string | null
  at: number
}

/** People who decide about the proposals of a rule. */
interface ApproversTable extends Recorded {
  address: string
  name: string
  /** API key of the same person, whose proposals this approver cannot approve; null if none is known. */
  api_key_id: string | null
  /** Id of the API key that added the approver. */
  added_by: string
  revoked_at: number | null
}

export interface ProposalTables {
  proposals: ProposalsTable
  proposal_decisions: ProposalDecisionsTable
  approvers: ApproversTable
}
