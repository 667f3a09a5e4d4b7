/** Instructions of both token programs (spl-token-interface); accounts and fields have the names that validators show. */
import type { ByteReader } from '../byte-reader.ts'
import type { InstructionDecoder } from './decoder.ts'
import { type AccountAt, type Authorized, by, optionKey } from './token-decoding.ts'
import { TOKEN_EXTENSION_DECODERS, type TokenExtensionInstruction } from './token-extensions.ts'

/** Amounts are raw units, unsigned 64-bit integers. */
export type TokenInstruction =
  | {
      type: 'initializeMint' | 'initializeMint2'
      mint: string
      decimals: number
      mintAuthority: string
      /** Null for `initializeMint2`, which reads the rent itself. */
      rentSysvar: string | null
      freezeAuthority: string | null
    }
  | {
      type: 'initializeAccount' | 'initializeAccount2' | 'initializeAccount3'
      account: string
      mint: string
      owner: string
      rentSysvar: string | null
    }
  | {
      type: 'initializeMultisig' | 'initializeMultisig2'
      multisig: string
      rentSysvar: string | null
      signers: readonly string[]
      m: number
    }
  | ({ type: 'transfer'; source: string; destination: string; amount: bigint } & Authorized)
  | ({
      type: 'transferChecked'
      source: string
      mint: string
      destination: string
      amount: bigint
      decimals: number
    } & Authorized)
  | ({ type: 'approve'; source: string; delegate: string; amount: bigint } & Authorized)
  | ({
      type: 'approveChecked'
      source: string
      mint: string
      delegate: string
      amount: bigint
      decimals: number
    } & Authorized)
  | ({ type: 'revoke'; source: string } & Authorized)
  | ({
      type: 'setAuthority'
      /** A mint or a token account, depending on the kind of authority. */
      account: string
      kind: number
      newAuthority: string | null
    } & Authorized)
  | ({ type: 'mintTo'; mint: string; account: string; amount: bigint } & Authorized)
  | ({ type: 'mintToChecked'; mint: string; account: string; amount: bigint; decimals: number } & Authorized)
  | ({ type: 'burn'; account: string; mint: string; amount: bigint } & Authorized)
  | ({ type: 'burnChecked'; account: string; mint: string; amount: bigint; decimals: number } & Authorized)
  | ({ type: 'closeAccount'; account: string; destination: string } & Authorized)
  /** Takes what a token account, mint or multisig holds beyond its rent minimum. */
  | ({ type: 'withdrawExcessLamports'; source: string; destination: string } & Authorized)
  | ({ type: 'freezeAccount' | 'thawAccount'; account: string; mint: string } & Authorized)
  | { type: 'syncNative' | 'initializeImmutableOwner'; account: string }
  | { type: 'getAccountDataSize'; mint: string; extensionTypes: readonly number[] }
  | { type: 'amountToUiAmount'; mint: string; amount: bigint }
  | { type: 'uiAmountToAmount'; mint: string; uiAmount: string }
  | { type: 'initializeMintCloseAuthority'; mint: string; newAuthority: string | null }
  | { type: 'createNativeMint'; payer: string; nativeMint: string; systemProgram: string }
  | { type: 'initializeNonTransferableMint'; mint: string }
  | { type: 'initializePermanentDelegate'; mint: string; delegate: string }
  | { type: `initialize${Pointer}`; mint: string; pointsTo: string | null; authority: string | null }
  | ({ type: `update${Pointer}`; mint: string; pointsTo: string | null } & Authorized)
  | TokenExtensionInstruction

/** Names of the kinds of authority, as validators show them, by their number in `setAuthority`. */
export const AUTHORITY_TYPE_NAMES = [
  'mintTokens',
  'freezeAccount',
  'accountOwner',
  'closeAccount',
  'transferFeeConfig',
  'withheldWithdraw',
  'closeMint',
  'interestRate',
  'permanentDelegate',
  'confidentialTransferMint',
  'transferHookProgramId',
  'confidentialTransferFeeConfig',
  'metadataPointer',
  'groupPointer',
  'groupMemberPointer',
  'scaledUiAmount',
  'pause',
]

/** Mint extensions that point to an account with further information about the mint. */
export type Pointer = 'MetadataPointer' | 'GroupPointer' | 'GroupMemberPointer'

type TokenDecoder = (r: ByteReader, accounts: AccountAt) => TokenInstruction | null

const newMint =
  (type: 'initializeMint' | 'initializeMint2'): TokenDecoder =>
  (r, { at }) => {
    const decimals = r.u8()
    const mintAuthority = r.key()
    const freezeAuthority = optionKey(r)
    const rentSysvar = type === 'initializeMint' ? at(1) : null
    return { type, mint: at(0), decimals, mintAuthority, rentSysvar, freezeAuthority }
  }

function dataSize(r: ByteReader, { at }: AccountAt): TokenInstruction {
  const extensionTypes: number[] = []
  while (r.left >= 2) extensionTypes.push(r.u16())
  return { type: 'getAccountDataSize', mint: at(0), extensionTypes }
}

