/** Finds out whether an airdrop count is taken, and the next free one. Anyone can take any count. */
import { distributorAddress, tokenAccountAddress } from '../../chain/programs/merkle-distributor/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { MAX_AIRDROP_COUNT } from '../../merkle/tree-id.ts'
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import type { Row } from '../../store/schema.ts'
import { treeIdOf } from '../merkle-trees/open-tree.ts'
import { type ChainAirdrop, isOpen, type PresentAirdrop, reasonsNotToFund } from './on-chain.ts'

/** Number of counts examined for a free one. Each takes two accounts of a call. */
const COUNTS_PER_SEARCH = 50

interface AirdropMaker {
  payer: string
  /** Root in hex. */
  root: string
  /** The stored tree, or null without one. */
  tree: Pick<Row<'merkle_trees'>, 'leaf_count' | 'total'> | null
}

/**
 * Resolves if neither the distributor's address nor its vault's has an account. Otherwise throws bad_request with the
 * owner and the remedy.
 */
export async function requireFreeCount(context: Context, airdrop: ChainAirdrop, maker: AirdropMaker): Promise<void> {
  const { mint, airdropCount, vaultAddress, distributor, hasVault } = airdrop
  if (distributor === null && !hasVault) return
  const next = await nextFreeCount(context, airdrop)
  const way = next === null ? 'use another airdrop_count' : `use airdrop_count ${next}`
  if (distributor !== null) throw await countTakenError({ ...airdrop, distributor }, maker, next, way)
  throw badRequest(
    `airdrop_count ${airdropCount} of ${mint} cannot be used, because somebody has already opened its vault ${vaultAddress}, and the program accepts only a new one: ${way}`,
    {
      param: 'airdrop_count',
      details: { reason: 'vault_exists', vault: vaultAddress, next_airdrop_count: next },
    },
  )
}

/**
 * A distributor with the same root is the payer's own only if unclaimed tokens return to the payer and it pays out the
 * whole tree. Otherwise somebody could copy a published root and get the funding of others after the clawback time.
 */
async function countTakenError(
  airdrop: PresentAirdrop,
  { payer, root, tree }: AirdropMaker,
  next: number | null,
  way: string,
): Promise<ApiError> {
  const { id, mint, airdropCount, address, vaultAddress, vault, distributor } = airdrop
  const { admin, clawbackReceiver } = distributor
  const isSame = distributor.root === root
  const against =
    admin === payer
      ? await reasonsNotToFund(mint, distributor, tree)
      : [`Unclaimed tokens go to ${clawbackReceiver}, not back to ${payer}`]
  const isOwn = isSame && against.length === 0
  const held = String(vault?.amount ?? 0n)
  const details = {
    reason: isOwn ? 'already_initialized' : 'taken',
    distributor: address,
    root: distributor.root,
    admin,
    clawback_receiver: clawbackReceiver,
    vault: vaultAddress,
    vault_balance: held,
    next_airdrop_count: next,
  }
  const made = `airdrop_count ${airdropCount} of ${mint} is taken: ${admin} made the distributor ${address} there`
  const message = isOwn
    ? `The airdrop ${id} is on chain already: ${admin} made its distributor ${address} with this root, and its vault holds ${held}. Continue with it, or ${way} for another one`
    : isSame
      ? `${made} with the same root. ${against.join('. ')}. Do not fund it: ${way}`
      : `${made}, with the root ${distributor.root}. Anyone can take a number: ${way}`
  return badRequest(message, { param: 'airdrop_count', details })
}

/** Returns the first later count with nothing on chain and no stored tree, or null when none is near. */
async function nextFreeCount({ chain, store }: Context, { mint, airdropCount }: ChainAirdrop): Promise<number | null> {
  const most = Math.min(COUNTS_PER_SEARCH, MAX_AIRDROP_COUNT - airdropCount)
  const counts = Array.from({ length: most }, (_, i) => airdropCount + 1 + i)
  const distributors = await Promise.all(counts.map((count) => distributorAddress({ mint, airdropCount: count })))
  const vaults = await Promise.all(distributors.map((each) => tokenAccountAddress(mint, each)))
  const accounts = await accountsAt(chain, [...distributors, ...vaults])
  for (const [i, count] of counts.entries()) {
    if (isOpen(accounts[i] ?? null) || isOpen(accounts[most + i] ?? null)) continue
    const stored = await findTree(store.db, treeIdOf(mint, count))
    if (stored === null) return count
  }
  return null
}
