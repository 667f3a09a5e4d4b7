/** Records what a confirmed transaction has claimed from an airdrop, once. */
import type { Effects } from '../../following/projection.ts'
import { type NewAirdropClaim, recordAirdropClaim } from '../../store/airdrop-claims.ts'
import type { Tx } from '../../store/store.ts'
import { DAY_MS } from '../../timing.ts'

type ClaimEffects = Pick<Effects<unknown, unknown>, 'services' | 'transaction' | 'slot'>

/** The time is that of the block where it was read, and otherwise that of the look which found the claim confirmed. */
export async function recordClaim(
  tx: Tx,
  { services, transaction, slot }: ClaimEffects,
  airdrop_id: string,
  claim: Pick<NewAirdropClaim, 'kind' | 'wallet' | 'amount' | 'amount_locked'>,
): Promise<void> {
  const { genesis, signature, occurred_at = null } = transaction
  const now = services.clock.now()
  // A node's time counts only where it is one that a block can have.
  const isPlausible = occurred_at !== null && occurred_at > 0 && occurred_at <= now + DAY_MS
  const claimed_at = isPlausible ? occurred_at : now
  await recordAirdropClaim(tx, { ...claim, genesis, airdrop_id, signature, slot, claimed_at })
}
