/** Balances of a transaction's accounts, in lamports and in tokens. */
import type { TokenBalance } from '../solana/execution.ts'
import type { AccountEntry } from './account-index.ts'

export interface Balances {
  /** Lamports in the order of the accounts; 0 for those that do not exist. */
  lamports: bigint[]
  /** Balances of those of the accounts that are token accounts. */
  tokens: TokenBalance[]
}

/** Returns the balances of accounts that `entry` reads, which may be those after a run. */
export function balancesOf(
  accountKeys: readonly string[],
  entry: (address: string) => Pick<AccountEntry, 'lamports' | 'owner' | 'token' | 'decimals'> | undefined,
): Balances {
  const balances: Balances = { lamports: [], tokens: [] }
  for (const [accountIndex, key] of accountKeys.entries()) {
    const account = entry(key)
    balances.lamports.push(account?.lamports ?? 0n)
    if (account === undefined || account.token === null) continue
    const { mint, wallet, amount } = account.token
    const decimals = entry(mint)?.decimals
    if (decimals === null || decimals === undefined) continue
    balances.tokens.push({ accountIndex, mint, owner: wallet, programId: account.owner, amount, decimals })
  }
  return balances
}
