/** Reads the state of a wallet's claims from the chain: distributor, record of the claim, vault, token account, SOL. */

import { hexOf } from '../../solana/bytes.ts'
import { TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { MERKLE_DISTRIBUTOR } from '../../solana/programs/merkle-distributor.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { vestedAt } from '../../solana/unlock-schedule.ts'
import { type Chain, type ChainRecord, readAccounts, TIME_AND_RENT, timeAndRentIn } from './chain-records.ts'
import type { ClaimAccounts } from './claim-instructions.ts'
import type { TextKey } from './page-fault.ts'
import type { Purse } from './planned-transaction.ts'
import { associatedAccountOf, claimRecordOf } from './program-addresses.ts'
import type { SolanaNode } from './solana-node.ts'
import type { FoundRow } from './wallet-lookup.ts'

/** What a wallet can claim of one row of the list now. Amounts are raw units, times Unix seconds. */
export interface RowState {
  row: FoundRow
  accounts: ClaimAccounts
  /** Why nothing can be claimed, or null if something can. */
  fault: TextKey | null
  hasClaimed: boolean
  paid: bigint
  claimable: bigint
  /** Claimable part that the first claim pays, and part that has vested. */
  takesFirst: boolean
  takesVested: boolean
  startsAt: bigint
  endsAt: bigint
  clawbackAt: bigint
  hasTokenAccount: boolean
}

export interface WalletState extends Purse {
  wallet: string
  /** Time of the chain in Unix seconds. */
  now: bigint
  rows: readonly RowState[]
}

async function accountsOfClaim({ airdrop }: FoundRow, wallet: string): Promise<ClaimAccounts> {
  const { distributor, mint } = airdrop
  const [claimRecord, vault, tokenAccount] = await Promise.all([
    claimRecordOf(distributor, wallet),
    associatedAccountOf(mint, distributor),
    associatedAccountOf(mint, wallet),
  ])
  return { distributor, claimRecord, vault, tokenAccount, wallet, mint }
}

/**
 * Reads everything that the rows need in one request. Throws PageFault if the node does not answer, or answers invalid
 * data.
 */
export async function readWalletState(
  node: SolanaNode,
  rows: readonly FoundRow[],
  wallet: string,
): Promise<WalletState> {
  const named = await Promise.all(rows.map(async (row) => ({ row, accounts: await accountsOfClaim(row, wallet) })))
  const addresses = new Set([...TIME_AND_RENT, wallet])
  for (const { accounts } of named) {
    const { distributor, claimRecord, vault, tokenAccount, mint } = accounts
    for (const address of [distributor, claimRecord, vault, tokenAccount, mint]) addresses.add(address)
  }
  const chain = await readAccounts(node, [...addresses])
  const { now, rentOf } = timeAndRentIn(chain)
  return {
    wallet,
    lamports: chain.get(wallet)?.lamports ?? 0n,
    now,
    rentOf,
    rows: named.map(({ row, accounts }) => stateOf(row, accounts, chain, now)),
  }
}

function stateOf(row: FoundRow, accounts: ClaimAccounts, chain: Chain, now: bigint): RowState {
  const tokens = chain.get(accounts.tokenAccount)
  const nothing = { paid: 0n, claimable: 0n, takesFirst: false, takesVested: false, hasClaimed: false }
  const unknown = {
    row,
    accounts,
    ...nothing,
    startsAt: 0n,
    endsAt: 0n,
    clawbackAt: 0n,
    hasTokenAccount: tokens?.owner === TOKEN_PROGRAM,
  }
  const account = chain.get(accounts.distributor)
  if (!account) return { ...unknown, fault: 'notOnChain' }
  const distributor = MERKLE_DISTRIBUTOR.decode('merkle_distributor', account)
  if (distributor === null) return { ...unknown, fault: 'foreignDistributor' }
  const { start_ts: startsAt, end_ts: endsAt, clawback_start_ts: clawbackAt } = distributor
  const state = { ...unknown, startsAt, endsAt, clawbackAt }
  if (hexOf(distributor.root) !== row.airdrop.root) return { ...state, fault: 'otherRoot' }
  if (distributor.mint !== accounts.mint || distributor.token_vault !== accounts.vault) {
    return { ...state, fault: 'foreignDistributor' }
  }
  const mint = TOKEN.decode('mint', chain.get(accounts.mint))
  if (mint?.decimals !== row.airdrop.decimals) return { ...state, fault: 'otherMint' }
  const tokenFault = tokenAccountFault(tokens, accounts)
  const record = MERKLE_DISTRIBUTOR.decode('claim_status', chain.get(accounts.claimRecord) ?? null)
  const hasClaimed = record !== null
  const withdrawn = record?.locked_amount_withdrawn ?? 0n
  const paid = (record?.unlocked_amount ?? 0n) + withdrawn
  const vested = vestedAt(state, row.locked, now) - withdrawn
  const first = hasClaimed ? 0n : row.amount
  const claimable = first + (vested > 0n ? vested : 0n)
  const [takesFirst, takesVested] = [!hasClaimed, vested > 0n]
  const claim = { ...state, hasClaimed, paid, claimable, takesFirst, takesVested }
  const isShort = (TOKEN.decode('account', chain.get(accounts.vault))?.amount ?? -1n) < claimable
  if (paid >= row.amount + row.locked && hasClaimed) return { ...claim, fault: null, claimable: 0n }
  const fault = distributor.clawed_back
    ? 'clawedBack'
    : (tokenFault ?? (isShort && claimable > 0n ? 'vaultShort' : null))
  return { ...claim, fault, claimable: fault === null ? claimable : 0n }
}

/** With a token account that is frozen or has another owner, the claim would fail or pay somebody else. */
function tokenAccountFault(tokens: ChainRecord | null | undefined, { wallet, mint }: ClaimAccounts): TextKey | null {
  if (!tokens || (tokens.data.length === 0 && tokens.owner !== TOKEN_PROGRAM)) return null
  const account = TOKEN.decode('account', tokens)
  const isUsable = account?.mint === mint && account.owner === wallet && account.state.name === 'initialized'
  return isUsable ? null : 'tokenAccountUnusable'
}
