/** Encodes accounts in the encodings of JSON-RPC. */
import * as zlib from 'node:zlib'
import { base58 } from '@scure/base'
import type { DatedAccount } from '../../solana/accounts.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import type { LocalChain } from '../types.ts'
import { parseAccountData } from './account-parsing.ts'
import { CODE, RpcError } from './errors.ts'
import { asConfig, asInteger, oneOf, type RpcConfig } from './params.ts'

const BASE58_MAX_BYTES = 128
/** Rent epoch of rent-exempt accounts, which is u64::MAX. */
const RENT_EPOCH = MAX_U64

type AccountEncoding = 'binary' | 'base58' | 'base64' | 'base64+zstd' | 'jsonParsed'
const ACCOUNT_ENCODINGS: Readonly<Record<AccountEncoding, AccountEncoding>> = {
  binary: 'binary',
  base58: 'base58',
  base64: 'base64',
  'base64+zstd': 'base64+zstd',
  jsonParsed: 'jsonParsed',
}

export type AddressedAccount = readonly [address: string, account: DatedAccount]

export interface AccountView {
  encoding: AccountEncoding
  slice: { offset: number; length: number } | null
}

interface EncodedAccount {
  lamports: bigint
  owner: string
  data: unknown
  executable: boolean
  rentEpoch: bigint
  space: number
}

/** Reads `encoding` and `dataSlice` of a config. */
export function viewOf(config: RpcConfig, otherwise: AccountEncoding = 'binary'): AccountView {
  const { encoding, dataSlice } = config
  return {
    encoding: encoding === undefined || encoding === null ? otherwise : oneOf(encoding, ACCOUNT_ENCODINGS),
    slice:
      dataSlice === undefined || dataSlice === null
        ? null
        : { offset: asInteger(asConfig(dataSlice).offset), length: asInteger(asConfig(dataSlice).length) },
  }
}

const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > BASE58_MAX_BYTES) {
    throw new RpcError(
      CODE.invalidRequest,
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    )
  }
  return base58.encode(bytes)
}

function encodeData(
  chain: LocalChain,
  [address, account]: AddressedAccount,
  { encoding, slice }: AccountView,
): unknown {
  const data = slice ? account.data.subarray(slice.offset, slice.offset + slice.length) : account.data
  if (encoding === 'binary') return encodeBase58(data)
  if (encoding === 'base58') return [encodeBase58(data), 'base58']
  if (encoding === 'base64+zstd') return [encodeBase64(zstdFrame(data)), encoding]
  const parsed = encoding === 'jsonParsed' ? parseAccountData(chain, address, account) : null
  return parsed ?? [encodeBase64(data), 'base64']
}

/** Encodes an account for responses and notifications. */
export function encodeAccount(chain: LocalChain, addressed: AddressedAccount, view: AccountView): EncodedAccount {
  const [, account] = addressed
  const { lamports, owner, executable, rentEpoch = RENT_EPOCH } = account
  const space = account.data.length
  return { lamports, owner, data: encodeData(chain, addressed, view), executable, rentEpoch, space }
}

// Writes zstd frames: compressed if Node can, otherwise of raw blocks, which every decoder reads (RFC 8878).

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
const MAX_BLOCK = 128 * 1024
/** Frame header as a validator's encoder writes it: no content size, no checksum, and a window of 2 MiB. */
const HEADER = [...ZSTD_MAGIC, 0x00, 0x58]

/** Node has it from 22.15 on. */
type Compress = (data: Uint8Array) => Uint8Array
const { zstdCompressSync: compress } = zlib as unknown as { zstdCompressSync?: Compress }

/** Returns data as a zstd frame, compressed like a validator's if this Node has zstd. */
export const zstdFrame = (data: Uint8Array): Uint8Array => compress?.(data) ?? rawFrame(data)

/** Wraps data in a frame whose blocks are not compressed (sections 3.1.1 and 3.1.1.2). */
export function rawFrame(data: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(data.length / MAX_BLOCK))
  const frame = new Uint8Array(HEADER.length + blocks * 3 + data.length)
  frame.set(HEADER)
  let at = HEADER.length
  for (let block = 0; block < blocks; block++) {
    const part = data.subarray(block * MAX_BLOCK, (block + 1) * MAX_BLOCK)
    const header = (part.length << 3) | (block === blocks - 1 ? 1 : 0)
    frame.set([header & 0xff, (header >> 8) & 0xff, header >> 16], at)
    frame.set(part, at + 3)
    at += 3 + part.length
  }
  return frame
}
