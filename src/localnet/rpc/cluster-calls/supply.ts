/** Methods about all lamports, which read every wallet. */
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import type { LocalChain } from '../../types.ts'
import { type RpcMethods, withContext } from '../method.ts'
import { asConfig, commitmentOf } from '../params.ts'

const LARGEST_ACCOUNTS = 20

/** Returns the lamports of wallets; lamports in accounts of programs are not counted. */
function supply(chain: LocalChain, params: readonly unknown[]) {
  const config = asConfig(params[0])
  let total = 0n
  for (const [, { lamports }] of chain.accountsOwnedBy(SYSTEM_PROGRAM)) total += lamports
  const value = { total, circulating: total, nonCirculating: 0, nonCirculatingAccounts: [] }
  return withContext(chain, commitmentOf(config), value)
}

/** Returns the twenty wallets with the most lamports; `filter` is ignored because all of them circulate. */
function largestAccounts(chain: LocalChain, params: readonly unknown[]) {
  const wallets = Array.from(chain.accountsOwnedBy(SYSTEM_PROGRAM), ([address, { lamports }]) => ({
    address,
    lamports,
  }))
  wallets.sort((a, b) => (a.lamports < b.lamports ? 1 : a.lamports > b.lamports ? -1 : 0))
  return withContext(chain, commitmentOf(asConfig(params[0])), wallets.slice(0, LARGEST_ACCOUNTS))
}

export const supplyMethods: RpcMethods = { getLargestAccounts: largestAccounts, getSupply: supply }
