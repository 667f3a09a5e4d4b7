/** Prevents that a list is paid twice: by a transfer, and by claims from its airdrop. */
import { claimStatusAddress, decodeClaimStatus } from '../../chain/programs/merkle-distributor/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import { readAirdrop } from '../airdrops/on-chain.ts'

/**
 * Returns which of the wallets have claimed. Throws bad_request while the vault can pay claims, because wallets could
 * get tokens twice. Throws not_found for an airdrop that is not stored.
 */
export async function claimedWallets(
  context: Pick<Context, 'chain' | 'store'>,
  { id, mint, wallets }: { id: string; mint: string; wallets: readonly string[] },
): Promise<ReadonlySet<string>> {
  const tree = await findTree(context.store.db, id)
  if (tree === null) {
    throw notFound(`There is no merkle tree ${id}: list the stored ones (GET /v2/merkle-trees, \`svc merkle list\`)`, {
      param: 'airdrop_id',
    })
  }
  if (tree.mint !== mint) {
    throw badRequest(`airdrop_id: ${id} is an airdrop of ${tree.mint}, not of ${mint}`, {
      param: 'airdrop_id',
      details: { mint: tree.mint },
    })
  }
  if (tree.total_locked !== '0') {
    throw badRequest(
      `airdrop_id: the list of ${id} has locked amounts, which become claimable over time, but a transfer would pay them at once: make a list of the amounts to send (\`svc airdrops send\`)`,
      { param: 'airdrop_id', details: { reason: 'locked_amounts', total_locked: tree.total_locked } },
    )
  }
  const { distributor, vault, vaultAddress, address } = await readAirdrop(context.chain, id)
  // This list cannot be claimed from a distributor with another root.
  if (distributor === null || distributor.root !== tree.root) return new Set()
  const balance = vault?.amount ?? 0n
  if (balance > 0n && !distributor.isClawedBack) {
    throw badRequest(
      `airdrop_id: the vault of ${id} holds ${balance} raw units, from which the same wallets can claim, so a transfer would pay them twice. Withdraw the vault first (POST /v2/airdrops/{id}/vault-withdrawals, \`svc airdrops withdraw\`), which is possible after the clawback time`,
      {
        param: 'airdrop_id',
        details: {
          reason: 'funded',
          vault: vaultAddress,
          vault_balance: String(balance),
          clawback_at: String(distributor.clawbackAt),
        },
      },
    )
  }
  const records = await Promise.all(wallets.map((wallet) => claimStatusAddress(address, wallet)))
  const accounts = await accountsAt(context.chain, records)
  return new Set(wallets.filter((_, i) => decodeClaimStatus(accounts[i] ?? null) !== null))
}
