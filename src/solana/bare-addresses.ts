/** Finds out from an address alone whether it has no key, or whether the chain uses it. It decodes no base58. */
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
  WRAPPED_SOL,
} from './program-ids.ts'
import { PROGRAMS } from './programs.ts'
import { MEMO_PROGRAMS } from './token-programs.ts'

/** Reasons not to send anything to an address. */
export const ADDRESS_FAULTS = ['token_account', 'multisig', 'squads_account', 'off_curve', 'program_owned'] as const
export type AddressFault = (typeof ADDRESS_FAULTS)[number]

/** Addresses that the chain or everybody uses, even if no account exists there. */
const RESERVED = [
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
]
const MINTS = [WRAPPED_SOL, NATIVE_MINT_2022]

/** The addresses that nobody has a key for, although they may be on the curve. */
export const KEYLESS: ReadonlyMap<string, AddressFault> = new Map([
  ...RESERVED.map((address) => [address, 'program_owned'] as const),
  ...MINTS.map((address) => [address, 'token_account'] as const),
])

/** What an address alone shows, without the chain. Takes about 14 µs. */
export const bareAddressFault = (wallet: string, key: Uint8Array): AddressFault | null =>
  KEYLESS.get(wallet) ?? keyFault(key)

/** What the bytes of an address show that is not one of `KEYLESS`. */
export const keyFault = (key: Uint8Array): AddressFault | null => (isEd25519Point(key) ? null : 'off_curve')
