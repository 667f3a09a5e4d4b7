/** Resolves address lookup tables by the rules of the address lookup table program. */

import type { ChainAccount } from './accounts.ts'
import { addressOf } from './addresses.ts'
import { SLOT_HASHES } from './constants.ts'
import type { TableLookup } from './decoded-message.ts'
import { TransactionRefused } from './execution.ts'
import { LOOKUP_TABLE_PROGRAM } from './program-ids.ts'
import { MAX_U64 } from './u64.ts'

/** Size of the table's header before its addresses, in bytes. */
const META_BYTES = 56
const NEVER = MAX_U64

export interface LoadedAddresses {
  writable: string[]
  readonly: string[]
}

/** Number of addresses that a message loads from tables. */
export const loadedCount = ({ lookups }: { lookups: readonly TableLookup[] }): number =>
  lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0)

/**
 * Returns the addresses that a message loads from tables at a slot. Throws TransactionRefused with a validator's error.
 */
export function loadAddresses(
  lookups: readonly TableLookup[],
  slot: number,
  account: (address: string) => ChainAccount | null,
): LoadedAddresses {
  const loaded: LoadedAddresses = { writable: [], readonly: [] }
  for (const { table, writable, readonly } of lookups) {
    const at = openTable(account(table), slot)
    loaded.writable.push(...Array.from(writable, at))
    loaded.readonly.push(...Array.from(readonly, at))
  }
  return loaded
}

function openTable(account: ChainAccount | null, slot: number): (index: number) => string {
  if (account === null) throw new TransactionRefused('AddressLookupTableNotFound')
  if (account.owner !== LOOKUP_TABLE_PROGRAM) throw new TransactionRefused('InvalidAddressLookupTableOwner')
  const { data } = account
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (data.length < META_BYTES || (data.length - META_BYTES) % 32 !== 0 || view.getUint32(0, true) !== 1) {
    throw new TransactionRefused('InvalidAddressLookupTableData')
  }
  const deactivated = view.getBigUint64(4, true)
  if (deactivated !== NEVER && deactivated + BigInt(SLOT_HASHES) <= BigInt(slot)) {
    throw new TransactionRefused('AddressLookupTableNotFound')
  }
  // Addresses are usable from the slot after the one in which they were added.
  const extendedNow = view.getBigUint64(12, true) >= BigInt(slot)
  const count = extendedNow ? view.getUint8(20) : (data.length - META_BYTES) / 32
  return (index) => {
    if (index >= count) throw new TransactionRefused('InvalidAddressLookupTableIndex')
    return addressOf(data.subarray(META_BYTES + index * 32, META_BYTES + index * 32 + 32))
  }
}
