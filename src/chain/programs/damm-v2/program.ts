/** Loads the SDK of DAMM v2 on first use, for its arithmetic and for the accounts that it computes with. */
import type { PoolState, PositionState } from '@meteora-ag/cp-amm-sdk'
import type { PublicKey } from '@solana/web3.js'
import type BN from 'bn.js'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import type { NodeAccount } from '../../reads/node-reads.ts'

type DammV2Account = NodeAccount | null | undefined

export type Sdk = typeof import('@meteora-ag/cp-amm-sdk')

let loadedSdk:
  | Promise<{ sdk: Sdk; program: InstanceType<Sdk['CpAmm']>['_program']; toBn: (value: bigint) => BN }>
  | undefined

/** Every request to a node bypasses the SDK's client, so that it needs no connection. */
export function loadSdk() {
  loadedSdk ??= Promise.all([import('@meteora-ag/cp-amm-sdk'), import('bn.js')]).then(([sdk, bn]) => ({
    sdk,
    program: new sdk.CpAmm(undefined as never)._program,
    toBn: (value: bigint) => new bn.default(value.toString()),
  }))
  return loadedSdk
}

export const toBigint = (value: BN): bigint => BigInt(value.toString())

/** Returns null for an address without a pool of the program. */
export const decodeDammV2Pool = (account: DammV2Account) => decodeDammV2Account<PoolState>('pool', account)

/** Returns null for an address without a position of the program. */
export const decodePosition = (account: DammV2Account) => decodeDammV2Account<PositionState>('position', account)

async function decodeDammV2Account<T>(kind: 'pool' | 'position', account: DammV2Account): Promise<T | null> {
  // The table excludes other accounts before the SDK is loaded.
  if (!account || DAMM_V2.decode(kind, account) === null) return null
  return (await loadSdk()).program.coder.accounts.decode<T>(kind, account.data)
}

/** Converts numbers to digits and keys to base58, without padding fields. */
export function dammV2JsonSafe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dammV2JsonSafe)
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return [...value]
  if (value === null || typeof value !== 'object') return value
  if ('toBase58' in value) return (value as PublicKey).toBase58()
  if ('toArrayLike' in value) return value.toString()
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !/^_?padding/i.test(name))
      .map(([name, each]) => [name, dammV2JsonSafe(each)]),
  )
}
