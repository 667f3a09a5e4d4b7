/** Tells addresses that should be given nothing from wallets: token accounts, mints, programs, and what no key belongs to. */
import type { ChainAccount } from './accounts.ts'
import { addressBytes } from './addresses.ts'
import { isEd25519Point } from './curve.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  BUILT_IN_OWNERS,
  CLOCK_SYSVAR,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  INCINERATOR,
  INSTRUCTIONS_SYSVAR,
  LOOKUP_TABLE_PROGRAM,
  NATIVE_MINT_2022,
  OTHER_SYSVARS,
  RENT_SYSVAR,
  SECP256K1_PROGRAM,
  SECP256R1_PROGRAM,
  SLOT_HASHES_SYSVAR,
  SYSTEM_PROGRAM,
  WRAPPED_SOL,
} from './program-ids.ts'
import { PROGRAMS } from './programs.ts'
import { isTokenProgram, MEMO_PROGRAMS } from './token-programs.ts'

/** Why an address should be given nothing. */
export const ADDRESS_FAULTS = ['token_account', 'off_curve', 'program_owned'] as const
export type AddressFault = (typeof ADDRESS_FAULTS)[number]

/** What stands at an address, as far as it matters to whoever gives it something. */
export interface AccountKind {
  /** Program that owns the account. */
  owner: string
  executable: boolean
  hasData: boolean
}

export const accountKind = (account: ChainAccount | null): AccountKind | null =>
  account && { owner: account.owner, executable: account.executable, hasData: account.data.length > 0 }

/** Addresses that the chain or everybody uses, also where no account stands at them. */
const RESERVED: ReadonlySet<string> = new Set([
  ...BUILT_IN_OWNERS,
  ...Object.values(PROGRAMS).map(({ id }) => id),
  ...MEMO_PROGRAMS,
  ...OTHER_SYSVARS,
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  ED25519_PROGRAM,
  SECP256K1_PROGRAM,
  SECP256R1_PROGRAM,
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  INSTRUCTIONS_SYSVAR,
  SLOT_HASHES_SYSVAR,
  INCINERATOR,
])
const MINTS: ReadonlySet<string> = new Set([WRAPPED_SOL, NATIVE_MINT_2022])

/** What an address says by itself, without the chain. It takes about 14 µs. */
export function bareAddressFault(wallet: string, key: Uint8Array = addressBytes(wallet)): AddressFault | null {
  if (MINTS.has(wallet)) return 'token_account'
  if (RESERVED.has(wallet)) return 'program_owned'
  return isEd25519Point(key) ? null : 'off_curve'
}

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
  const bare = bareAddressFault(wallet)
  if (bare !== null || account === null) return bare
  const isPlain = account.owner === SYSTEM_PROGRAM && !account.executable && !account.hasData
  return isPlain ? null : 'program_owned'
}
