/**
 * Distinguishes wallets from addresses that should receive nothing: token accounts, mints, programs, and addresses
 * without a key.
 */
import type { ChainAccount } from './accounts.ts'
import { addressBytes } from './addresses.ts'
import { type AddressFault, bareAddressFault } from './bare-addresses.ts'
import { SYSTEM_PROGRAM } from './program-ids.ts'
import { SQUADS } from './programs/squads.ts'
import { vaultAddress } from './squads/index.ts'
import { isTokenProgram } from './token-programs.ts'

/** The account at an address, as far as it matters to a sender. */
export interface AccountKind {
  /** Program that owns the account. */
  owner: string
  executable: boolean
  /** Its first eight bytes in hex, which say what an account of a program is; empty without data. */
  start: string
}

/** Bytes of an account that `start` shows. */
export const START_BYTES = 8

/** The first bytes of data as `start` has them. */
export const startOf = (data: Uint8Array): string => Buffer.from(data.subarray(0, START_BYTES)).toString('hex')

export const accountKind = (account: ChainAccount | null): AccountKind | null =>
  account && { owner: account.owner, executable: account.executable, start: startOf(account.data) }

export interface RecipientTerms {
  /** Whether the request allows addresses of programs (`allow_programs`). */
  allowsPrograms: boolean
}

/** Nothing that these receive could ever be moved, whatever the request allows. */
const LOST: ReadonlySet<AddressFault> = new Set(['token_account', 'multisig', 'squads_account'])

/** Why an address may receive nothing. What `LOST` has is never a vault. */
export function recipientFault(
  wallet: string,
  account: AccountKind | null,
  { allowsPrograms }: RecipientTerms,
): AddressFault | null {
  const fault = addressFault(wallet, account)
  return allowsPrograms && fault !== null && !LOST.has(fault) ? null : fault
}

const NOTES: Record<AddressFault, (wallet: string) => string> = {
  token_account: () =>
    'is a mint or a token account, not a wallet: what it receives could never be moved; send its owner instead',
  multisig: (wallet) =>
    `is the account of a Squads multisig, not its vault: what it receives could never be moved; its first vault (number 0) is ${vaultAddress(wallet, 0)}`,
  squads_account: () =>
    'is an account of Squads, such as a proposal: what it receives could never be moved; send the address of a vault',
  off_curve: () =>
    'is an address of a program and has no key: use it only if its program can use what it receives (allow_programs, `--allow-programs`)',
  program_owned: () =>
    'is a program, or an account that a program or the chain itself owns: use it only if that can use what it receives (allow_programs, `--allow-programs`)',
}

/** What is wrong with an address, and the remedy, as the end of a sentence that begins with the address. */
export const recipientNote = (reason: AddressFault, wallet: string): string => NOTES[reason](wallet)

/**
 * Why an address should receive nothing, by the address and its account; null for a wallet. An account of the
 * System program that holds data is a nonce, from which only its authority can take.
 */
function addressFault(wallet: string, account: AccountKind | null): AddressFault | null {
  // Tokens of a mint or a token account could never be moved: neither can sign, not even through its owner.
  if (account !== null && isTokenProgram(account.owner)) return 'token_account'
  // Squads signs for the vaults of a multisig alone, which the System program owns.
  if (account?.owner === SQUADS.id)
    return SQUADS.accountKind(account.start) === 'multisig' ? 'multisig' : 'squads_account'
  const bare = bareAddressFault(wallet, addressBytes(wallet))
  if (bare !== null || account === null) return bare
  const isPlain = account.owner === SYSTEM_PROGRAM && !account.executable && account.start === ''
  return isPlain ? null : 'program_owned'
}
