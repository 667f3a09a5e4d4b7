/** The row of a multisig's proposal before the first look at it. */
import type { SquadsApprover, TrackedResource } from '../../../api/index.ts'
import type { Executed } from '../../../chain/programs/squads/index.ts'
import type { Context } from '../../../context.ts'
import {
  addressesOf,
  type Multisig,
  squadsProposalAddress,
  squadsTransactionAddress,
  vaultAddress,
} from '../../../solana/squads/index.ts'
import { newId } from '../../../store/id.ts'
import { packMessage } from '../../../store/proposals/proposals.ts'
import type { NewRow } from '../../../store/schema.ts'
import { timeless, timelessSha256 } from '../../signing/waiting-draft.ts'
import { memberRecords } from './known-vault.ts'
import { lastMomentOf } from './last-moment.ts'
import { forecastJson, type PlannedChanges } from './planned-changes.ts'

interface NewPlan {
  genesis: string
  multisig: Multisig
  executed: Executed
  /** Who proposes. */
  member: string
  /** What the vault executes, as an unsigned transaction of its own. */
  transaction: Uint8Array
  operation: string
  what: string
  /** Id of the API key that asked; null if it was proposed elsewhere. */
  askedBy: string | null
  /** Sealed request, to build it again; null if only the transaction is known. */
  request: Buffer | null
  subject: string | null
  tracked: TrackedResource | undefined
  forecast: PlannedChanges | null
  nextLookAt: number
}

export function planRow(
  { clock, externalUid, metadata }: Pick<Context, 'clock' | 'externalUid' | 'metadata'>,
  plan: NewPlan,
): NewRow<'proposals'> {
  const { multisig, executed, member, transaction, tracked, forecast } = plan
  const { index, vaultIndex, ephemeralSigners, message } = executed
  const now = clock.now()
  return {
    id: newId('prp'),
    kind: 'squads',
    genesis: plan.genesis,
    status: 'planned',
    operation: plan.operation,
    what: plan.what,
    asked_by: plan.askedBy,
    message: timeless(transaction),
    message_sha256: timelessSha256(transaction),
    stored_message: packMessage(message),
    request: plan.request,
    tracked_resource_json: tracked === undefined ? null : JSON.stringify(tracked),
    approver_json: JSON.stringify(squadsApprover(multisig, executed, member)),
    multisig: multisig.address,
    transaction_index: Number(index),
    transaction_address: squadsTransactionAddress(multisig.address, index),
    vault_index: vaultIndex,
    ephemeral_signers: ephemeralSigners,
    member,
    forecast_json: forecast === null ? null : forecastJson(forecast),
    subject: plan.subject,
    needed: multisig.threshold,
    expires_at: lastMomentOf(message, addressesOf(message)),
    next_look_at: plan.nextLookAt,
    external_uid: externalUid ?? null,
    metadata_json: metadata === undefined ? null : JSON.stringify(metadata),
    created_at: now,
    updated_at: now,
  }
}

const squadsApprover = (
  { address, members, timeLock }: Multisig,
  { index, vaultIndex }: Executed,
  member: string,
): SquadsApprover => ({
  kind: 'squads',
  multisig: address,
  vault: vaultAddress(address, vaultIndex),
  vault_index: vaultIndex,
  transaction_index: String(index),
  transaction_address: squadsTransactionAddress(address, index),
  proposal_address: squadsProposalAddress(address, index),
  member,
  members: memberRecords(members),
  time_lock: timeLock,
  approved_at: null,
})
