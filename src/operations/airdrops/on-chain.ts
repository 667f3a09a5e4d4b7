/** Reads an airdrop from the chain in one call, and determines the reasons not to fund it. */
import type { AirdropStatus } from '../../api/airdrops.ts'
import type { Chain } from '../../chain/connection.ts'
import {
  type AirdropKey,
  type Distributor,
  decodeDistributor,
  distributorAddress,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import { chainTimeOf } from '../../chain/reads/chain-clock.ts'
import { decodeTokenAccount, type TokenAccountState } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { keyToBase58 } from '../../merkle/base58.ts'
import { decodeTreeId } from '../../merkle/tree-id.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { CLOCK_SYSVAR, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import type { Row } from '../../store/schema.ts'
import { type AirdropFacts, airdropRank, airdropStatusOn, statusOfFacts } from './transitions.ts'

export interface ChainAirdrop {
  id: string
  mint: string
  airdropCount: number
  /** Address of the distributor, which may not exist. */
  address: string
  /** The distributor's associated token account, which may not exist either. */
  vaultAddress: string
  distributor: Distributor | null
  /** The vault, or null if there is none or it is not a token account. */
  vault: TokenAccountState | null
  /** Whether the vault's address has an open account of any kind. */
  hasVault: boolean
  /** Time of the chain's clock in Unix seconds. */
  now: bigint
  /** The additionally requested accounts, by address. */
  accounts: ReadonlyMap<string, ChainAccount | null>
}

export type PresentAirdrop = ChainAirdrop & { distributor: Distributor }

/** Returns mint and count of an id that matches the schema. Throws bad_request for one that only resembles an id. */
export function airdropKeyOf(id: string): AirdropKey {
  const decoded = decodeTreeId(id)
  if (decoded === undefined) throw badRequest(`id: ${id} is not a merkle tree id`, { param: 'id' })
  return { mint: keyToBase58(decoded.mint), airdropCount: decoded.airdropCount }
}

/** Takes one call, with up to 97 further accounts. Throws internal_error when the node fails. */
export async function readAirdrop(
  chain: Chain,
  id: string,
  further: (addresses: { distributor: string; vault: string }) => Promise<readonly string[]> = async () => [],
): Promise<ChainAirdrop> {
  const key = airdropKeyOf(id)
  const address = distributorAddress(key)
  const vaultAddress = tokenAccountAddress(key.mint, address)
  const more = await further({ distributor: address, vault: vaultAddress })
  const read = await accountsAt(chain, [address, vaultAddress, CLOCK_SYSVAR, ...more])
  const [distributor = null, vault = null, clock = null, ...rest] = read
  return {
    id,
    ...key,
    address,
    vaultAddress,
    distributor: decodeDistributor(distributor),
    vault: vault === null ? null : decodeTokenAccount(vault),
    hasVault: isOpen(vault),
    now: await chainNow(clock),
    accounts: new Map(more.map((each, i) => [each, rest[i] ?? null])),
  }
}

/** Returns Unix seconds of the chain's clock. Throws internal_error when the node leaves it out. */
export async function chainNow(clock: ChainAccount | null): Promise<bigint> {
  return BigInt((await chainTimeOf(clock)).unixSeconds)
}

/** An address that only received lamports has no open account. */
export const isOpen = (account: ChainAccount | null): account is ChainAccount =>
  account !== null && account.owner !== SYSTEM_PROGRAM

/** Throws not_found when the airdrop is not on chain. */
export function requireDistributor(chain: Chain, airdrop: ChainAirdrop): PresentAirdrop {
  const { distributor, id, mint, airdropCount } = airdrop
  if (distributor !== null) return { ...airdrop, distributor }
  throw notFound(
    `The airdrop ${id} (mint ${mint}, airdrop_count ${airdropCount}) is not on ${chain.cluster.label}: initialize it first (POST /v2/airdrops, \`svc airdrops init\`)`,
    { param: 'id', details: { reason: 'not_initialized' } },
  )
}

type AirdropTree = Pick<Row<'merkle_trees'>, 'root' | 'leaf_count' | 'total' | 'total_locked'>

/**
 * Returns reasons not to fund the vault, as sentences that name who gets unclaimed tokens. Either that is not the
 * admin, or the limits do not cover the whole tree (null when none is stored).
 */
export async function reasonsNotToFund(
  mint: string,
  distributor: Distributor,
  tree: Pick<AirdropTree, 'leaf_count' | 'total'> | null,
): Promise<string[]> {
  const { admin, clawbackReceiver, maxTotal, maxNodes } = distributor
  const reasons = []
  if (tree !== null && (maxTotal < BigInt(tree.total) || maxNodes < BigInt(tree.leaf_count))) {
    reasons.push(
      `The distributor pays out at most ${maxTotal} to ${maxNodes === 1n ? '1 wallet' : `${maxNodes} wallets`}, less than the tree has: the last wallets cannot claim, and unclaimed tokens go to ${clawbackReceiver}`,
    )
  }
  if (tokenAccountAddress(mint, admin) !== clawbackReceiver) {
    reasons.push(`Unclaimed tokens go to ${clawbackReceiver}, which is not the token account of its admin ${admin}`)
  }
  return reasons
}

/** Returns the status that the distributor shows for the tree, or `tree_built` if it is missing or has another root. */
export function statusOnChain(tree: AirdropTree, distributor: Distributor | null): AirdropStatus {
  return distributor === null || distributor.root !== tree.root
    ? 'tree_built'
    : statusOfFacts(factsOf(tree, distributor))
}

/** Returns the later of both states, because a node may lag behind the events that were written. */
export function currentStatus(row: Row<'merkle_trees'>, distributor: Distributor | null, genesis: string) {
  const [stored, shown] = [airdropStatusOn(row, genesis), statusOnChain(row, distributor)]
  return airdropRank(shown) > airdropRank(stored) ? shown : stored
}

/**
 * Returns the facts that a distributor with the tree's root shows about the tree. If amounts vest, a wallet claims
 * several times, so only the total shows that all is claimed.
 */
export const factsOf = (
  { leaf_count, total, total_locked }: Omit<AirdropTree, 'root'>,
  { claimedNodes, claimedTotal, isClawedBack }: Distributor,
): AirdropFacts => ({
  isClaimed: claimedNodes > 0n,
  isFull:
    (total_locked === '0' && claimedNodes >= BigInt(leaf_count)) ||
    (claimedNodes > 0n && claimedTotal >= BigInt(total)),
  isDrained: isClawedBack,
})

/** Returns a time of the chain, in Unix seconds, as ISO 8601, or null for one outside the calendar. */
export function isoOfUnixTime(unixSeconds: bigint): string | null {
  const milliseconds = Number(unixSeconds) * 1000
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : null
}

/** Returns ISO 8601, or the number itself for a time outside the calendar. */
export const describeUnixTime = (unixSeconds: bigint): string =>
  isoOfUnixTime(unixSeconds) ?? `Unix time ${unixSeconds}`
