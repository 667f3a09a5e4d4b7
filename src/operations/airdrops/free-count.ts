/** Airdrop counts that somebody has taken, and the next one that is free: anybody can take any. */
import { distributorAddress, tokenAccountAddress } from '../../chain/merkle-distributor/index.ts'
import { accountsAt } from '../../chain/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { keyFromBase58 } from '../../merkle/base58.ts'
import { encodeTreeId, MAX_AIRDROP_COUNT } from '../../merkle/tree-id.ts'
import { findTree } from '../../store/merkle-trees.ts'
import { type ChainAirdrop, isOpen } from './on-chain.ts'

/** Counts that are looked at for a free one; each takes two accounts of a call. */
const LOOKED_AT = 50

/** Passes where nothing is at the distributor's address or its vault's; else bad_request with who has it and the way out. */
export async function refuseTaken(context: Context, airdrop: ChainAirdrop, root: string): Promise<void> {
  const { id, mint, airdropCount, address, vaultAddress, distributor, vault, hasVault } = airdrop
  if (distributor === null && !hasVault) return
  const next = await nextFree(context, airdrop)
  const way = next === null ? 'use another airdrop_count' : `use airdrop_count ${next}`
  const common = { param: 'airdrop_count' }
  if (distributor === null) {
    throw badRequest(
      `airdrop_count ${airdropCount} of ${mint} cannot be used: somebody opened its vault ${vaultAddress} beforehand, and the program takes none that exists: ${way}`,
      { ...common, details: { reason: 'vault_exists', vault: vaultAddress, next_airdrop_count: next } },
    )
  }
  const { admin } = distributor
  const details = {
    reason: distributor.root === root ? 'already_initialized' : 'taken',
    distributor: address,
    root: distributor.root,
    admin,
    vault: vaultAddress,
    vault_balance: String(vault?.amount ?? 0n),
    next_airdrop_count: next,
  }
  const message =
    distributor.root === root
      ? `The airdrop ${id} is on chain already with this very root: ${admin} made its distributor ${address}, whose vault holds ${details.vault_balance}. Go on with it, or ${way} for another one`
      : `airdrop_count ${airdropCount} of ${mint} is taken: ${admin} made the distributor ${address} there, with the root ${distributor.root}. Anybody can take a number: ${way}`
  throw badRequest(message, { ...common, details })
}

/** The first count after this one with nothing on chain and no tree stored; null where none is near. */
async function nextFree({ chain, store }: Context, { mint, airdropCount }: ChainAirdrop): Promise<number | null> {
  const most = Math.min(LOOKED_AT, MAX_AIRDROP_COUNT - airdropCount)
  const counts = Array.from({ length: most }, (_, i) => airdropCount + 1 + i)
  const distributors = await Promise.all(counts.map((count) => distributorAddress({ mint, airdropCount: count })))
  const vaults = await Promise.all(distributors.map((each) => tokenAccountAddress(mint, each)))
  const accounts = await accountsAt(await chain.connection(), [...distributors, ...vaults])
  for (const [i, count] of counts.entries()) {
    if (isOpen(accounts[i] ?? null) || isOpen(accounts[most + i] ?? null)) continue
    const stored = await findTree(store.db, encodeTreeId(keyFromBase58(mint)!, count))
    if (stored === null) return count
  }
  return null
}
