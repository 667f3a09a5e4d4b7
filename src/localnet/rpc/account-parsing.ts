/** Parses the accounts of known programs into jsonParsed form. */
import type { ChainAccount } from '../../solana/accounts.ts'
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
import type { LocalChain } from '../types.ts'
import { uiTokenAmount } from './amounts.ts'
import { NATIVE_ACCOUNTS, type ParsedState } from './native-accounts.ts'
import { parseExtensions } from './token-extensions.ts'

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
export function parseAccountData(chain: LocalChain, address: string, account: ChainAccount): ParsedAccount | null {
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
