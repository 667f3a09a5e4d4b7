/** Reads the extensions of Token-2022 mints and accounts that change what an amount means or whether it can move. */
import { ByteReader, ShortData } from './byte-reader.ts'
import { TOKEN_ACCOUNT_STATES } from './programs/token.ts'
import { EXTENSIONS_OFFSET } from './token-accounts.ts'
import type { HolderPower } from './token-authorities.ts'

/** Numbers of the extensions (spl-token-2022-interface, `ExtensionType`). */
const TYPE = {
  transferFeeConfig: 1,
  transferFeeAmount: 2,
  mintCloseAuthority: 3,
  confidentialTransferMint: 4,
  confidentialTransferAccount: 5,
  defaultAccountState: 6,
  memoTransfer: 8,
  nonTransferable: 9,
  interestBearing: 10,
  permanentDelegate: 12,
  transferHook: 14,
  confidentialTransferFee: 16,
  confidentialTransferFeeAmount: 17,
  confidentialMintBurn: 24,
  metadataPointer: 18,
  groupPointer: 20,
  tokenGroup: 21,
  groupMemberPointer: 22,
  tokenGroupMember: 23,
  tokenMetadata: 19,
  scaledUiAmount: 25,
  pausable: 26,
  permissionedBurn: 28,
} as const

/** Authorities of a mint's extensions: the extension of each, and the place of its address in the extension's data. */
const AUTHORITIES = {
  transfer_fee_config: [TYPE.transferFeeConfig, 0],
  withheld_withdraw: [TYPE.transferFeeConfig, 32],
  close: [TYPE.mintCloseAuthority, 0],
  interest_rate: [TYPE.interestBearing, 0],
  permanent_delegate: [TYPE.permanentDelegate, 0],
  transfer_hook: [TYPE.transferHook, 0],
  metadata_pointer: [TYPE.metadataPointer, 0],
  scaled_amount: [TYPE.scaledUiAmount, 0],
  pause: [TYPE.pausable, 0],
  confidential_transfer: [TYPE.confidentialTransferMint, 0],
  confidential_transfer_fee: [TYPE.confidentialTransferFee, 0],
  group_pointer: [TYPE.groupPointer, 0],
  group: [TYPE.tokenGroup, 0],
  group_member_pointer: [TYPE.groupMemberPointer, 0],
  permissioned_burn: [TYPE.permissionedBurn, 0],
} as const satisfies Readonly<Record<string, readonly [type: number, at: number]>>
type ExtensionAuthority = keyof typeof AUTHORITIES

/** Bytes that an extension of a mint adds to each new token account, its type and length included. */
const ACCOUNT_BYTES: ReadonlyMap<number, number> = new Map([
  [TYPE.transferFeeConfig, 12],
  [TYPE.nonTransferable, 4],
  [TYPE.transferHook, 5],
  [TYPE.confidentialTransferFee, 68],
  [TYPE.pausable, 4],
])
/** Bytes of a Token-2022 account whose owner cannot change, such as an associated one. */
const IMMUTABLE_ACCOUNT_BYTES = 170

/** Share of each transfer that stays in the receiving account for the mint's withdraw authority. */
export interface TransferFee {
  epoch: bigint
  /** Hundredths of a percent, rounded up to whole raw units. */
  basisPoints: number
  /** Most raw units of one transfer. */
  maximumFee: bigint
}

export interface MintExtensions {
  /** Numbers of all extensions, in the order of the mint. */
  types: readonly number[]
  /** The fee from the epoch of `newer` on, and the one before it. */
  transferFee: { older: TransferFee; newer: TransferFee } | null
  /** Raw units of transfer fees that were harvested to the mint; the supply includes them. */
  withheldInMint: bigint
  /** Holder of each authority that the mint's extensions have; null if it was given up. */
  authorities: Readonly<Partial<Record<ExtensionAuthority, string | null>>>
  /** Program that every transfer calls. */
  transferHook: string | null
  /** Address that can move and burn the tokens of everybody. */
  permanentDelegate: string | null
  /** Whether new token accounts are frozen until they are thawed. */
  isFrozenByDefault: boolean
  /** Whether the freeze authority can change `isFrozenByDefault`. */
  hasDefaultState: boolean
  isTransferable: boolean
  /** Whether minting, burning and transfers are paused now. Null for a mint that cannot be paused. */
  isPaused: boolean | null
  /** Hundredths of a percent a year by which wallets show more than the raw amount. */
  interestBasisPoints: number | null
  /**
   * Factor by which wallets multiply the raw amount for display: the present one, and the Unix time of the next one.
   */
  uiMultiplier: { before: number; effectiveAt: bigint; after: number } | null
  /** Bytes of a new associated token account. */
  accountBytes: number
}

