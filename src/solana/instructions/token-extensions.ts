/** Instructions of Token-2022's mint extensions: how an extension begins, and how its authority changes it later. */
import type { ByteReader } from '../byte-reader.ts'
import { type AccountAt, type Authorized, by, optionKey } from './token-decoding.ts'

/** Fields have the names that validators show; `authority` is the one that the instruction needs. */
export type TokenExtensionInstruction =
  | {
      type: 'initializeTransferFeeConfig'
      mint: string
      transferFeeConfigAuthority: string | null
      withdrawWithheldAuthority: string | null
      transferFeeBasisPoints: number
      maximumFee: bigint
    }
  | ({ type: 'setTransferFee'; mint: string; transferFeeBasisPoints: number; maximumFee: bigint } & Authorized)
  | ({ type: 'withdrawWithheldTokensFromMint'; mint: string; feeRecipient: string } & Authorized)
  | ({
      type: 'withdrawWithheldTokensFromAccounts'
      mint: string
      feeRecipient: string
      sourceAccounts: readonly string[]
    } & Authorized)
  | { type: 'harvestWithheldTokensToMint'; mint: string; sourceAccounts: readonly string[] }
  | { type: 'initializeDefaultAccountState'; mint: string; accountState: string }
  | ({ type: 'updateDefaultAccountState'; mint: string; accountState: string } & Authorized)
  | { type: 'initializeInterestBearingConfig'; mint: string; rateAuthority: string | null; rate: number }
  | ({ type: 'updateInterestBearingConfigRate'; mint: string; newRate: number } & Authorized)
  | { type: 'initializeTransferHook'; mint: string; hookAuthority: string | null; programId: string | null }
  | ({ type: 'updateTransferHook'; mint: string; programId: string | null } & Authorized)
  /** Multipliers are decimal text. */
  | { type: 'initializeScaledUiAmountConfig'; mint: string; multiplierAuthority: string | null; multiplier: string }
  | ({ type: 'updateMultiplier'; mint: string; newMultiplier: string; newMultiplierTimestamp: bigint } & Authorized)
  | { type: 'initializePausableConfig'; mint: string; pauseAuthority: string }
  | ({ type: 'pause' | 'resume'; mint: string } & Authorized)

const TYPES = new Set<string>([
  ...['initializeTransferFeeConfig', 'setTransferFee'],
  ...['withdrawWithheldTokensFromMint', 'withdrawWithheldTokensFromAccounts', 'harvestWithheldTokensToMint'],
  ...['initializeDefaultAccountState', 'updateDefaultAccountState'],
  ...['initializeInterestBearingConfig', 'updateInterestBearingConfigRate'],
  ...['initializeTransferHook', 'updateTransferHook'],
  ...['initializeScaledUiAmountConfig', 'updateMultiplier'],
  ...['initializePausableConfig', 'pause', 'resume'],
])

export const isOfExtension = <T extends { type: string }>(
  instruction: T | TokenExtensionInstruction,
): instruction is TokenExtensionInstruction => TYPES.has(instruction.type)

type ExtensionDecoder = (r: ByteReader, accounts: AccountAt) => TokenExtensionInstruction | null

const STATES = ['uninitialized', 'initialized', 'frozen'] as const

function transferFee(r: ByteReader, a: AccountAt): TokenExtensionInstruction | null {
  const mint = a.at(0)
  switch (r.u8()) {
    case 0:
      return {
        type: 'initializeTransferFeeConfig',
        mint,
        transferFeeConfigAuthority: optionKey(r),
        withdrawWithheldAuthority: optionKey(r),
        transferFeeBasisPoints: r.u16(),
        maximumFee: r.u64(),
      }
    case 2:
      return { type: 'withdrawWithheldTokensFromMint', mint, feeRecipient: a.at(1), ...by(a, 2) }
    case 3: {
      const first = a.all.length - r.u8()
      if (first < 3) return null
      const sourceAccounts = a.all.slice(first)
      return {
        type: 'withdrawWithheldTokensFromAccounts',
        mint,
        feeRecipient: a.at(1),
        sourceAccounts,
        ...by(a, 2, first),
      }
    }
    case 4:
      return { type: 'harvestWithheldTokensToMint', mint, sourceAccounts: a.all.slice(1) }
    case 5:
      return { type: 'setTransferFee', mint, transferFeeBasisPoints: r.u16(), maximumFee: r.u64(), ...by(a, 1) }
    default:
      return null
  }
}

function defaultState(r: ByteReader, a: AccountAt): TokenExtensionInstruction | null {
  const [kind, accountState] = [r.u8(), STATES[r.u8()]]
  if (accountState === undefined || kind > 1) return null
  if (kind === 0) return { type: 'initializeDefaultAccountState', mint: a.at(0), accountState }
  return { type: 'updateDefaultAccountState', mint: a.at(0), accountState, ...by(a, 1) }
}

function interest(r: ByteReader, a: AccountAt): TokenExtensionInstruction | null {
  const [kind, mint] = [r.u8(), a.at(0)]
  if (kind === 0) return { type: 'initializeInterestBearingConfig', mint, rateAuthority: r.nonZeroKey(), rate: r.i16() }
  return kind === 1 ? { type: 'updateInterestBearingConfigRate', mint, newRate: r.i16(), ...by(a, 1) } : null
}

function transferHook(r: ByteReader, a: AccountAt): TokenExtensionInstruction | null {
  const [kind, mint] = [r.u8(), a.at(0)]
  if (kind === 0)
    return { type: 'initializeTransferHook', mint, hookAuthority: r.nonZeroKey(), programId: r.nonZeroKey() }
  return kind === 1 ? { type: 'updateTransferHook', mint, programId: r.nonZeroKey(), ...by(a, 1) } : null
}

function scaledAmount(r: ByteReader, a: AccountAt): TokenExtensionInstruction | null {
  const [kind, mint] = [r.u8(), a.at(0)]
  if (kind === 0) {
    const multiplierAuthority = r.nonZeroKey()
    return { type: 'initializeScaledUiAmountConfig', mint, multiplierAuthority, multiplier: String(r.f64()) }
  }
  if (kind !== 1) return null
  const newMultiplier = String(r.f64())
  return { type: 'updateMultiplier', mint, newMultiplier, newMultiplierTimestamp: r.i64(), ...by(a, 1) }
}

function pausable(r: ByteReader, a: AccountAt): TokenExtensionInstruction | null {
  const [kind, mint] = [r.u8(), a.at(0)]
  if (kind === 0) return { type: 'initializePausableConfig', mint, pauseAuthority: r.key() }
  if (kind > 2) return null
  return { type: kind === 1 ? 'pause' : 'resume', mint, ...by(a, 1) }
}

/** By the instruction's first byte; the second one says which instruction of the extension it is. */
export const TOKEN_EXTENSION_DECODERS: Readonly<Record<number, ExtensionDecoder>> = {
  26: transferFee,
  28: defaultState,
  33: interest,
  36: transferHook,
  43: scaledAmount,
  44: pausable,
}
