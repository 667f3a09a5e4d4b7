/** Reads what one wallet may claim from one stored airdrop, has claimed, and can claim now. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { requireRecord } from '../api-records.ts'
import { storedLeaf } from './claimable-leaf.ts'
import { readEntitlements } from './entitlements.ts'

type GetEntitlementRoute = Api['airdrops']['entitlement']

/** Throws not_found without a stored tree, or for a wallet that is not in it. */
export async function getEntitlement(
  context: Context,
  { id, wallet }: Input<GetEntitlementRoute>,
): Promise<Result<GetEntitlementRoute>> {
  const { tree, amount, locked } = await storedLeaf(context, id, wallet)
  const [entitlement] = await readEntitlements(context, wallet, [
    { row: requireRecord(tree, 'airdrop', id), amount, locked },
  ])
  return requireRecord(entitlement ?? null, 'airdrop', id)
}
