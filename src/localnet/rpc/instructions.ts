/** Encodes instructions in jsonParsed form as validators show them; unknown ones are partially decoded. */
import { type DecodedInstruction, decodeInstruction } from '../../solana/instructions.ts'
import { encodeBase58 } from '../../solana/long-base58.ts'
import { AUTHORITY_TYPE_NAMES, type TokenInstruction } from '../../solana/programs/token.ts'
import { uiTokenAmount } from './account-encoding.ts'
import { extensionName } from './token-extensions.ts'

type Info = Record<string, unknown>
type Authorized = Pick<Extract<TokenInstruction, { type: 'transfer' }>, 'authority' | 'signers'>

/**
 * Program names in instructions; a validator uses the same one for both token programs, although it distinguishes their
 * accounts.
 */
const PROGRAM_DISPLAY_NAMES = {
  system: 'system',
  token: 'spl-token',
  'associated-token': 'spl-associated-token-account',
  'lookup-table': 'address-lookup-table',
  memo: 'spl-memo',
} as const satisfies Record<DecodedInstruction['program'], string>

interface RawInstruction {
  programIdIndex: number
  accounts: readonly number[] | Uint8Array
  data: Uint8Array
  stackHeight?: number
}

/** Encodes one instruction; `keys` are the message's static and loaded addresses. */
export function parseInstruction(instruction: RawInstruction, keys: readonly string[]): object {
  const { data, stackHeight = 1 } = instruction
  const programId = keys[instruction.programIdIndex] ?? ''
  const accounts = Array.from(instruction.accounts, (index) => keys[index] ?? '')
  const decoded = decodeInstruction(programId, accounts, data)
  if (decoded === null) return { programId, accounts, data: encodeBase58(data), stackHeight }
  return { program: PROGRAM_DISPLAY_NAMES[decoded.program], parsed: parsedInstruction(decoded), programId, stackHeight }
}

function parsedInstruction(decoded: DecodedInstruction): unknown {
  if (decoded.program === 'memo') return decoded.instruction.text
  if (decoded.program === 'token') return { type: decoded.instruction.type, info: tokenInfo(decoded.instruction) }
  const { type, ...info } = decoded.instruction
  return { type, info }
}

/** Omits fields that are null. */
const withoutNulls = (info: Info): Info =>
  Object.fromEntries(Object.entries(info).filter(([, value]) => value !== null))

const checkedInfo = ({ amount, decimals }: { amount: bigint; decimals: number }): Info => ({
  tokenAmount: uiTokenAmount(amount, decimals),
})

/** Kinds of authority that belong to a token account; all others belong to the mint. */
const OF_ACCOUNT = new Set([2, 3])

/** Mint extensions that point to an account with further information about the mint, and its name. */
const POINTERS: Readonly<Record<string, string>> = {
  MetadataPointer: 'metadataAddress',
  GroupPointer: 'groupAddress',
  GroupMemberPointer: 'memberAddress',
}

