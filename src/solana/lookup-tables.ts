/** Resolves address lookup tables by the rules of the address lookup table program. */

import type { ChainAccount } from './accounts.ts'
import { SLOT_HASHES } from './constants.ts'
import type { TableLookup } from './decoded-message.ts'
import { TransactionRefused } from './execution.ts'
import { addressAt, addressCount, LOOKUP_TABLE } from './programs/lookup-table.ts'
import { MAX_U64 } from './u64.ts'

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
  if (account.owner !== LOOKUP_TABLE.id) throw new TransactionRefused('InvalidAddressLookupTableOwner')
  const { data } = account
  const table = LOOKUP_TABLE.decode('table', account)
  if (table === null || !Number.isInteger(addressCount(data))) {
    throw new TransactionRefused('InvalidAddressLookupTableData')
  }
  const deactivated = table.deactivationSlot
  if (deactivated !== NEVER && deactivated + BigInt(SLOT_HASHES) <= BigInt(slot)) {
    throw new TransactionRefused('AddressLookupTableNotFound')
  }
  // Addresses are usable from the slot after the one in which they were added.
  const extendedNow = table.lastExtendedSlot >= BigInt(slot)
  const count = extendedNow ? table.lastExtendedSlotStartIndex : addressCount(data)
  return (index) => {
    if (index >= count) throw new TransactionRefused('InvalidAddressLookupTableIndex')
    return addressAt(data, index)
  }
}
