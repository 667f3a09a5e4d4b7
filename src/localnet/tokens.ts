/** Reads only the fields of token accounts and mints that the account index requires. */

import type { ChainAccount } from '../solana/accounts.ts'
import { addressOf } from '../solana/addresses.ts'
import { hasTokenLayout } from '../solana/token-accounts.ts'

/** Byte offsets of a token account's state, and of a mint's decimals and initialization flag. */
const ACCOUNT_STATE = 108
const MINT_DECIMALS = 44
const MINT_INITIALIZED = 45

export interface TokenHolding {
  mint: string
  wallet: string
  /** Amount in raw units. */
  amount: bigint
}

/** Reads mint, wallet and amount of a token account; null for anything else. */
export function tokenHoldingOf(account: ChainAccount): TokenHolding | null {
  const { data } = account
  if (!hasTokenLayout(account, 'account') || data[ACCOUNT_STATE] === 0) return null
  return {
    mint: addressOf(data.subarray(0, 32)),
    wallet: addressOf(data.subarray(32, 64)),
    amount: new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(64, true),
  }
}

/** Reads the decimals of a mint; null for anything else. */
export function mintDecimalsOf(account: ChainAccount): number | null {
  if (!hasTokenLayout(account, 'mint') || account.data[MINT_INITIALIZED] === 0) return null
  return account.data[MINT_DECIMALS] ?? null
}
