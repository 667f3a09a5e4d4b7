/** Follows airdrops by their accounts: reports those that are fully claimed, and the changes made by other tools. */
import type { AirdropStatus } from '../../api/airdrops.ts'
import {
  type Distributor,
  type DistributorChange,
  decodeDistributor,
  distributorAddress,
  distributorChangesIn,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import { decodeTokenAccount, type TokenAccountState } from '../../chain/sending/balance-changes.ts'
import { readWithSlots } from '../../chain/sending/runs.ts'
import type { Services } from '../../context.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/timing.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { readMint } from '../../solana/token-accounts.ts'
import { dueAirdrops, moveAirdrop } from '../../store/airdrops/airdrops.ts'
import type { Reader } from '../../store/store.ts'
import { unconfirmedTransactions } from '../../store/transactions/transactions.ts'
import { keyBytesOf } from '../merkle-trees/open-tree.ts'
import { factsOf, statusOnChain } from './on-chain.ts'
import { vaultShortfall } from './reads.ts'
import {
  type AirdropEvidence,
  type AirdropFacts,
  type AirdropRow,
  advanceAirdrop,
  airdropRank,
  airdropStatusOn,
} from './transitions.ts'

type FollowAirdropsServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log'>

/** Reads of a round; each is a second call if its airdrops have vaults. */
const READS_PER_ROUND = 5
/**
 * Time for which only the transaction watcher handles a transaction submitted here, because it also reports the
 * signature.
 */
const WATCHER_LEAD_MS = 180_000
/**
 * The claims are reported before "fully claimed", which no transaction proves. A claim may land while its blockhash is
 * valid.
 */
const LAST_CLAIM_LEAD_MS = 90_000
/** Longest interval between looks, for a tree that has waited for its airdrop for days. */
export const LONGEST_AIRDROP_WAIT_MS = 600_000

/** Runs one round over the airdrops that are due, in at most a dozen calls. Throws as `follow` does. */
export function followAirdrops(services: FollowAirdropsServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock } = services
  const rounds: Follower<AirdropRow, AirdropReading, AirdropStep> = {
    named: ({ id }) => ({ airdrop: id }),
    due: () => dueAirdrops(store.db, clock.now(), ACCOUNTS_PER_CALL * READS_PER_ROUND),
    perRead: ACCOUNTS_PER_CALL,
    async read(rows) {
      const genesis = await chain.genesisHash()
      const addresses = await Promise.all(rows.map(addressOfAirdrop))
      const { slot, found } = await readAccounts(chain, rows, addresses)
      // After the accounts: what had an effect on them was stored before it was sent.
      let pending: Promise<Pending[]> | undefined
      const underWay = () => (pending ??= pendingTransactions(store.db, genesis, clock.now() - WATCHER_LEAD_MS))
      return found.map((accounts) => ({ ...accounts, genesis, slot, underWay }))
    },
    decide: (row, read) => airdropStep(row, read, clock.now()),
    async write(tx, row, step) {
      const { address: distributor, facts } = step
      if (facts !== null) return (await advanceAirdrop(tx, row, distributor, facts, step.evidence)).drafts
      await moveAirdrop(tx, row, { distributor, next_check_at: step.next, ...step.shortage })
      return []
    },
    postpone: (tx, row, next_check_at) => moveAirdrop(tx, row, { next_check_at }),
  }
  return follow(services, rounds, signal)
}

const addressOfAirdrop = async ({ distributor, mint, airdrop_count }: AirdropRow): Promise<string> =>
  distributor ?? distributorAddress({ mint, airdropCount: airdrop_count })

/** Of an airdrop that is followed for its claims the vault is read too, and its mint if the vault was short. */
interface AirdropAccounts {
  address: string
  distributor: Distributor | null
  vaultAddress: string | null
  vault: TokenAccountState | null
  decimals: number | null
}

async function readAccounts(chain: Services['chain'], rows: readonly AirdropRow[], addresses: readonly string[]) {
  const named = await Promise.all(
    rows.map(async (row, i) => {
      const address = addresses[i] as string
      const vaultAddress = isClaimable(row) ? tokenAccountAddress(row.mint, address) : null
      const mint = row.vault_lacks !== null && row.mint_decimals === null ? row.mint : null
      return { row, address, vaultAddress, mint }
    }),
  )
  const wanted = named.flatMap(({ address, vaultAddress, mint }) =>
    [address, vaultAddress, mint].filter((each) => each !== null),
  )
  const { accounts, newest } = await readWithSlots(chain, wanted)
  const shown = new Map(wanted.map((address, i) => [address, accounts[i] ?? null]))
  const found = named.map(({ row, address, vaultAddress, mint: mintAddress }): AirdropAccounts => {
    const vault = shown.get(vaultAddress ?? '') ?? null
    const mint = shown.get(mintAddress ?? '') ?? null
    return {
      address,
      distributor: decodeDistributor(shown.get(address) ?? null),
      vaultAddress,
      vault: vault && decodeTokenAccount(vault),
      decimals: row.mint_decimals ?? (mint && readMint(mint))?.decimals ?? null,
    }
  })
  return { slot: newest, found }
}