/** Returns the extensions of a mint's data. Truncated or absent ones count as not set, as in the program. */
export function readMintExtensions(data: Uint8Array): MintExtensions {
  const parts = extensionsIn(data)
  const read = <T>(type: number, decode: (reader: ByteReader) => T): T | null => {
    const part = parts.get(type)
    return part === undefined ? null : unlessShort(() => decode(new ByteReader(part)))
  }
  return {
    types: [...parts.keys()],
    transferFee: read(TYPE.transferFeeConfig, (reader) => {
      // Two authorities, and the fees withheld in the mint itself, precede the fees.
      reader.take(32 + 32 + 8)
      return { older: transferFee(reader), newer: transferFee(reader) }
    }),
    withheldInMint: withheldInMint(data),
    authorities: authoritiesIn(parts),
    transferHook: read(TYPE.transferHook, (reader) => {
      reader.take(32)
      return reader.nonZeroKey()
    }),
    permanentDelegate: read(TYPE.permanentDelegate, (reader) => reader.nonZeroKey()),
    isFrozenByDefault:
      read(TYPE.defaultAccountState, (reader) => reader.u8()) === TOKEN_ACCOUNT_STATES.indexOf('frozen'),
    hasDefaultState: parts.has(TYPE.defaultAccountState),
    isTransferable: !parts.has(TYPE.nonTransferable),
    isPaused: read(TYPE.pausable, (reader) => {
      reader.take(32)
      return reader.bool()
    }),
    interestBasisPoints: read(TYPE.interestBearing, (reader) => {
      reader.take(32 + 8 + 2 + 8)
      return reader.i16()
    }),
    uiMultiplier: read(TYPE.scaledUiAmount, (reader) => {
      reader.take(32)
      return { before: reader.f64(), effectiveAt: reader.i64(), after: reader.f64() }
    }),
    accountBytes: [...parts.keys()].reduce(
      (bytes, type) => bytes + (ACCOUNT_BYTES.get(type) ?? 0),
      IMMUTABLE_ACCOUNT_BYTES,
    ),
  }
}

/** Returns the raw units of transfer fees withheld in a token account; its `amount` does not include them. */
export function withheldFee(data: Uint8Array): bigint {
  const part = extensionsIn(data).get(TYPE.transferFeeAmount)
  return part === undefined ? 0n : (unlessShort(() => new ByteReader(part).u64()) ?? 0n)
}

/** Whether a token account accepts transfers only after a memo in the same transaction. */
export function requiresMemo(data: Uint8Array): boolean {
  const part = extensionsIn(data).get(TYPE.memoTransfer)
  return part !== undefined && (unlessShort(() => new ByteReader(part).bool()) ?? false)
}

/** Returns the raw units of transfer fees that were harvested to the mint; its supply includes them. */
export function withheldInMint(data: Uint8Array): bigint {
  const part = extensionsIn(data).get(TYPE.transferFeeConfig)
  if (part === undefined) return 0n
  const reader = new ByteReader(part)
  return (
    unlessShort(() => {
      reader.take(32 + 32)
      return reader.u64()
    }) ?? 0n
  )
}

/** The data of the metadata in a mint; null if it has none. */
export const metadataExtension = (data: Uint8Array): Uint8Array | null =>
  extensionsIn(data).get(TYPE.tokenMetadata) ?? null

/** Who can change the metadata in a mint; null if it has none, or nobody can. */
export function metadataAuthority(data: Uint8Array): string | null {
  const part = metadataExtension(data)
  return part === null ? null : unlessShort(() => new ByteReader(part).nonZeroKey())
}

