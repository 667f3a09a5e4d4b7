/** Implements getProgramAccounts with the most selective index. */

import { base58 } from '@scure/base'
import type { ChainAccount } from '../../solana/accounts.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { TOKEN_PROGRAM_NAMES } from '../../solana/token-programs.ts'
import type { LocalChain } from '../types.ts'
import { encodeAccount, viewOf } from './account-encoding.ts'
import { type AccountFilters, matchesFilters, readFilters } from './filters.ts'
import { type RpcMethods, readableAt, withContext } from './method.ts'
import { asBoolean, asConfig, asPubkey, requireParams } from './params.ts'

const MINT_OFFSET = 0
const OWNER_OFFSET = 32

type AccountEntries = Iterable<readonly [address: string, account: ChainAccount]>

/**
 * Selects candidate accounts. The indexes by wallet and by mint cover token accounts only, so the filters must select
 * those.
 */
function candidates(chain: LocalChain, program: string, filters: AccountFilters): AccountEntries {
  const tokenAccounts = filters.tokenAccountState || filters.dataSizes.includes(TOKEN_ACCOUNT_SIZE)
  if (!TOKEN_PROGRAM_NAMES[program] || !tokenAccounts) return chain.accountsOwnedBy(program)
  const keyAt = (offset: number) =>
    filters.memcmps.find((memcmp) => memcmp.offset === offset && memcmp.bytes.length === 32)?.bytes
  const owner = keyAt(OWNER_OFFSET)
  if (owner) return chain.tokenAccountsOf(base58.encode(owner))
  const mint = keyAt(MINT_OFFSET)
  return mint ? chain.tokenAccountsOfMint(base58.encode(mint)) : chain.accountsOwnedBy(program)
}

function programAccounts(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const program = asPubkey(params[0])
  const config = asConfig(params[1])
  const filters = readFilters(config.filters)
  const view = viewOf(config)
  const commitment = readableAt(chain, config)
  const matches: unknown[] = []
  for (const [pubkey, account] of candidates(chain, program, filters)) {
    if (account.owner !== program || !matchesFilters(account, filters)) continue
    matches.push({ pubkey, account: encodeAccount(chain, [pubkey, account], view) })
  }
  return asBoolean(config.withContext) ? withContext(chain, commitment, matches) : matches
}

export const programAccountMethods: RpcMethods = { getProgramAccounts: programAccounts }
