/** Encodes accounts in the encodings of JSON-RPC. */
import * as zlib from 'node:zlib'
import { base58 } from '@scure/base'
import type { ChainAccount, DatedAccount } from '../../solana/accounts.ts'
import { ByteReader, ShortData } from '../../solana/byte-reader.ts'
import { KEY_BYTES } from '../../solana/constants.ts'
import { SYSTEM_PROGRAM, UPGRADEABLE_LOADER } from '../../solana/program-ids.ts'
import { addressAt, addressCount, LOOKUP_TABLE } from '../../solana/programs/lookup-table.ts'
import { SYSTEM } from '../../solana/programs/system.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { LOADER } from '../../solana/programs/upgradeable-loader.ts'
import {
  EXTENSIONS_OFFSET,
  MULTISIG_SIZE,
  readMint,
  readTokenAccount,
  type TokenAccountState,
} from '../../solana/token-accounts.ts'
import { TOKEN_PROGRAM_NAMES } from '../../solana/token-programs.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import type { LocalChain } from '../types.ts'
import { CODE, RpcError } from './errors.ts'
import { NATIVE_ACCOUNTS, type ParsedState } from './native-accounts.ts'
import { asConfig, asInteger, oneOf, type RpcConfig } from './params.ts'
import { parseExtensions } from './token-extensions.ts'

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

// Parses the accounts of known programs into jsonParsed form.

interface ParsedAccount {
  program: string
  parsed: ParsedState
  space: number
}

function parseNonce(account: ChainAccount): ParsedState | null {
  const nonce = SYSTEM.decode('nonce', account)
  if (nonce === null || nonce.state === 0) return nonce && { type: 'uninitialized' }
  const { authority, value: blockhash, lamportsPerSignature } = nonce
  const feeCalculator = { lamportsPerSignature: lamportsPerSignature.toString() }
  return { type: 'initialized', info: { authority, blockhash, feeCalculator } }
}

function parseLookupTable(account: ChainAccount): ParsedState | null {
  if (LOOKUP_TABLE.is('uninitialized', account)) return { type: 'uninitialized' }
  const table = LOOKUP_TABLE.decode('table', account)
  if (table === null) return null
  const { authority, deactivationSlot, lastExtendedSlot, lastExtendedSlotStartIndex } = table
  const { data } = account
  return {
    type: 'lookupTable',
    info: {
      deactivationSlot: deactivationSlot.toString(),
      lastExtendedSlot: lastExtendedSlot.toString(),
      lastExtendedSlotStartIndex,
      ...(authority && { authority }),
      addresses: Array.from({ length: addressCount(data) }, (_, index) => addressAt(data, index)),
    },
  }
}

/** Parses an account of the upgradeable loader: a program, its code, or a buffer of code to be deployed. */
function parseLoaderState(account: ChainAccount): ParsedState | null {
  if (LOADER.is('uninitialized', account)) return { type: 'uninitialized' }
  const program = LOADER.decode('program', account)
  if (program !== null) return { type: 'program', info: { programData: program.program_data } }
  const [kind, type] = LOADER.is('buffer', account)
    ? (['buffer', 'buffer'] as const)
    : (['program_data', 'programData'] as const)
  const state = LOADER.decode(kind, account)
  if (state === null) return null
  const { authority } = state
  const slot = 'slot' in state ? { slot: Number(state.slot) } : {}
  // Like a validator: without an authority, the bytes that are reserved for one count as code.
  const codeAt = LOADER.offsetOf(kind, 'authority') + 1 + (authority === null ? 0 : KEY_BYTES)
  const code = Buffer.from(account.data.subarray(codeAt)).toString('base64')
  return { type, info: { authority, data: [code, 'base64'], ...slot } }
}