/** Returns the authority under its name in this instruction, or a multisig with its signers. */
function signedBy({ authority, signers }: Authorized, name = 'authority'): Info {
  const multisig = `multisig${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return signers.length > 0 ? { [multisig]: authority, signers } : { [name]: authority }
}

/** Instructions of the extensions that change what an amount means or whether it can move. */
const EXTENSIONS = [
  'initializeTransferFeeConfig',
  'setTransferFee',
  'withdrawWithheldTokensFromMint',
  'withdrawWithheldTokensFromAccounts',
  'harvestWithheldTokensToMint',
  'initializeDefaultAccountState',
  'updateDefaultAccountState',
  'initializeInterestBearingConfig',
  'updateInterestBearingConfigRate',
  'initializeTransferHook',
  'updateTransferHook',
  'initializeScaledUiAmountConfig',
  'updateMultiplier',
  'initializePausableConfig',
  'pause',
  'resume',
] as const
type ExtensionInstruction = Extract<TokenInstruction, { type: (typeof EXTENSIONS)[number] }>
const isOfExtension = (instruction: TokenInstruction): instruction is ExtensionInstruction =>
  (EXTENSIONS as readonly string[]).includes(instruction.type)

function tokenInfo(instruction: TokenInstruction): Info {
  if (isOfExtension(instruction)) return extensionInfo(instruction)
  switch (instruction.type) {
    case 'transfer': {
      const { source, destination, amount } = instruction
      return { source, destination, amount: String(amount), ...signedBy(instruction) }
    }
    case 'transferChecked': {
      const { source, mint, destination } = instruction
      return { source, mint, destination, ...checkedInfo(instruction), ...signedBy(instruction) }
    }
    case 'approve': {
      const { source, delegate, amount } = instruction
      return { source, delegate, amount: String(amount), ...signedBy(instruction, 'owner') }
    }
    case 'approveChecked': {
      const { source, mint, delegate } = instruction
      return { source, mint, delegate, ...checkedInfo(instruction), ...signedBy(instruction, 'owner') }
    }
    case 'revoke':
      return { source: instruction.source, ...signedBy(instruction, 'owner') }
    case 'setAuthority': {
      const { account, kind, newAuthority } = instruction
      const authorityType = AUTHORITY_TYPE_NAMES[kind] ?? 'unknown'
      const owned = OF_ACCOUNT.has(kind) ? { account } : { mint: account }
      return { ...owned, authorityType, newAuthority, ...signedBy(instruction) }
    }
    case 'mintTo': {
      const { mint, account, amount } = instruction
      return { mint, account, amount: String(amount), ...signedBy(instruction, 'mintAuthority') }
    }
    case 'mintToChecked': {
      const { mint, account } = instruction
      return { mint, account, ...checkedInfo(instruction), ...signedBy(instruction, 'mintAuthority') }
    }
    case 'burn': {
      const { account, mint, amount } = instruction
      return { account, mint, amount: String(amount), ...signedBy(instruction) }
    }
    case 'burnChecked': {
      const { account, mint } = instruction
      return { account, mint, ...checkedInfo(instruction), ...signedBy(instruction) }
    }
    case 'closeAccount': {
      const { account, destination } = instruction
      return { account, destination, ...signedBy(instruction, 'owner') }
    }
    case 'withdrawExcessLamports': {
      const { source, destination } = instruction
      return { source, destination, ...signedBy(instruction) }
    }
    case 'freezeAccount':
    case 'thawAccount': {
      const { account, mint } = instruction
      return { account, mint, ...signedBy(instruction, 'freezeAuthority') }
    }
    default:
      return settingInfo(instruction)
  }
}

/** Info of instructions that set up mints and accounts; only pointer updates among them have an authority. */
function settingInfo(instruction: Exclude<TokenInstruction, { type: Moving } | ExtensionInstruction>): Info {
  const { type, ...info } = instruction
  switch (instruction.type) {
    case 'getAccountDataSize': {
      const names = instruction.extensionTypes.map(extensionName)
      return { mint: instruction.mint, ...(names.length > 0 && { extensionTypes: names }) }
    }
    case 'amountToUiAmount':
      return { mint: instruction.mint, amount: String(instruction.amount) }
    case 'initializeMintCloseAuthority':
      return info
    case 'initializeMetadataPointer':
    case 'initializeGroupPointer':
    case 'initializeGroupMemberPointer': {
      const { mint, authority, pointsTo } = instruction
      return withoutNulls({ mint, authority, [pointerName(type)]: pointsTo })
    }
    case 'updateMetadataPointer':
    case 'updateGroupPointer':
    case 'updateGroupMemberPointer': {
      const { mint, pointsTo } = instruction
      return { ...withoutNulls({ mint, [pointerName(type)]: pointsTo }), ...signedBy(instruction) }
    }
    default:
      return withoutNulls(info)
  }
}

/** Names of authorities in the info of extensions, where they differ from `authority`. */
const EXTENSION_AUTHORITIES: Readonly<Record<string, string>> = {
  setTransferFee: 'transferFeeConfigAuthority',
  withdrawWithheldTokensFromMint: 'withdrawWithheldAuthority',
  withdrawWithheldTokensFromAccounts: 'withdrawWithheldAuthority',
  updateDefaultAccountState: 'freezeAuthority',
  updateInterestBearingConfigRate: 'rateAuthority',
}

/** Info of an extension's instruction. Unlike in others, an authority that is not set is shown as null in some. */
function extensionInfo({ type, ...fields }: ExtensionInstruction): Info {
  switch (type) {
    case 'initializeTransferFeeConfig':
      return withoutNulls(fields)
    case 'initializeTransferHook': {
      const { hookAuthority, ...info } = fields as { hookAuthority: string | null } & Info
      return withoutNulls({ ...info, authority: hookAuthority })
    }
    case 'initializeScaledUiAmountConfig': {
      const { multiplierAuthority: authority, ...info } = fields as Info
      return { ...info, authority }
    }
    case 'initializePausableConfig': {
      const { pauseAuthority: authority, ...info } = fields as Info
      return { ...info, authority }
    }
    default: {
      if (!('authority' in fields)) return fields
      const { authority, signers, ...info } = fields
      return { ...withoutNulls(info), ...signedBy({ authority, signers }, EXTENSION_AUTHORITIES[type]) }
    }
  }
}

const pointerName = (type: string): string => POINTERS[type.replace(/^(initialize|update)/, '')] ?? ''

type Moving =
  | 'transfer'
  | 'transferChecked'
  | 'approve'
  | 'approveChecked'
  | 'revoke'
  | 'setAuthority'
  | 'mintTo'
  | 'mintToChecked'
  | 'burn'
  | 'burnChecked'
  | 'closeAccount'
  | 'withdrawExcessLamports'
  | 'freezeAccount'
  | 'thawAccount'
