/** Records the claims of a confirmed transaction once. The amount of a claim of vested tokens is read from the wallet's claim status. */

import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { type DistributorChange, decodeClaimStatus } from '../../chain/programs/merkle-distributor/index.ts'
import { accountsAtSlot } from '../../chain/reads/node-reads.ts'
import type { ChainStateReader, Effects } from '../../following/projection.ts'
import { DAY_MS } from '../../platform/timing.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { recordAirdropClaim } from '../../store/airdrops/claims.ts'
import type { Tx } from '../../store/store.ts'

export type AirdropEffects = Effects<readonly DistributorChange[], bigint>
export type DistributorChangeOf<K extends DistributorChange['kind']> = Extract<DistributorChange, { kind: K }>
type VestedClaim = DistributorChangeOf<'vested_claimed'>

/** The total of locked raw units that each wallet has claimed, by the address of its claim status. */
export const withdrawnAmounts: ChainStateReader<readonly DistributorChange[], bigint> = {
  addressesOf: (changes) => changes.flatMap((change) => (change.kind === 'vested_claimed' ? [change.status] : [])),
  callsFor: (addresses) => Math.ceil(addresses / ACCOUNTS_PER_CALL),
  async read(chain, addresses, slot) {
    const amounts = new Map<string, bigint>()
    for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_CALL) {
      const part = addresses.slice(at, at + ACCOUNTS_PER_CALL)
      const { accounts } = await askNode('Reading claims', () => accountsAtSlot(chain, part, slot))
      for (const [i, address] of part.entries()) {
        const status = decodeClaimStatus(accounts[i] ?? null)
        if (status !== null) amounts.set(address, status.lockedWithdrawn)
      }
    }
    return amounts
  },
}

/** Records the first claim of a wallet, with the part of the locked amount claimed in the same transaction. */
export async function recordFirstClaim(
  tx: Tx,
  effects: AirdropEffects,
  airdrop_id: string,
  change: DistributorChangeOf<'claimed'>,
): Promise<void> {
  const { claimer: wallet, amount } = change
  const vested = effects.changes.find(
    (each): each is VestedClaim => each.kind === 'vested_claimed' && isSame(each, change),
  )
  const withdrawn = vested === undefined ? 0n : (effects.states.get(vested.status) ?? 0n)
  await recordAirdropClaim(tx, {
    ...evidenceFor(effects),
    airdrop_id,
    kind: 'claim',
    wallet,
    amount,
    amount_locked: withdrawn,
  })
}

/** Records a later claim of vested tokens. One in the same transaction as the wallet's first claim is part of that. */
export async function recordVestedClaim(
  tx: Tx,
  effects: AirdropEffects,
  airdrop_id: string,
  change: VestedClaim,
): Promise<void> {
  const withdrawn = effects.states.get(change.status)
  const isWithFirst = effects.changes.some((each) => each.kind === 'claimed' && isSame(each, change))
  if (withdrawn === undefined || isWithFirst) return
  const amounts = { amount: 0n, amount_locked: 0n, withdrawn }
  const { claimer: wallet } = change
  await recordAirdropClaim(tx, { ...evidenceFor(effects), airdrop_id, kind: 'claim_locked', wallet, ...amounts })
}

type OfWallet = Pick<VestedClaim, 'distributor' | 'claimer'>
const isSame = (one: OfWallet, other: OfWallet) =>
  one.distributor === other.distributor && one.claimer === other.claimer

/** The time is the block time if it was read, else the time of the look that found the claim confirmed. */
function evidenceFor({ services, transaction, slot }: AirdropEffects) {
  const { genesis, signature, occurred_at = null } = transaction
  const now = services.clock.now()
  // A node's time counts only if a block can have it.
  const isPlausible = occurred_at !== null && occurred_at > 0 && occurred_at <= now + DAY_MS
  return { genesis, signature, slot, claimed_at: isPlausible ? occurred_at : now }
}
