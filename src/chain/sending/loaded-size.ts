/**
 * The size of the accounts that a transaction loads, which a transaction of version 1 must set a limit for
 * (SIMD-0385).
 */

import { ACCOUNTS_PER_CALL, LOADED_ACCOUNT_BYTES, MAX_LOADED_BYTES } from '../../solana/constants.ts'
import { LOADER } from '../../solana/programs/upgradeable-loader.ts'
import type { NodeCalls } from '../nodes/node-call.ts'

/** The cluster counts in pages of 32 KiB. */
const PAGE_BYTES = 32 * 1024

/**
 * Returns the limit for this many bytes: a tenth more, because accounts and programs may grow before the transaction
 * lands, and a page for accounts that do not exist yet.
 */
export function loadedLimitOf(bytes: number): number {
  const pages = Math.ceil((bytes * 11) / 10 / PAGE_BYTES) + 1
  return Math.min(pages * PAGE_BYTES, MAX_LOADED_BYTES)
}

/**
 * Returns the bytes that these accounts count now by SIMD-0186, or null when the node does not report their sizes. Each
 * address must be given once.
 */
export async function readLoadedSize(chain: NodeCalls, addresses: readonly string[]): Promise<number | null> {
  const accounts = await shownAccounts(chain, addresses)
  if (accounts === null) return null
  const codes = accounts.flatMap((account) => codeAddressOf(account) ?? [])
  const code = await shownAccounts(
    chain,
    [...new Set(codes)].filter((address) => !addresses.includes(address)),
  )
  if (code === null) return null
  return [...accounts, ...code].reduce(
    (sum, account) => sum + (account === null ? 0 : account.space + LOADED_ACCOUNT_BYTES),
    0,
  )
}

interface ShownAccount {
  owner: string
  /** Bytes of its data. */
  space: number
  /** The first bytes of its data. */
  data: Uint8Array
}

/** An upgradeable program is loaded with the account that has its code (SIMD-0186). */
const codeAddressOf = (account: ShownAccount | null): string | undefined =>
  LOADER.decode('program', account)?.program_data

/** Returns null if the answer has another form, or accounts without their sizes. */
async function shownAccounts(chain: NodeCalls, addresses: readonly string[]): Promise<(ShownAccount | null)[] | null> {
  if (addresses.length === 0) return []
  if (addresses.length > ACCOUNTS_PER_CALL) return null
  const dataSlice = { offset: 0, length: LOADER.sizeOf('program') }
  const options = { encoding: 'base64', commitment: 'confirmed', dataSlice }
  const { value } = await chain.call<{ value?: unknown }>('getMultipleAccounts', [addresses, options])
  if (!Array.isArray(value) || value.length !== addresses.length) return null
  const shown = value.map(shownAccount)
  return shown.includes(undefined) ? null : (shown as (ShownAccount | null)[])
}

function shownAccount(value: unknown): ShownAccount | null | undefined {
  if (value === null) return null
  const { owner, space, data } = value as Record<string, unknown>
  if (typeof owner !== 'string' || typeof space !== 'number' || !Number.isSafeInteger(space) || space < 0)
    return undefined
  const text = Array.isArray(data) ? (data[0] as unknown) : undefined
  return typeof text === 'string' ? { owner, space, data: Buffer.from(text, 'base64') } : undefined
}
