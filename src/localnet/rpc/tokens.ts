/** Methods that read token accounts and mints of both token programs. */

import type { ChainAccount } from '../../solana/accounts.ts'
import { type MintState, readMint, readTokenAccount } from '../../solana/token-accounts.ts'
import { TOKEN_PROGRAM_NAMES } from '../../solana/token-programs.ts'
import type { LocalChain } from '../types.ts'
import { encodeAccount, uiTokenAmount, viewOf } from './account-encoding.ts'
import { invalidParams } from './errors.ts'
import { type RpcMethods, readableAt, withContext } from './method.ts'
import { asConfig, asPubkey, onlyCommitment, type RpcConfig, requireParams } from './params.ts'

const LARGEST_HOLDERS = 20

type TokenEntry = readonly [address: string, account: ChainAccount]

function mintAt(chain: LocalChain, address: string): MintState {
  const account = chain.account(address)
  if (!account) throw invalidParams('Invalid param: could not find mint')
  const mint = readMint(account)
  if (!mint) throw invalidParams('Invalid param: not a Token mint')
  return mint
}

function tokenAccountBalance(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const address = asPubkey(params[0])
  const commitment = onlyCommitment(params[1])
  const account = chain.account(address)
  if (!account) throw invalidParams('Invalid param: could not find account')
  const state = readTokenAccount(account)
  if (!state) throw invalidParams('Invalid param: not a Token account')
  return withContext(chain, commitment, uiTokenAmount(state.amount, mintAt(chain, state.mint).decimals))
}

function tokenSupply(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const address = asPubkey(params[0])
  const commitment = onlyCommitment(params[1])
  const account = chain.account(address)
  if (!account) throw invalidParams('Invalid param: could not find account')
  const { supply, decimals } = mintAt(chain, address)
  return withContext(chain, commitment, uiTokenAmount(supply, decimals))
}

function tokenLargestAccounts(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const mint = asPubkey(params[0])
  const commitment = onlyCommitment(params[1])
  const { decimals } = mintAt(chain, mint)
  const holders: { address: string; amount: bigint }[] = []
  for (const [address, account] of chain.tokenAccountsOfMint(mint)) {
    holders.push({ address, amount: readTokenAccount(account)?.amount ?? 0n })
  }
  holders.sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0))
  const value = holders
    .slice(0, LARGEST_HOLDERS)
    .map(({ address, amount }) => ({ address, ...uiTokenAmount(amount, decimals) }))
  return withContext(chain, commitment, value)
}

/** Reads the `{ mint }` or `{ programId }` filter of a search and returns it as a predicate for one account. */
function readNarrowing(chain: LocalChain, value: unknown): (entry: TokenEntry) => boolean {
  const { mint, programId } = asConfig(value)
  if (typeof mint === 'string') {
    const address = asPubkey(mint)
    mintAt(chain, address)
    return ([, account]) => readTokenAccount(account)?.mint === address
  }
  if (typeof programId !== 'string') {
    throw invalidParams('Invalid params: unknown variant, expected one of `mint`, `programId`.')
  }
  const program = asPubkey(programId)
  if (!TOKEN_PROGRAM_NAMES[program]) throw invalidParams('Invalid param: unrecognized Token program id')
  return ([, account]) => account.owner === program
}

function encodeTokenAccounts(
  chain: LocalChain,
  entries: Iterable<TokenEntry>,
  keep: (entry: TokenEntry) => boolean,
  config: RpcConfig,
) {
  const view = viewOf(config)
  const commitment = readableAt(chain, config)
  const value: unknown[] = []
  for (const entry of entries) {
    if (keep(entry)) value.push({ pubkey: entry[0], account: encodeAccount(chain, entry, view) })
  }
  return withContext(chain, commitment, value)
}

function tokenAccountsByOwner(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 2)
  const owner = asPubkey(params[0])
  return encodeTokenAccounts(chain, chain.tokenAccountsOf(owner), readNarrowing(chain, params[1]), asConfig(params[2]))
}

function tokenAccountsByDelegate(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 2)
  const delegate = asPubkey(params[0])
  const narrowing = readNarrowing(chain, params[1])
  const keep = (entry: TokenEntry) => readTokenAccount(entry[1])?.delegate === delegate && narrowing(entry)
  const { mint, programId } = asConfig(params[1])
  const entries =
    typeof mint === 'string' ? chain.tokenAccountsOfMint(mint) : chain.accountsOwnedBy(asPubkey(programId))
  return encodeTokenAccounts(chain, entries, keep, asConfig(params[2]))
}

export const tokenMethods: RpcMethods = {
  getTokenAccountBalance: tokenAccountBalance,
  getTokenSupply: tokenSupply,
  getTokenLargestAccounts: tokenLargestAccounts,
  getTokenAccountsByOwner: tokenAccountsByOwner,
  getTokenAccountsByDelegate: tokenAccountsByDelegate,
}