/** What only holders can read of a mint: nothing, balances, or the supply too. */
export function hiddenAmounts(data: Uint8Array): 'none' | 'balances' | 'supply' {
  const parts = extensionsIn(data)
  if (parts.has(TYPE.confidentialMintBurn)) return 'supply'
  return parts.has(TYPE.confidentialTransferMint) ? 'balances' : 'none'
}

/** Whether a token account can have a confidential balance. */
export const hasHiddenBalance = (data: Uint8Array): boolean => extensionsIn(data).has(TYPE.confidentialTransferAccount)

/** Whether a token account has a balance or withheld fees that only keys can read. */
export function hasHiddenAmounts(data: Uint8Array): boolean {
  const parts = extensionsIn(data)
  return parts.has(TYPE.confidentialTransferAccount) || parts.has(TYPE.confidentialTransferFeeAmount)
}

/** Extensions of a mint that only describe it: where its metadata and its group are, and what they say. */
const DESCRIBING: ReadonlySet<number> = new Set([
  TYPE.metadataPointer,
  TYPE.tokenMetadata,
  TYPE.groupPointer,
  TYPE.tokenGroup,
  TYPE.groupMemberPointer,
  TYPE.tokenGroupMember,
])
/** Place of the harvested fees in the extension of a transfer fee, after its two authorities. */
const WITHHELD_AT = 64
/** The authority with which a setting of an extension is changed. */
const SETTERS: ReadonlyMap<number, HolderPower> = new Map([
  [TYPE.transferFeeConfig, 'transfer_fee_config'],
  [TYPE.interestBearing, 'interest_rate'],
  [TYPE.scaledUiAmount, 'scaled_amount'],
  [TYPE.transferHook, 'transfer_hook'],
  [TYPE.pausable, 'pause'],
  [TYPE.defaultAccountState, 'freeze'],
])

/**
 * Returns the extensions of a mint whose settings differ between two states of its data: the number of each, and the
 * authority that sets it, or null if it is not known. Who holds an authority, harvested fees and what only describes
 * the token do not count.
 */
export function changedSettings(before: Uint8Array, after: Uint8Array): { type: number; power: HolderPower | null }[] {
  const [old, now] = [extensionsIn(before), extensionsIn(after)]
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((type) => !DESCRIBING.has(type) && settingsOf(type, old) !== settingsOf(type, now))
    .map((type) => ({ type, power: SETTERS.get(type) ?? null }))
}

/** The bytes of an extension as text, without its authorities and harvested fees; empty without the extension. */
function settingsOf(type: number, parts: ReadonlyMap<number, Uint8Array>): string {
  const settings = Uint8Array.from(parts.get(type) ?? [])
  for (const [of, at] of Object.values(AUTHORITIES)) {
    if (of === type) settings.fill(0, at, at + 32)
  }
  if (type === TYPE.transferFeeConfig) settings.fill(0, WITHHELD_AT, WITHHELD_AT + 8)
  return settings.join()
}

function authoritiesIn(parts: ReadonlyMap<number, Uint8Array>): MintExtensions['authorities'] {
  const holders: Partial<Record<ExtensionAuthority, string | null>> = {}
  for (const [name, [type, at]] of Object.entries(AUTHORITIES) as [ExtensionAuthority, readonly [number, number]][]) {
    const part = parts.get(type)
    if (part !== undefined) holders[name] = unlessShort(() => new ByteReader(part, at).nonZeroKey())
  }
  return holders
}

function transferFee(reader: ByteReader): TransferFee {
  return { epoch: reader.u64(), maximumFee: reader.u64(), basisPoints: reader.u16() }
}

/** The first extension of each type, up to an empty or truncated entry. */
export function extensionsIn(data: Uint8Array): Map<number, Uint8Array> {
  const parts = new Map<number, Uint8Array>()
  if (data.length <= EXTENSIONS_OFFSET) return parts
  const reader = new ByteReader(data, EXTENSIONS_OFFSET)
  while (reader.left >= 4) {
    const [type, length] = [reader.u16(), reader.u16()]
    if (type === 0 || length > reader.left) break
    const part = reader.take(length)
    if (!parts.has(type)) parts.set(type, part)
  }
  return parts
}

function unlessShort<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}
