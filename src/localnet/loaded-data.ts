/** Size of the account data that a transaction loads, as SIMD-0186 counts it and its limit is compared with. */
import type { ChainAccount } from '../solana/accounts.ts'
import { addressOf } from '../solana/addresses.ts'
import { INSTRUCTIONS_SYSVAR, UPGRADEABLE_LOADER } from '../solana/program-ids.ts'
import type { AccountEntry } from './account-index.ts'

/** Bytes that each account counts beside its data, and bytes of each lookup table (svm/src/account_loader.rs of Agave). */
const ACCOUNT_BASE_SIZE = 64
const LOOKUP_TABLE_SIZE = 8248
/** Bytes of an upgradeable program's account: its state's tag, 2 for a program, and the address of its data account. */
const PROGRAM_BYTES = 36
const PROGRAM_TAG = 2

export interface LoadingParts {
  entry(address: string): AccountEntry | undefined
  /** Reads an account's bytes; only called for upgradeable programs, which are small. */
  account(address: string): ChainAccount | null
}

/**
 * Returns the bytes that a transaction with these accounts loads. An account that does not exist counts nothing, and the
 * data account of an upgradeable program counts once.
 */
export function loadedDataSize(
  accountKeys: readonly string[],
  lookupTables: number,
  { entry, account }: LoadingParts,
): number {
  const counted = new Set(accountKeys)
  let size = lookupTables * LOOKUP_TABLE_SIZE
  for (const key of accountKeys) {
    const loaded = key === INSTRUCTIONS_SYSVAR ? undefined : entry(key)
    if (loaded === undefined) continue
    size += ACCOUNT_BASE_SIZE + loaded.space
    if (loaded.owner !== UPGRADEABLE_LOADER || loaded.space !== PROGRAM_BYTES) continue
    const data = account(key)?.data
    if (data?.[0] !== PROGRAM_TAG) continue
    const dataAddress = addressOf(data.subarray(4, PROGRAM_BYTES))
    if (counted.has(dataAddress)) continue
    counted.add(dataAddress)
    const programData = entry(dataAddress)
    if (programData !== undefined) size += ACCOUNT_BASE_SIZE + programData.space
  }
  return size
}
