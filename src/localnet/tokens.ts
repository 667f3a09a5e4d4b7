/** Reads token accounts and mints of both token programs from their account data. */

import type { ChainAccount } from '../solana/accounts.ts'
import { addressOf, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../solana/addresses.ts'

const MINT_BYTES = 82
const ACCOUNT_BYTES = 165
const MULTISIG_BYTES = 355
/** Values of the byte behind the base layout of a Token-2022 account with extensions. */
const TYPE_MINT = 1
const TYPE_ACCOUNT = 2

export interface TokenState {
  mint: string
  wallet: string
  /** Raw units. */
  amount: bigint
}

export const isTokenProgram = (owner: string): boolean => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM

/** Holdings of a token account; null for anything else. */
export function tokenStateOf({ owner, data }: ChainAccount): TokenState | null {
  if (!isTokenProgram(owner) || !hasLayout(owner, data, ACCOUNT_BYTES, TYPE_ACCOUNT) || data[108] === 0) return null
  return {
    mint: addressOf(data.subarray(0, 32)),
    wallet: addressOf(data.subarray(32, 64)),
    amount: view(data).getBigUint64(64, true),
  }
}

/** Decimals of a mint; null for anything else. */
export function mintDecimalsOf({ owner, data }: ChainAccount): number | null {
  if (!isTokenProgram(owner) || !hasLayout(owner, data, MINT_BYTES, TYPE_MINT) || data[45] === 0) return null
  return data[44]!
}

function hasLayout(owner: string, data: Uint8Array, length: number, type: number): boolean {
  if (data.length === length) return true
  if (owner !== TOKEN_2022_PROGRAM || data.length === MULTISIG_BYTES) return false
  return data.length > ACCOUNT_BYTES && data[ACCOUNT_BYTES] === type
}

const view = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength)
