/** Addresses of the runtime's own programs and sysvars, and base58 with a clear error. */
import { base58 } from '@scure/base'

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'
export const NATIVE_LOADER = 'NativeLoader1111111111111111111111111111111'
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'
export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111'
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const ED25519_PROGRAM = 'Ed25519SigVerify111111111111111111111111111'
export const SECP256K1_PROGRAM = 'KeccakSecp256k11111111111111111111111111111'
export const SECP256R1_PROGRAM = 'Secp256r1SigVerify1111111111111111111111111'
export const LOADERS = [
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
] as const
/** Mint of wrapped SOL, in both token programs' accounts. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
export const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111'
/** Account of the chain's clock; read together with others, it is of the same slot. */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111'
export const SLOT_HASHES_SYSVAR = 'SysvarS1otHashes111111111111111111111111111'

/** Owners of the accounts a fresh runtime comes with. */
export const BUILT_IN_OWNERS = [
  SYSTEM_PROGRAM,
  NATIVE_LOADER,
  ...LOADERS,
  SYSVAR_OWNER,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  'Feature111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
] as const

/** Owners, mints and programs come again and again; what is kept here also shares their strings. */
const KEPT = 8_192
const texts = new Map<string, string>()
const bytesByText = new Map<string, Uint8Array>()

/** Base58 of 32 bytes. */
export function addressOf(bytes: Uint8Array): string {
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const known = texts.get(key)
  if (known !== undefined) return known
  if (texts.size >= KEPT) texts.clear()
  const text = base58.encode(bytes)
  texts.set(key, text)
  return text
}

/** The 32 bytes of an address; not to be written to. Throws an Error that names it. */
export function addressBytes(address: string): Uint8Array {
  const known = bytesByText.get(address)
  if (known !== undefined) return known
  const bytes = decodeAddress(address)
  if (bytesByText.size >= KEPT) bytesByText.clear()
  bytesByText.set(address, bytes)
  return bytes
}

function decodeAddress(address: string): Uint8Array {
  let bytes: Uint8Array
  try {
    bytes = base58.decode(address)
  } catch {
    throw new Error(`"${address}" is not an address: it is not base58`)
  }
  if (bytes.length !== 32) throw new Error(`"${address}" is not an address: it has ${bytes.length} bytes instead of 32`)
  return bytes
}
