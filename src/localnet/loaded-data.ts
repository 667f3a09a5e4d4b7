/** Size of the account data that a transaction loads, as SIMD-0186 counts it, and its limit. */

import type { ChainAccount } from '../solana/accounts.ts'
import { addressOf } from '../solana/addresses.ts'
import { LOADED_ACCOUNT_BYTES, MAX_LOADED_BYTES } from '../solana/constants.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import { keyAt } from '../solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM, INSTRUCTIONS_SYSVAR, UPGRADEABLE_LOADER } from '../solana/program-ids.ts'
import type { AccountEntry } from './account-index.ts'

/** Bytes that each lookup table counts (svm/src/account_loader.rs of Agave). */
const LOOKUP_TABLE_SIZE = 8248
/** Bytes of an upgradeable program's account: its state's tag, 2 for a program, and the address of its data account. */
const PROGRAM_BYTES = 36
const PROGRAM_TAG = 2

/** Tag of the Compute Budget instruction that sets the limit, which the bytes of the limit follow. */
const SET_LIMIT = 4

/** Returns the bytes that a transaction may load. A version 1 message without a limit may load nothing (SIMD-0385). */
export function loadedDataLimit(message: DecodedMessage): number {
  let limit = message.config === null ? MAX_LOADED_BYTES : (message.config.loadedAccountsDataSizeLimit ?? 0)
  if (message.config === null) {
    for (const { programIdIndex, data } of message.instructions) {
      if (data[0] !== SET_LIMIT || data.length < 5 || keyAt(message, programIdIndex) !== COMPUTE_BUDGET_PROGRAM)
        continue
      limit = new DataView(data.buffer, data.byteOffset, data.byteLength).getUint32(1, true)
    }
  }
  return Math.min(limit, MAX_LOADED_BYTES)
}

export interface LoadingParts {
  entry(address: string): AccountEntry | undefined
  /** Reads an account's bytes; only called for upgradeable programs, which are small. */
  account(address: string): ChainAccount | null
}

/**
 * Returns the bytes that a transaction with these accounts loads. An account that does not exist counts nothing, and
 * the
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
    size += LOADED_ACCOUNT_BYTES + loaded.space
    if (loaded.owner !== UPGRADEABLE_LOADER || loaded.space !== PROGRAM_BYTES) continue
    const data = account(key)?.data
    if (data?.[0] !== PROGRAM_TAG) continue
    const dataAddress = addressOf(data.subarray(4, PROGRAM_BYTES))
    if (counted.has(dataAddress)) continue
    counted.add(dataAddress)
    const programData = entry(dataAddress)
    if (programData !== undefined) size += LOADED_ACCOUNT_BYTES + programData.space
  }
  return size
}
