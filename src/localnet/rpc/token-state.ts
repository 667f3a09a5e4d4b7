/** Parses token accounts, mints and multisigs of both token programs into jsonParsed form. */

import type { ChainAccount } from '../../solana/accounts.ts'
import { ByteReader } from '../../solana/byte-reader.ts'
import {
  MULTISIG_SIZE,
  readMint,
  readTokenAccount,
  TOKEN_ACCOUNT_SIZE,
  type TokenAccountState,
} from '../../solana/token-accounts.ts'
import type { LocalChain } from '../types.ts'
import { uiTokenAmount } from './amounts.ts'
import { parseExtensions } from './token-extensions.ts'

function extensionsOf(account: ChainAccount): { extensions?: unknown[] } {
  return account.data.length > TOKEN_ACCOUNT_SIZE + 1
    ? { extensions: parseExtensions(account.data, TOKEN_ACCOUNT_SIZE + 1) }
    : {}
}

function parseMultisig(data: Uint8Array) {
  const reader = new ByteReader(data)
  const numRequiredSigners = reader.u8()
  const numValidSigners = reader.u8()
  const isInitialized = reader.bool()
  const signers = Array.from({ length: Math.min(numValidSigners, 11) }, reader.key)
  return { type: 'multisig', info: { numRequiredSigners, numValidSigners, isInitialized, signers } }
}

function parseTokenAccount(chain: LocalChain, account: ChainAccount, state: TokenAccountState) {
  const mintAccount = chain.account(state.mint)
  const mint = mintAccount && readMint(mintAccount)
  if (!mint) return null
  const { decimals } = mint
  const { nativeReserve } = state
  return {
    type: 'account',
    info: {
      mint: state.mint,
      owner: state.owner,
      tokenAmount: uiTokenAmount(state.amount, decimals),
      ...(state.delegate && { delegate: state.delegate }),
      state: state.state,
      isNative: nativeReserve !== null,
      ...(nativeReserve !== null && { rentExemptReserve: uiTokenAmount(nativeReserve, decimals) }),
      ...(state.delegate && { delegatedAmount: uiTokenAmount(state.delegatedAmount, decimals) }),
      ...(state.closeAuthority && { closeAuthority: state.closeAuthority }),
      ...extensionsOf(account),
    },
  }
}

/**
 * Parses an account of a token program into jsonParsed form; null when that is impossible, for example without its
 * mint.
 */
export function parseTokenState(chain: LocalChain, account: ChainAccount): { type: string; info: object } | null {
  const mint = readMint(account)
  if (mint) {
    const { mintAuthority, supply, decimals, isInitialized, freezeAuthority } = mint
    const info = { mintAuthority, supply: supply.toString(), decimals, isInitialized, freezeAuthority }
    return { type: 'mint', info: { ...info, ...extensionsOf(account) } }
  }
  if (account.data.length === MULTISIG_SIZE) return parseMultisig(account.data)
  const state = readTokenAccount(account)
  return state && parseTokenAccount(chain, account, state)
}
