/** Whose airdrop it is that is on chain: anybody can take an id, and what is left goes back to whoever did. */
import type { Airdrop } from '../../src/api/airdrops.ts'
import { usage } from '../ui/problem.ts'

const NEXT = 'take the next free --airdrop-count'

/** True where it is on chain with this root, made by `payer`. Throws a usage problem where another root or maker has the id. */
export function isOwnOnChain(airdrop: Airdrop, root: string, payer: string): boolean {
  const { id, airdrop_count, status, on_chain_root, admin, distributor } = airdrop
  if (on_chain_root !== null && on_chain_root !== root) {
    throw usage(
      `airdrop ${airdrop_count} is on chain already (${distributor}) with the root ${on_chain_root}, and this list has ${root}`,
      { param: '--airdrop-count', next: NEXT, details: { id, on_chain_root, root } },
    )
  }
  if (status === 'tree_built' && on_chain_root === null) return false
  if (admin !== null && admin !== payer) {
    throw usage(
      `airdrop ${airdrop_count} is on chain already (${distributor}), but ${admin} made it, not ${payer}: what is left in it goes back to them`,
      { param: '--airdrop-count', next: `${NEXT}, or the keypair that made it`, details: { id, admin } },
    )
  }
  return true
}
