/** Authorities of a mint: their number in the instruction SetAuthority, what they are called, and what they can do. */

/**
 * `kind` is the number in SetAuthority, null for the metadata, which has instructions of its own. `can` completes the
 * sentence "its holder can …". `extension` is the part of Token-2022 without which a mint has no such authority.
 */
export const TOKEN_AUTHORITIES = {
  mint: { kind: 0, name: 'mint authority', can: 'mint more of the token' },
  freeze: { kind: 1, name: 'freeze authority', can: 'freeze or thaw accounts' },
  metadata: { kind: null, name: 'metadata authority', can: 'change name, symbol and other metadata' },
  close: { kind: 6, name: 'close authority', can: 'close the mint', extension: 'close authority' },
  transfer_fee_config: {
    kind: 4,
    name: 'transfer fee authority',
    can: 'change the transfer fee',
    extension: 'transfer fee',
  },
  withheld_withdraw: {
    kind: 5,
    name: 'withdraw authority',
    can: 'withdraw the transfer fees',
    extension: 'transfer fee',
  },
  interest_rate: { kind: 7, name: 'rate authority', can: 'change the interest rate', extension: 'interest rate' },
  scaled_amount: { kind: 15, name: 'multiplier authority', can: 'change the multiplier', extension: 'scaled amount' },
  permanent_delegate: {
    kind: 8,
    name: 'permanent delegate',
    can: "move or burn everybody's tokens",
    extension: 'permanent delegate',
  },
  pause: { kind: 16, name: 'pause authority', can: 'pause or resume the token', extension: 'pause' },
  metadata_pointer: {
    kind: 12,
    name: 'metadata pointer authority',
    can: 'change where the metadata is',
    extension: 'metadata pointer',
  },
  transfer_hook: {
    kind: 10,
    name: 'hook authority',
    can: 'change the program that transfers call',
    extension: 'transfer hook',
  },
} as const satisfies Record<string, { kind: number | null; name: string; can: string; extension?: string }>

/** Authorities whose use changes for holders what they have or can do with it. */
export const HOLDER_POWERS = [
  'freeze',
  'pause',
  'transfer_fee_config',
  'interest_rate',
  'scaled_amount',
  'transfer_hook',
  'close',
] as const
export type HolderPower = (typeof HOLDER_POWERS)[number]

export type TokenAuthorityType = keyof typeof TOKEN_AUTHORITIES
/** Those that only extensions of Token-2022 give. */
export type MintExtensionAuthority = Exclude<TokenAuthorityType, 'mint' | 'freeze' | 'metadata'>
