/** Reads airdrops: their records joined with the chain, their claims, and what a wallet may claim. */
import type { Airdrop, AirdropEntitlement, Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  claimStatusAddress,
  type Distributor,
  decodeClaimStatus,
  decodeDistributor,
  distributorAddress,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import { optionalRead } from '../../chain/reads/optional-read.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { lookUpProof } from '../../merkle/stored-tree.ts'
import { MAX_AIRDROP_COUNT } from '../../merkle/tree-id.ts'
import { ApiError, badRequest, notFound } from '../../platform/errors.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { vestedAt } from '../../solana/unlock-schedule.ts'
import { findAirdrop, pageAirdrops, scanTrees } from '../../store/airdrops/airdrops.ts'
import { pageAirdropClaims } from '../../store/airdrops/claims.ts'
import { decodeCursor, encodeCursor } from '../../store/queries/paging.ts'
import type { Row } from '../../store/schema.ts'
import { airdropClaimRecord, airdropRecord, listOf, recordPage, requireRecord } from '../api-records.ts'
import { keyBytesOf, treeIdOf, withRow } from '../merkle-trees/open-tree.ts'
import { trySigner } from '../signing/require-signer.ts'
import { claimFaultInTokens } from './claim-faults.ts'
import { claimPayment } from './claim-payment.ts'
import { storedLeaf } from './claimable-leaf.ts'
import {
  airdropKeyOf,
  type ChainAirdrop,
  chainNow,
  currentStatus,
  isOpen,
  isoOfUnixTime,
  type PresentAirdrop,
  readAirdrop,
  reasonsNotToFund,
  statusOnChain,
} from './on-chain.ts'

type Routes = Api['airdrops']

/** If the node fails or is slow, a stored airdrop is returned without its chain state. */
export async function getAirdrop(context: Context, { id }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { chain, store, log, actor } = context
  airdropKeyOf(id)
  const row = await findAirdrop(store.db, id)
  if (row === null) return foreignAirdrop(await readAirdrop(chain, id))
  const read = await optionalRead(log, 'an airdrop was read without its chain state', async () => ({
    genesis: await chain.genesisHash(),
    airdrop: await readAirdrop(chain, id),
  }))
  const record = read === null ? airdropRecord(row) : await storedAirdropWithChain(row, read.airdrop, read.genesis)
  return { ...record, own: row.created_by === actor.apiKeyId }
}

async function storedAirdropWithChain(
  row: Row<'merkle_trees'>,
  airdrop: ChainAirdrop,
  genesis: string,
): Promise<Airdrop> {
  const { address, distributor } = airdrop
  const status = currentStatus(row, distributor, genesis)
  const record = { ...airdropRecord(row), status, distributor: address }
  if (distributor === null) return record
  if (distributor.root === row.root) {
    return {
      ...record,
      ...airdropStateOf(airdrop, distributor),
      ...(await vaultShortfall(row, { ...airdrop, distributor })),
    }
  }
  const note = `The distributor of this mint and airdrop_count has another root: ${distributor.admin} made it for another list. Store this list under another airdrop_count`
  return { ...record, ...airdropStateOf(airdrop, distributor), note }
}

/**
 * Describes an airdrop made by another tool, or from a list that is not stored here. Its limits replace the unknown
 * totals.
 */
function foreignAirdrop(airdrop: ChainAirdrop): Airdrop {
  const { id, mint, airdropCount } = airdrop
  const distributor = requireRecord(airdrop.distributor, 'airdrop', id)
  const { root, maxNodes, maxTotal } = distributor
  const leaf_count = maxNodes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(maxNodes) : 0
  return {
    id,
    mint,
    airdrop_count: airdropCount,
    root,
    leaf_count,
    status: statusOnChain(
      // With a schedule amounts may vest, so wallets that have claimed may get more later.
      {
        root,
        leaf_count: leaf_count || Number.MAX_SAFE_INTEGER,
        total: String(maxTotal),
        total_locked: distributor.endsAt - distributor.startsAt > 1n ? String(maxTotal) : '0',
      },
      distributor,
    ),
    created_at: null,
    own: null,
    total: null,
    total_locked: null,
    distributor: airdrop.address,
    ...airdropStateOf(airdrop, distributor),
    vault_lacks: null,
    note: distributor.isClawedBack
      ? WITHDRAWN
      : 'Its merkle tree is not stored here: a claim must send its amount and proof',
  }
}

function airdropStateOf({ vaultAddress, vault }: ChainAirdrop, distributor: Distributor) {
  return {
    on_chain_root: distributor.root,
    admin: distributor.admin,
    vault: vaultAddress,
    vault_balance: String(vault?.amount ?? 0n),
    claimed_count: Number(distributor.claimedNodes),
    claimed_amount: String(distributor.claimedTotal),
    starts_at: isoOfUnixTime(distributor.startsAt),
    ends_at: isoOfUnixTime(distributor.endsAt),
    clawback_at: isoOfUnixTime(distributor.clawbackAt),
    clawback_receiver: distributor.clawbackReceiver,
    clawed_back: distributor.isClawedBack,
  }
}

const WITHDRAWN = 'The vault was withdrawn after the clawback time: nothing can be claimed from it'

/**
 * Returns what prevents some wallets from claiming, or unclaimed tokens from returning to the admin. Missing funding
 * is included only if neither applies.
 */
export async function vaultShortfall(
  row: Row<'merkle_trees'>,
  { distributor, vault, vaultAddress, mint }: Pick<PresentAirdrop, 'distributor' | 'vault' | 'vaultAddress' | 'mint'>,
): Promise<Pick<Airdrop, 'vault_lacks' | 'note'>> {
  if (distributor.isClawedBack) return { vault_lacks: null, note: WITHDRAWN }
  const reasons = await reasonsNotToFund(mint, distributor, row)
  if (reasons.length > 0) return { vault_lacks: null, note: reasons.join('. ') }
  const missing = BigInt(row.total) - distributor.claimedTotal - (vault?.amount ?? 0n)
  if (missing <= 0n) return { vault_lacks: '0', note: null }
  return {
    vault_lacks: String(missing),
    note: `The vault ${vaultAddress} lacks ${missing} of what can still be claimed`,
  }
}

/** Lists airdrops, newest first, one for each stored tree. */
export const listAirdrops = listOf<Routes['list'], Row<'merkle_trees'>>(pageAirdrops, airdropRecord)

/** Throws internal_error when no node reports which chain this is. */
export async function listAirdropClaims(
  { store, chain }: Pick<Context, 'store' | 'chain'>,
  { id, limit, cursor }: Input<Routes['claims']>,
): Promise<Result<Routes['claims']>> {
  airdropKeyOf(id)
  const of = { genesis: await chain.genesisHash(), airdrop_id: id }
  return recordPage(await pageAirdropClaims(store.db, { ...of, limit, cursor }), airdropClaimRecord)
}

/** Throws not_found without a stored tree, or for a wallet that is not in it. */
export async function getEntitlement(
  context: Context,
  { id, wallet }: Input<Routes['entitlement']>,
): Promise<Result<Routes['entitlement']>> {
  const { tree, amount, locked } = await storedLeaf(context, id, wallet)
  const [entitlement] = await readEntitlements(context, wallet, [
    { row: requireRecord(tree, 'airdrop', id), amount, locked },
  ])
  return requireRecord(entitlement ?? null, 'airdrop', id)
}

/** Trees that one page searches, at about two milliseconds each. */
const TREES_PER_PAGE = 250

export async function lookUpAirdrops(
  context: Context,
  input: Input<Routes['lookup']>,
): Promise<Result<Routes['lookup']>> {
  const { wallet, mint, limit, cursor } = input
  const list = `wallet_airdrops:${wallet}:${mint ?? ''}`
  const before = cursor === undefined ? undefined : decodeCursor(list, cursor)
  const { rows, end } = await scanTrees(context.store.db, { mint, before, limit: TREES_PER_PAGE })
  const entitled: Entitled[] = []
  let looked = 0
  for (const row of rows) {
    if (entitled.length === limit) break
    looked++
    const leaf = await leafOfWallet(context, row, wallet)
    if (leaf !== null) entitled.push(leaf)
  }
  const last = looked < rows.length ? (rows[looked - 1]?.seq ?? end) : end
  const next_cursor = last === null ? null : encodeCursor(list, last)
  return { items: await readEntitlements(context, wallet, entitled), next_cursor }
}

/** Returns null when the wallet is not in the tree, or its leaves were removed. A damaged tree is logged, and does not hide the others. */
async function leafOfWallet(context: Context, row: Row<'merkle_trees'>, wallet: string): Promise<Entitled | null> {
  if (row.leaves_removed_at !== null) return null
  try {
    return await withRow(context, row, async ({ head, read }) => {
      const leaf = await lookUpProof(head, keyBytesOf(wallet), read)
      return leaf === undefined ? null : { row, amount: leaf.amount, locked: leaf.locked }
    })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'bad_request')) throw error
    context.log.error({ err: error, tree: row.id }, 'a stored tree is damaged')
    return null
  }
}

