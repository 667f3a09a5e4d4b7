/**
 * Distinguishes wallets from addresses that should receive nothing: token accounts, mints, programs, and addresses
 * without a key.
 */
import type { ChainAccount } from './accounts.ts'
import { addressBytes } from './addresses.ts'
import { type AddressFault, bareAddressFault } from './bare-addresses.ts'
import { SYSTEM_PROGRAM } from './program-ids.ts'
import { isTokenProgram } from './token-programs.ts'

/** The account at an address, as far as it matters to a sender. */
export interface AccountKind {
  /** Program that owns the account. */
  owner: string
  executable: boolean
  hasData: boolean
}

export const accountKind = (account: ChainAccount | null): AccountKind | null =>
  account && { owner: account.owner, executable: account.executable, hasData: account.data.length > 0 }

export interface RecipientTerms {
  /** Whether the request allows addresses of programs (`allow_programs`). */
  allowsPrograms: boolean
}

/** Why an address may receive nothing. A mint or a token account is never a vault. */
export function recipientFault(
  wallet: string,
  account: AccountKind | null,
  { allowsPrograms }: RecipientTerms,
): AddressFault | null {
  const fault = addressFault(wallet, account)
  return allowsPrograms && fault !== 'token_account' ? null : fault
}

/**
 * Why an address should receive nothing, by the address and its account; null for a wallet. An account of the
 * System
 * program that holds data is a nonce, from which only its authority can take.
 */
function addressFault(wallet: string, account: AccountKind | null): AddressFault | null {
  // Tokens of a mint or a token account could never be moved: neither can sign, not even through its owner.
  if (account !== null && isTokenProgram(account.owner)) return 'token_account'
  const bare = bareAddressFault(wallet, addressBytes(wallet))
  if (bare !== null || account === null) return bare
  const isPlain = account.owner === SYSTEM_PROGRAM && !account.executable && !account.hasData
  return isPlain ? null : 'program_owned'
}
