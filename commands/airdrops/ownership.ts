/** Checks who owns an airdrop on chain, because anyone can take an id, copy a root and name another wallet as its admin. */
import type { Airdrop } from '../../src/api/airdrops.ts'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Session } from '../cli/session.ts'
import { failure, usage } from '../ui/problem.ts'

/** The paying wallet, and its token account, which gets the unclaimed rest of its airdrops. */
export interface Payer {
  address: string
  tokenAccount: string
}

export async function derivePayer({ client }: Session, address: string, mint: string): Promise<Payer> {
  const { data } = await client.pdas.derive({ kind: 'ata', args: { owner: address, mint } })
  return { address, tokenAccount: data.address }
}

const TAKE_FREE_COUNT = 'take a free --airdrop-count (for several trees, name one for each with --counts)'

/** Raw units that the vault lacks to pay the unclaimed part of the list's total. */
export function missingIn({ vault_balance, claimed_amount }: Airdrop, total: string): bigint {
  const missing = BigInt(total) - BigInt(vault_balance ?? 0) - BigInt(claimed_amount ?? 0)
  return missing > 0n ? missing : 0n
}

/** The airdrop of this payer; null if it is not on chain. Throws if another wallet put it there. */
export async function ownOnChain(
  { client }: Session,
  payer: Payer,
  { id, root }: Pick<TreeRecord, 'id' | 'root'>,
): Promise<Airdrop | null> {
  const { data } = await client.airdrops.get({ id })
  return isOwnOnChain(data, root, payer) ? data : null
}

/**
 * True if the airdrop is on chain with this root and its rest returns to `payer`. Throws a usage problem if the root
 * or the clawback receiver differs: that receiver could take the whole vault after the clawback time.
 */
export function isOwnOnChain(airdrop: Airdrop, root: string, payer: Payer): boolean {
  const { id, airdrop_count, status, on_chain_root, admin, clawback_receiver, distributor } = airdrop
  if (on_chain_root !== null && on_chain_root !== root) {
    throw usage(
      `airdrop ${airdrop_count} is on chain already (${distributor}) with the root ${on_chain_root}, and this list has ${root}`,
      { param: '--airdrop-count', next: TAKE_FREE_COUNT, details: { id, on_chain_root, root } },
    )
  }
  if (status === 'tree_built' && on_chain_root === null) return false
  if (on_chain_root === null) {
    throw failure(`airdrop ${airdrop_count} (${id}) cannot be read from the chain now`, { next: 'try it again later' })
  }
  if (clawback_receiver !== payer.tokenAccount) {
    // The program lets the creator name any wallet as admin, so nothing on chain identifies the creator.
    throw usage(
      `airdrop ${airdrop_count} is on chain already (${distributor}): another wallet made it, and what is left in it goes to ${clawback_receiver}, not to the token account of ${payer.address}: do not fund it`,
      {
        param: '--airdrop-count',
        next: `${TAKE_FREE_COUNT}, or use the keypair that made it`,
        details: { id, admin, clawback_receiver },
      },
    )
  }
  return true
}
