/** Reads accounts of the chain from a node. */
import { CLOCK_SYSVAR, RENT_SYSVAR } from '../../solana/program-ids.ts'
import { SYSVAR } from '../../solana/programs/sysvar.ts'
import { type RentRate, rentRateIn } from '../../solana/rent.ts'
import { bytesOfBase64 } from './bytes.ts'
import { PageFault } from './page-fault.ts'
import type { SolanaNode } from './solana-node.ts'

export interface ChainRecord {
  owner: string
  lamports: bigint
  data: Uint8Array
}

export type Chain = ReadonlyMap<string, ChainRecord | null>

const ACCOUNTS_PER_READING = 100

/** Throws PageFault if the node does not answer, or answers invalid data. */
export async function readAccounts(
  node: SolanaNode,
  addresses: readonly string[],
): Promise<Map<string, ChainRecord | null>> {
  const found = new Map<string, ChainRecord | null>()
  for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_READING) {
    const asked = addresses.slice(at, at + ACCOUNTS_PER_READING)
    const result = await node.call('getMultipleAccounts', [asked, { encoding: 'base64', commitment: 'confirmed' }])
    const values = (result as { value?: unknown })?.value
    if (!Array.isArray(values) || values.length !== asked.length) throw new PageFault('nodeStrange')
    asked.forEach((address, n) => {
      found.set(address, parseChainRecord(values[n]))
    })
  }
  return found
}

/** The accounts that `timeAndRentIn` reads. */
export const TIME_AND_RENT = [CLOCK_SYSVAR, RENT_SYSVAR]

/** Unix seconds and epoch of the chain, and what accounts cost. Throws PageFault if the node does not show them. */
export function timeAndRentIn(chain: Chain): { now: bigint; epoch: bigint; rentOf: RentRate } {
  const clock = SYSVAR.decode('clock', chain.get(CLOCK_SYSVAR))
  const rentOf = rentRateIn(chain.get(RENT_SYSVAR)?.data ?? new Uint8Array())
  if (clock === null || rentOf === null) throw new PageFault('nodeStrange')
  return { now: clock.unixTimestamp, epoch: clock.epoch, rentOf }
}

export function parseChainRecord(value: unknown): ChainRecord | null {
  if (value === null) return null
  const { owner, lamports, data } = value as { owner: unknown; lamports: unknown; data: unknown }
  if (typeof owner !== 'string' || !Array.isArray(data) || typeof data[0] !== 'string')
    throw new PageFault('nodeStrange')
  try {
    return { owner, lamports: BigInt(lamports as number), data: bytesOfBase64(data[0]) }
  } catch {
    throw new PageFault('nodeStrange')
  }
}
