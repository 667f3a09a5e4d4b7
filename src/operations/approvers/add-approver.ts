/** Adds a person who may approve what the policy lets wait. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { isEd25519Point } from '../../solana/curve.ts'
import { findApprover, insertApprover, updateApprover } from '../../store/proposals/approvers.ts'
import { findApiKey } from '../../store/requests/api-keys.ts'
import { requireRecord } from '../require-record.ts'
import { audit } from '../signing/audit.ts'
import { trySigner } from '../signing/require-signer.ts'
import { approverRecord, approverTerms } from './approver-record.ts'

type AddApproverRoute = Api['approvers']['add']

/** Throws bad_request for an address without a key, for the platform wallet and for a known approver. */
export async function addApprover(
  context: Context,
  { address, name, api_key_id: key }: Input<AddApproverRoute>,
): Promise<Result<AddApproverRoute>> {
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
