/** People who may approve acts of the platform wallet: add, list, remove. */
import type { Approver } from '../api/approvers.ts'
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import type { Context } from '../context.ts'
import { badRequest } from '../platform/errors.ts'
import { isoTime } from '../platform/timing.ts'
import { addressBytes } from '../solana/addresses.ts'
import { isEd25519Point } from '../solana/curve.ts'
import { findApprover, insertApprover, pageApprovers, updateApprover } from '../store/proposals/approvers.ts'
import { findApiKey } from '../store/requests/api-keys.ts'
import type { Row } from '../store/schema.ts'
import { isoTimeOrNull, listOf, requireRecord } from './api-records.ts'
import { audit } from './signing/audit.ts'
import { lockPolicyState } from './signing/policy-state.ts'
import { trySigner } from './signing/require-signer.ts'

type Routes = Api['approvers']

/** Throws bad_request for an address without a key, for the platform wallet and for a known approver. */
export async function addApprover(
  context: Context,
  { address, name, api_key_id: key }: Input<Routes['add']>,
): Promise<Result<Routes['add']>> {
  const api_key_id = key ?? null
  if (!isEd25519Point(addressBytes(address))) {
    throw badRequest(`address: ${address} is the address of a program's account, which cannot sign`, {
      param: 'address',
    })
  }
  if ((await trySigner(context))?.address === address) {
    throw badRequest(`address: ${address} is the platform wallet, which cannot approve what it signs`, {
      param: 'address',
    })
  }
  return context.commit(async (tx) => {
    if (api_key_id !== null) requireRecord(await findApiKey(tx, api_key_id), 'API key', api_key_id)
    const known = await findApprover(tx, address)
    if (known?.revoked_at === null) throw badRequest(`${address} is an approver already (${known.name})`)
    const row =
      known === null
        ? await insertApprover(tx, {
            address,
            name,
            api_key_id,
            added_by: context.actor.apiKeyId,
            revoked_at: null,
            external_uid: context.externalUid ?? null,
            metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
            created_at: context.clock.now(),
          })
        : await updateApprover(tx, address, { name, api_key_id, revoked_at: null })
    if (row === null) throw new Error(`the approver ${address} is gone`)
    await audit(context, tx, 'approver.added', null, approverTerms(row))
    return approverRecord(row)
  })
}

/** Waits for a signing that is being reserved, so that no approval counts once the answer is sent. */
export async function removeApprover(
  context: Context,
  { address }: Input<Routes['remove']>,
): Promise<Result<Routes['remove']>> {
  const signer = await trySigner(context)
  return context.commit(async (tx) => {
    if (signer !== null) await lockPolicyState(tx, context.clock, signer.address)
    const known = requireRecord(await findApprover(tx, address), 'approver', address)
    if (known.revoked_at !== null) return approverRecord(known)
    const row = await updateApprover(tx, address, { revoked_at: context.clock.now() })
    await audit(context, tx, 'approver.removed', null, { approver: address, name: known.name })
    return approverRecord(row ?? known)
  })
}

const approverRecord = (row: Row<'approvers'>): Approver => ({
  address: row.address,
  name: row.name,
  api_key_id: row.api_key_id,
  status: row.revoked_at === null ? 'active' : 'removed',
  created_at: isoTime(row.created_at),
  removed_at: isoTimeOrNull(row.revoked_at),
})

export const listApprovers = listOf<Routes['list'], Row<'approvers'>>(pageApprovers, approverRecord)

/** The fields of an approver in the log. */
export const approverTerms = ({ address, name, api_key_id }: Row<'approvers'>) => ({
  approver: address,
  name,
  key: api_key_id,
})