/** Throws not_found for an address without an account, and bad_request if the account has no airdrop id. */
export async function getDistributor(
  context: Context,
  { address }: Input<Routes['distributor']>,
): Promise<Result<Routes['distributor']>> {
  const { chain } = context
  const [account = null] = await accountsAt(chain, [address])
  if (!isOpen(account)) {
    throw notFound(`There is no distributor at ${address} on ${chain.cluster.label}`, {
      param: 'address',
      details: { reason: 'not_initialized' },
    })
  }
  const distributor = decodeDistributor(account)
  if (distributor === null) throw notADistributor(address, account)
  return getAirdrop(context, { id: await airdropIdAt(address, distributor) })
}

/**
 * Returns the id from mint and version. Throws bad_request if the id gives another address, because every claim is
 * built for the derived one.
 */
async function airdropIdAt(address: string, { mint, version }: Distributor): Promise<string> {
  if (version > BigInt(MAX_AIRDROP_COUNT)) {
    throw badRequest(
      `The distributor ${address} has the version ${version}, and an airdrop_count is at most ${MAX_AIRDROP_COUNT}: its claims cannot be built here; use the tool that made it`,
      { param: 'address', details: { reason: 'version_too_high', mint, version: String(version) } },
    )
  }
  const airdropCount = Number(version)
  const derived = distributorAddress({ mint, airdropCount })
  if (derived === address) return treeIdOf(mint, airdropCount)
  throw badRequest(
    `The distributor ${address} names the mint ${mint} and the version ${version}, but the program derives ${derived} for these: it cannot be claimed here`,
    { param: 'address', details: { reason: 'other_address', mint, version: String(version), derived } },
  )
}

