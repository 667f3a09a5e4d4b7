/** The index of the embedded chain's accounts: what it remembers is bounded, and what it answers is what its reader has. */
import { describe, expect, it } from 'vitest'
import { AccountIndex } from '../../src/localnet/account-index.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { addressOf } from '../../src/solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'

const WALLET: ChainAccount = { lamports: 5n, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }

function numbered(i: number): string {
  const bytes = Buffer.alloc(32, 7)
  bytes.writeUInt32BE(i)
  return addressOf(bytes)
}

/** An index over accounts that a test changes behind it; counts how often each address was read. */
function indexOver(accounts: Map<string, ChainAccount>) {
  const reads = new Map<string, number>()
  const index = new AccountIndex({
    get(address) {
      reads.set(address, (reads.get(address) ?? 0) + 1)
      return accounts.get(address) ?? null
    },
    all: () => accounts,
  })
  return { index, reads }
}

describe('an index before its first listing', () => {
  it('remembers absent addresses, as many as one write can remove and no more', () => {
    const { index, reads } = indexOver(new Map())
    const addresses = Array.from({ length: 16_384 + 10 }, (_, i) => numbered(i))
    for (const address of addresses) expect(index.get(address)).toBeUndefined()
    const again = (part: readonly string[]) => {
      for (const address of part) index.get(address)
      return part.map((address) => reads.get(address))
    }
    expect(new Set(again(addresses.slice(-16_384)))).toEqual(new Set([1]))
    expect(new Set(again(addresses.slice(0, 10)))).toEqual(new Set([2]))
  })

  it('lists no removed account, even if its reader still has it', () => {
    const accounts = new Map(Array.from({ length: 4_096 }, (_, i) => [numbered(i), WALLET] as const))
    const { index } = indexOver(accounts)
    for (const address of accounts.keys()) index.update(address, null)
    accounts.set(numbered(5_000), WALLET)
    expect(index.ownedBy(SYSTEM_PROGRAM)).toEqual([numbered(5_000)])
    expect(index.size).toBe(1)
  })
})
