/** Tells addresses that should be given nothing from wallets: token accounts, mints, programs, and what no key belongs to. */
import type { ChainAccount } from './accounts.ts'
import { addressBytes } from './addresses.ts'
import { type AddressFault, bareAddressFault } from './bare-addresses.ts'
import { SYSTEM_PROGRAM } from './program-ids.ts'
import { isTokenProgram } from './token-programs.ts'

/** What stands at an address, as far as it matters to whoever gives it something. */
export interface AccountKind {
  /** Program that owns the account. */
  owner: string
  executable: boolean
  hasData: boolean
}

export const accountKind = (account: ChainAccount | null): AccountKind | null =>
  account && { owner: account.owner, executable: account.executable, hasData: account.data.length > 0 }

export interface RecipientTerms {
  /** Whether the request says that addresses of programs are meant (`allow_programs`). */
  allowsPrograms: boolean
}

/** Why an address may not be given something. A mint or a token account is never a vault. */
export function recipientFault(
  wallet: string,
  account: AccountKind | null,
  { allowsPrograms }: RecipientTerms,
): AddressFault | null {
  const fault = addressFault(wallet, account)
  return allowsPrograms && fault !== 'token_account' ? null : fault
}

/**
 * Why a wallet should be given nothing, by its address and what stands at it; null for a wallet. An account of the System
 * program that holds data is a nonce, from which only its authority can take.
 */
function addressFault(wallet: string, account: AccountKind | null): AddressFault | null {
  // Nobody could move what a mint or a token account held: neither can sign, whatever its own owner does.
  if (account !== null && isTokenProgram(account.owner)) return 'token_account'
  const bare = bareAddressFault(wallet, addressBytes(wallet))
  if (bare !== null || account === null) return bare
  const isPlain = account.owner === SYSTEM_PROGRAM && !account.executable && !account.hasData
  return isPlain ? null : 'program_owned'
}