function parseData(
  chain: LocalChain,
  address: string,
  account: ChainAccount,
): [program: string, parsed: ParsedState | null] {
  const token = TOKEN_PROGRAM_NAMES[account.owner]
  if (token) return [token, parseTokenState(chain, account)]
  if (account.owner === SYSTEM_PROGRAM && account.data.length === SYSTEM.sizeOf('nonce'))
    return ['nonce', parseNonce(account)]
  if (account.owner === LOOKUP_TABLE.id) return ['address-lookup-table', parseLookupTable(account)]
  if (account.owner === UPGRADEABLE_LOADER) return ['bpf-upgradeable-loader', parseLoaderState(account)]
  const native = Object.hasOwn(NATIVE_ACCOUNTS, account.owner) ? NATIVE_ACCOUNTS[account.owner] : undefined
  if (native !== undefined) return [native[0], native[1](address, account)]
  return ['', null]
}

/** Returns the parsed form, or null when the program is unknown or the data does not have its layout. */
function parseAccountData(chain: LocalChain, address: string, account: ChainAccount): ParsedAccount | null {
  try {
    const [program, parsed] = parseData(chain, address, account)
    return parsed && { program, parsed, space: account.data.length }
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}

// Parses token accounts, mints and multisigs of both token programs into jsonParsed form.

function extensionsOf({ data }: ChainAccount): { extensions?: unknown[] } {
  return data.length > EXTENSIONS_OFFSET ? { extensions: parseExtensions(data, EXTENSIONS_OFFSET) } : {}
}

function parseMultisig({ data }: ChainAccount): ParsedState | null {
  const multisig = TOKEN.decode('multisig', { owner: TOKEN.id, data })
  if (multisig === null) return null
  const { signers: keys, ...terms } = multisig
  const reader = new ByteReader(keys)
  const signers = Array.from({ length: Math.min(terms.numValidSigners, keys.length / KEY_BYTES) }, reader.key)
  return { type: 'multisig', info: { ...terms, signers } }
}

function parseTokenAccount(chain: LocalChain, account: ChainAccount, state: TokenAccountState) {
  const mintAccount = chain.account(state.mint)
  const mint = mintAccount && readMint(mintAccount)
  if (!mint) return null
  const { decimals } = mint
  const { nativeReserve } = state
  return {
    type: 'account',
    info: {
      mint: state.mint,
      owner: state.owner,
      tokenAmount: uiTokenAmount(state.amount, decimals),
      ...(state.delegate && { delegate: state.delegate }),
      state: state.state,
      isNative: nativeReserve !== null,
      ...(nativeReserve !== null && { rentExemptReserve: uiTokenAmount(nativeReserve, decimals) }),
      ...(state.delegate && { delegatedAmount: uiTokenAmount(state.delegatedAmount, decimals) }),
      ...(state.closeAuthority && { closeAuthority: state.closeAuthority }),
      ...extensionsOf(account),
    },
  }
}

/**
 * Parses an account of a token program into jsonParsed form; null when that is impossible, for example without its
 * mint.
 */
function parseTokenState(chain: LocalChain, account: ChainAccount): ParsedState | null {
  const mint = readMint(account)
  if (mint) {
    const { mintAuthority, supply, decimals, isInitialized, freezeAuthority } = mint
    const info = { mintAuthority, supply: supply.toString(), decimals, isInitialized, freezeAuthority }
    return { type: 'mint', info: { ...info, ...extensionsOf(account) } }
  }
  if (account.data.length === MULTISIG_SIZE) return parseMultisig(account)
  const state = readTokenAccount(account)
  return state && parseTokenAccount(chain, account, state)
}

// Token amounts in the format of JSON-RPC.

interface UiTokenAmount {
  amount: string
  decimals: number
  uiAmount: number | null
  uiAmountString: string
}

/**
 * Formats an amount. `uiAmount` is for display only; it is converted from the exact decimal text and never used in
 * calculations.
 */
export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const digits = amount.toString()
  const padded = digits.padStart(decimals + 1, '0')
  const whole = padded.slice(0, padded.length - decimals)
  const fraction = padded.slice(padded.length - decimals).replace(/0+$/, '')
  const text = fraction ? `${whole}.${fraction}` : whole
  return { amount: digits, decimals, uiAmount: Number(text), uiAmountString: text }
}
