/** Filters of getProgramAccounts and programSubscribe. */
import { base58 } from '@scure/base'
import type { ChainAccount } from '../../solana/accounts.ts'
import { readTokenAccount } from '../../solana/token-accounts.ts'
import { invalidParams } from './errors.ts'
import { asConfig, asInteger, asList } from './params.ts'

const MAX_FILTERS = 4
const MAX_MEMCMP_BYTES = 128

interface Memcmp {
  offset: number
  bytes: Uint8Array
}

export interface AccountFilters {
  dataSizes: number[]
  memcmps: Memcmp[]
  tokenAccountState: boolean
}

function decodeBytes(bytes: unknown, encoding: unknown): Uint8Array {
  if (Array.isArray(bytes)) return Uint8Array.from(bytes.map((byte) => asInteger(byte) & 0xff))
  if (typeof bytes !== 'string')
    throw invalidParams('Invalid params: data did not match any variant of MemcmpEncodedBytes.')
  if (encoding === 'base64') {
    const decoded = Buffer.from(bytes, 'base64')
    if (decoded.toString('base64') !== bytes) throw invalidParams('Invalid param: Base64DecodeError')
    return decoded
  }
  if (bytes.length > 175) throw invalidParams('Invalid param: DataTooLarge')
  try {
    return base58.decode(bytes)
  } catch {
    throw invalidParams('Invalid param: Base58DecodeError')
  }
}

function readMemcmp(value: unknown): Memcmp {
  const { offset, bytes, encoding } = asConfig(value)
  const decoded = decodeBytes(bytes, encoding)
  if (decoded.length > MAX_MEMCMP_BYTES) throw invalidParams('Invalid param: DataTooLarge')
  return { offset: asInteger(offset), bytes: decoded }
}

/** Reads the `filters` of a config. */
export function readFilters(value: unknown): AccountFilters {
  const filters: AccountFilters = { dataSizes: [], memcmps: [], tokenAccountState: false }
  if (value === undefined || value === null) return filters
  const list = asList(value)
  if (list.length > MAX_FILTERS) throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`)
  for (const entry of list) {
    const filter = entry === 'tokenAccountState' ? { tokenAccountState: true } : asConfig(entry)
    if ('dataSize' in filter) filters.dataSizes.push(asInteger(filter.dataSize))
    else if ('memcmp' in filter) filters.memcmps.push(readMemcmp(filter.memcmp))
    else if ('tokenAccountState' in filter) filters.tokenAccountState = true
    else
      throw invalidParams('Invalid params: unknown variant, expected one of `dataSize`, `memcmp`, `tokenAccountState`.')
  }
  return filters
}

const matchesBytes = (data: Uint8Array, { offset, bytes }: Memcmp): boolean =>
  offset + bytes.length <= data.length && bytes.every((byte, i) => data[offset + i] === byte)

export function matchesFilters(
  account: ChainAccount,
  { dataSizes, memcmps, tokenAccountState }: AccountFilters,
): boolean {
  return (
    dataSizes.every((size) => account.data.length === size) &&
    memcmps.every((memcmp) => matchesBytes(account.data, memcmp)) &&
    (!tokenAccountState || readTokenAccount(account) !== null)
  )
}