function notADistributor(address: string, account: ChainAccount): ApiError {
  const { id, name } = PROGRAMS.distributor
  const claim = decodeClaimStatus(account)
  const what =
    claim !== null
      ? `the record of a claim by ${claim.claimant}`
      : account.owner === id
        ? 'another account of that program'
        : `an account of the program ${account.owner}`
  return badRequest(`${address} is not a distributor of the ${name} (${id}): it is ${what}`, {
    param: 'address',
    details: { reason: 'no_distributor', owner: account.owner },
  })
}

/** A wallet's leaf of a stored tree, with amounts in raw units. */
interface Entitled {
  row: Row<'merkle_trees'>
  amount: bigint
  locked: bigint
}

/** Accounts of one airdrop: distributor, vault, claim status and token account. */
const ACCOUNTS_PER_AIRDROP = 4

async function readEntitlements(
  context: Pick<Context, 'chain' | 'signer' | 'log'>,
  wallet: string,
  entitled: readonly Entitled[],
): Promise<AirdropEntitlement[]> {
  if (entitled.length === 0) return []
  const { chain } = context
  const platform = (await trySigner(context))?.address ?? null
  const placed = await Promise.all(
    entitled.map(async (each) => ({ ...each, addresses: await findAirdropAddresses(each.row, wallet) })),
  )
  const [genesis, [clock = null, ...accounts]] = await Promise.all([
    chain.genesisHash(),
    accountsAt(chain, [CLOCK_SYSVAR, ...placed.flatMap(({ addresses }) => addresses)]),
  ])
  const now = await chainNow(clock)
  const entitlement = async (
    { row, amount, locked, addresses: [address, vaultAddress] }: (typeof placed)[number],
    i: number,
  ): Promise<AirdropEntitlement> => {
    const own = accounts.slice(i * ACCOUNTS_PER_AIRDROP, (i + 1) * ACCOUNTS_PER_AIRDROP)
    const [vault, held] = [own[1] ?? null, own[3] ?? null]
    const distributor = decodeDistributor(own[0] ?? null)
    const status = decodeClaimStatus(own[2] ?? null)
    const payment = claimPayment({ amount, locked }, distributor, status, now)
    const fault = await claimFaultInTokens(chain, row.mint, {
      id: row.id,
      claimer: wallet,
      platform,
      payment,
      vests: row.total_locked !== '0',
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
    // The distributor of another airdrop shows nothing about this wallet.
    const isOther = fault?.reason === 'other_root'
    const claimed = isOther ? null : status
    const schedule = isOther || locked === 0n ? null : distributor
    return {
      id: row.id,
      mint: row.mint,
      airdrop_count: row.airdrop_count,
      amount: String(amount),
      amount_locked: String(locked),
      status: currentStatus(row, distributor, genesis),
      claimed: claimed !== null,
      claimed_amount: String(claimed === null ? 0n : claimed.unlocked + claimed.lockedWithdrawn),
      claimable_amount: String(fault === null ? payment.unlocked + payment.vested : 0n),
      vested: String(schedule === null ? 0n : vestedAt(schedule, locked, now)),
      next_vesting_at:
        schedule === null || payment.nextVestingAt === null ? null : isoOfUnixTime(payment.nextVestingAt),
      starts_at: schedule === null ? null : isoOfUnixTime(schedule.startsAt),
      ends_at: schedule === null ? null : isoOfUnixTime(schedule.endsAt),
      clawback_at: distributor === null || isOther ? null : isoOfUnixTime(distributor.clawbackAt),
      claimable: fault === null,
      reason: fault?.reason ?? null,
      note: fault?.message ?? null,
    }
  }
  return Promise.all(placed.map(entitlement))
}

async function findAirdropAddresses(
  { mint, airdrop_count: airdropCount, distributor: known }: Row<'merkle_trees'>,
  wallet: string,
): Promise<[distributor: string, vault: string, status: string, account: string]> {
  const distributor = known ?? distributorAddress({ mint, airdropCount })
  return [
    distributor,
    ...(await Promise.all([
      tokenAccountAddress(mint, distributor),
      claimStatusAddress(distributor, wallet),
      tokenAccountAddress(mint, wallet),
    ])),
  ]
}