const isClaimable = ({ status }: AirdropRow) => status === 'initialized' || status === 'claiming'

/** What the vault lacks, and since which look. */
async function shortageOf(row: AirdropRow, read: AirdropAccounts, now: number) {
  const { distributor, vault, vaultAddress, decimals: mint_decimals } = read
  const isReadable = distributor !== null && distributor.root === row.root && vaultAddress !== null
  const { vault_lacks } = isReadable
    ? await vaultShortfall(row, { distributor, vault, vaultAddress, mint: row.mint })
    : { vault_lacks: null }
  const isShort = vault_lacks !== null && vault_lacks !== '0'
  return {
    vault_lacks: isShort ? vault_lacks : null,
    vault_lacks_since: isShort ? (row.vault_lacks_since ?? now) : null,
    mint_decimals,
  }
}

interface AirdropReading extends AirdropAccounts {
  genesis: string
  slot: number
  /** The transactions of this service that are not confirmed. */
  underWay(): Promise<readonly Pending[]>
}

type AirdropStep =
  | { address: string; facts: AirdropFacts; evidence: AirdropEvidence }
  | { address: string; facts: null; next: number; shortage: Awaited<ReturnType<typeof shortageOf>> }

/** Advances an airdrop whose account shows a later state, unless the watcher is about to report it. */
async function airdropStep(row: AirdropRow, read: AirdropReading, now: number): Promise<AirdropStep> {
  const { address, genesis, slot, distributor } = read
  const status = airdropStatusOn(row, genesis)
  const isNew = airdropRank(statusOnChain(row, distributor)) > airdropRank(status)
  // If an airdrop is fully claimed, only the last claim can be missing.
  const lead = status === 'claiming' && !distributor?.isClawedBack ? LAST_CLAIM_LEAD_MS : WATCHER_LEAD_MS
  const isWatched = (each: Pending) => each.created_at > now - lead && isAbout(each, row.id, address)
  if (!isNew || distributor === null || (await read.underWay()).some(isWatched)) {
    const next = now + airdropWaitOf(row, status, now)
    return { address, facts: null, next, shortage: await shortageOf(row, read, now) }
  }
  const evidence = { genesis, next: now + 10 * SECOND_MS, slot, admin: distributor.admin }
  return { address, facts: factsOf(row, distributor), evidence }
}

/** Looks are rare when nothing happens, because a tree may never get its airdrop. */
function airdropWaitOf({ created_at }: AirdropRow, status: AirdropStatus, now: number): number {
  if (status === 'initialized' || status === 'claiming') return 10 * SECOND_MS
  if (status === 'fully_claimed') return 300 * SECOND_MS
  const age = now - created_at
  return age < HOUR_MS ? 15 * SECOND_MS : age < DAY_MS ? 60 * SECOND_MS : LONGEST_AIRDROP_WAIT_MS
}

// Finds pending transactions of this service that concern an airdrop, by their tracked resource or their own bytes.

interface Pending {
  signature: string
  tracked_id: string | null
  /** Time of submission in Unix milliseconds. */
  created_at: number
  /** Changes to airdrops by the transaction's own instructions. */
  changes: DistributorChange[]
}

/** Returns the transactions of one chain that were submitted after `since`, in Unix milliseconds. */
export async function pendingTransactions(reader: Reader, genesis: string, since: number): Promise<Pending[]> {
  const program = Buffer.from(keyBytesOf(PROGRAMS.distributor.id))
  const rows = await unconfirmedTransactions(reader, genesis, since)
  return rows.map(({ raw, ...row }) => {
    const changes = raw.includes(program) ? distributorChangesIn(decodeWireTransaction(raw).message) : []
    return { ...row, changes }
  })
}

/**
 * The tracked resource counts too, because the bytes show neither calls of other programs nor accounts from lookup
 * tables.
 */
const isAbout = ({ tracked_id, changes }: Pending, id: string, distributor: string): boolean =>
  tracked_id === id || changes.some((change) => change.distributor === distributor)
