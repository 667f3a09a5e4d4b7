/** Lists the stored airdrops of a wallet and whether it can claim from each. Trees are read from the store, and the rest in one call. */
import type { AirdropEntitlement, Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { decodeTokenAccount } from '../../chain/balance-changes.ts'
import {
  claimStatusAddress,
  decodeClaimStatus,
  decodeDistributor,
  distributorAddress,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import { accountsAt } from '../../chain/runs.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { lookUpProof } from '../../merkle/stored-tree.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import { scanTrees } from '../../store/airdrops.ts'
import { decodeCursor, encodeCursor } from '../../store/paging.ts'
import type { Row } from '../../store/schema.ts'
import { withRow } from '../merkle-trees/open-tree.ts'
import { keyBytesOf } from '../merkle-trees/tree-keys.ts'
import { claimFault } from './claim-faults.ts'
import { currentStatus } from './get-airdrop.ts'
import { nowOf, reasonsNotToFund } from './on-chain.ts'

type LookUpAirdropsRoute = Api['airdrops']['lookup']

/** Trees that one page searches, at about two milliseconds each. */
const TREES_PER_PAGE = 250

interface Entitled {
  row: Row<'merkle_trees'>
  amount: bigint
}

export async function lookUpAirdrops(
  context: Context,
  input: Input<LookUpAirdropsRoute>,
): Promise<Result<LookUpAirdropsRoute>> {
  const { wallet, mint, limit, cursor } = input
  const list = `wallet_airdrops:${wallet}:${mint ?? ''}`
  const before = cursor === undefined ? undefined : decodeCursor(list, cursor)
  const { rows, end } = await scanTrees(context.store.db, { mint, before, limit: TREES_PER_PAGE })
  const entitled: Entitled[] = []
  let looked = 0
  for (const row of rows) {
    if (entitled.length === limit) break
    looked++
    const amount = await amountOfWallet(context, row, wallet)
    if (amount !== null) entitled.push({ row, amount })
  }
  const last = looked < rows.length ? (rows[looked - 1]?.seq ?? end) : end
  const next_cursor = last === null ? null : encodeCursor(list, last)
  return { items: await readEntitlements(context, wallet, entitled), next_cursor }
}

/** Returns null when the wallet is not in the tree, or its leaves were removed. A damaged tree is logged, and does not hide the others. */
async function amountOfWallet(context: Context, row: Row<'merkle_trees'>, wallet: string): Promise<bigint | null> {
  if (row.leaves_removed_at !== null) return null
  try {
    return await withRow(context, row, async ({ head, read }) => {
      const leaf = await lookUpProof(head, keyBytesOf(wallet), read)
      return leaf?.amount ?? null
    })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'bad_request')) throw error
    context.log.error({ err: error, tree: row.id }, 'a stored tree is damaged')
    return null
  }
}

/** Accounts of one airdrop: distributor, vault, claim status and token account. */
const ACCOUNTS_PER_AIRDROP = 4

async function readEntitlements(
  { chain }: Context,
  wallet: string,
  entitled: readonly Entitled[],
): Promise<AirdropEntitlement[]> {
  if (entitled.length === 0) return []
  const placed = await Promise.all(
    entitled.map(async (each) => ({ ...each, addresses: await airdropAddressesOf(each.row, wallet) })),
  )
  const [genesis, [clock = null, ...accounts]] = await Promise.all([
    chain.genesisHash(),
    accountsAt(await chain.connection(), [CLOCK_SYSVAR, ...placed.flatMap(({ addresses }) => addresses)]),
  ])
  const now = await nowOf(clock)
  const entitlement = async (
    { row, amount, addresses: [address, vaultAddress] }: (typeof placed)[number],
    i: number,
  ): Promise<AirdropEntitlement> => {
    const own = accounts.slice(i * ACCOUNTS_PER_AIRDROP, (i + 1) * ACCOUNTS_PER_AIRDROP)
    const [vault, held] = [own[1] ?? null, own[3] ?? null]
    const distributor = decodeDistributor(own[0] ?? null)
    const status = decodeClaimStatus(own[2] ?? null)
    const fault = claimFault({
      id: row.id,
      claimer: wallet,
      amount,
      root: row.root,
      address,
      distributor,
      vaultAddress,
      vault: vault === null ? null : decodeTokenAccount(vault),
      reasonsNotToFund: distributor === null ? [] : await reasonsNotToFund(row.mint, distributor, row),
      status,
      account: held === null ? null : decodeTokenAccount(held),
      now,
    })
    return {
      id: row.id,
      mint: row.mint,
      airdrop_count: row.airdrop_count,
      amount: String(amount),
      status: currentStatus(row, distributor, genesis),
      claimed: status !== null && fault?.reason !== 'other_root',
      claimable: fault === null,
      reason: fault?.reason ?? null,
      note: fault?.message ?? null,
    }
  }
  return Promise.all(placed.map(entitlement))
}

async function airdropAddressesOf(
  { mint, airdrop_count: airdropCount, distributor: known }: Row<'merkle_trees'>,
  wallet: string,
): Promise<[distributor: string, vault: string, status: string, account: string]> {
  const distributor = known ?? (await distributorAddress({ mint, airdropCount }))
  return [
    distributor,
    ...(await Promise.all([
      tokenAccountAddress(mint, distributor),
      claimStatusAddress(distributor, wallet),
      tokenAccountAddress(mint, wallet),
    ])),
  ]
}