/** Instructions of an extension have a second tag. */
const pointer =
  (name: Pointer): TokenDecoder =>
  (r, a) => {
    if (r.u8() === 0) {
      const authority = r.nonZeroKey()
      return { type: `initialize${name}`, mint: a.at(0), authority, pointsTo: r.nonZeroKey() }
    }
    return { type: `update${name}`, mint: a.at(0), pointsTo: r.nonZeroKey(), ...by(a, 1) }
  }

const TOKEN_DECODERS: Readonly<Record<number, TokenDecoder>> = {
  0: newMint('initializeMint'),
  1: (_, { at }) => ({ type: 'initializeAccount', account: at(0), mint: at(1), owner: at(2), rentSysvar: at(3) }),
  2: (r, { at, all }) => ({
    type: 'initializeMultisig',
    multisig: at(0),
    rentSysvar: at(1),
    signers: all.slice(2),
    m: r.u8(),
  }),
  3: (r, a) => ({ type: 'transfer', source: a.at(0), destination: a.at(1), amount: r.u64(), ...by(a, 2) }),
  4: (r, a) => ({ type: 'approve', source: a.at(0), delegate: a.at(1), amount: r.u64(), ...by(a, 2) }),
  5: (_, a) => ({ type: 'revoke', source: a.at(0), ...by(a, 1) }),
  6: (r, a) => ({ type: 'setAuthority', account: a.at(0), kind: r.u8(), newAuthority: optionKey(r), ...by(a, 1) }),
  7: (r, a) => ({ type: 'mintTo', mint: a.at(0), account: a.at(1), amount: r.u64(), ...by(a, 2) }),
  8: (r, a) => ({ type: 'burn', account: a.at(0), mint: a.at(1), amount: r.u64(), ...by(a, 2) }),
  9: (_, a) => ({ type: 'closeAccount', account: a.at(0), destination: a.at(1), ...by(a, 2) }),
  10: (_, a) => ({ type: 'freezeAccount', account: a.at(0), mint: a.at(1), ...by(a, 2) }),
  11: (_, a) => ({ type: 'thawAccount', account: a.at(0), mint: a.at(1), ...by(a, 2) }),
  12: (r, a) => ({
    type: 'transferChecked',
    source: a.at(0),
    mint: a.at(1),
    destination: a.at(2),
    amount: r.u64(),
    decimals: r.u8(),
    ...by(a, 3),
  }),
  13: (r, a) => ({
    type: 'approveChecked',
    source: a.at(0),
    mint: a.at(1),
    delegate: a.at(2),
    amount: r.u64(),
    decimals: r.u8(),
    ...by(a, 3),
  }),
  14: (r, a) => ({
    type: 'mintToChecked',
    mint: a.at(0),
    account: a.at(1),
    amount: r.u64(),
    decimals: r.u8(),
    ...by(a, 2),
  }),
  15: (r, a) => ({
    type: 'burnChecked',
    account: a.at(0),
    mint: a.at(1),
    amount: r.u64(),
    decimals: r.u8(),
    ...by(a, 2),
  }),
  16: (r, { at }) => ({ type: 'initializeAccount2', account: at(0), mint: at(1), owner: r.key(), rentSysvar: at(2) }),
  17: (_, { at }) => ({ type: 'syncNative', account: at(0) }),
  18: (r, { at }) => ({ type: 'initializeAccount3', account: at(0), mint: at(1), owner: r.key(), rentSysvar: null }),
  19: (r, { at, all }) => ({
    type: 'initializeMultisig2',
    multisig: at(0),
    rentSysvar: null,
    signers: all.slice(1),
    m: r.u8(),
  }),
  20: newMint('initializeMint2'),
  21: dataSize,
  22: (_, { at }) => ({ type: 'initializeImmutableOwner', account: at(0) }),
  23: (r, { at }) => ({ type: 'amountToUiAmount', mint: at(0), amount: r.u64() }),
  24: (r, { at }) => ({ type: 'uiAmountToAmount', mint: at(0), uiAmount: r.text(r.left) }),
  25: (r, { at }) => ({ type: 'initializeMintCloseAuthority', mint: at(0), newAuthority: optionKey(r) }),
  31: (_, { at }) => ({ type: 'createNativeMint', payer: at(0), nativeMint: at(1), systemProgram: at(2) }),
  32: (_, { at }) => ({ type: 'initializeNonTransferableMint', mint: at(0) }),
  35: (r, { at }) => ({ type: 'initializePermanentDelegate', mint: at(0), delegate: r.key() }),
  38: (_, a) => ({ type: 'withdrawExcessLamports', source: a.at(0), destination: a.at(1), ...by(a, 2) }),
  39: pointer('MetadataPointer'),
  40: pointer('GroupPointer'),
  41: pointer('GroupMemberPointer'),
  ...TOKEN_EXTENSION_DECODERS,
}

export const decodeTokenInstruction: InstructionDecoder<TokenInstruction> = (reader, at, all) =>
  TOKEN_DECODERS[reader.u8()]?.(reader, { at, all }) ?? null
