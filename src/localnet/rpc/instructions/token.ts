/** Instructions of both token programs in jsonParsed form (transaction-status's parse_token). */

import type { ByteReader } from '../../../solana/byte-reader.ts'
import { uiTokenAmount } from '../amounts.ts'
import { extensionName } from '../token-extensions.ts'
import type { InstructionParser } from './parsed.ts'

type Info = Record<string, unknown>

interface Accounts {
  at: (index: number) => string
  all: readonly string[]
}

type Parse = (r: ByteReader, accounts: Accounts) => [type: string, info: Info]

const AUTHORITY_TYPES = [
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
/** Authorities of a token account; all others belong to the mint. */
const OF_ACCOUNT = new Set([2, 3])

const amount = (r: ByteReader) => r.u64().toString()
const tokenAmount = (r: ByteReader) => uiTokenAmount(r.u64(), r.u8())

/** COption<Pubkey> of instruction data: one byte, then the key only when set. */
const optionKey = (r: ByteReader): string | null => (r.u8() === 1 ? r.key() : null)

/** The authority at `index`, or a multisig with the signers after it. */
function signedBy({ at, all }: Accounts, index: number, single: string, multisig: string): Info {
  return all.length > index + 1 ? { [multisig]: at(index), signers: all.slice(index + 1) } : { [single]: at(index) }
}

const byOwner = (accounts: Accounts, index: number) => signedBy(accounts, index, 'owner', 'multisigOwner')
const byAuthority = (accounts: Accounts, index: number) => signedBy(accounts, index, 'authority', 'multisigAuthority')
const byMintAuthority = (accounts: Accounts, index: number) =>
  signedBy(accounts, index, 'mintAuthority', 'multisigMintAuthority')
const byFreezeAuthority = (accounts: Accounts, index: number) =>
  signedBy(accounts, index, 'freezeAuthority', 'multisigFreezeAuthority')

function newMint(r: ByteReader, { at }: Accounts, rentSysvar: boolean): Info {
  const decimals = r.u8()
  const mintAuthority = r.key()
  const freezeAuthority = optionKey(r)
  return {
    mint: at(0),
    decimals,
    mintAuthority,
    ...(rentSysvar && { rentSysvar: at(1) }),
    ...(freezeAuthority && { freezeAuthority }),
  }
}

function setAuthority(r: ByteReader, accounts: Accounts): Info {
  const kind = r.u8()
  const owned = OF_ACCOUNT.has(kind) ? 'account' : 'mint'
  return {
    [owned]: accounts.at(0),
    authorityType: AUTHORITY_TYPES[kind] ?? 'unknown',
    newAuthority: optionKey(r),
    ...byAuthority(accounts, 1),
  }
}

function dataSize(r: ByteReader, { at }: Accounts): Info {
  const extensionTypes: string[] = []
  while (r.left >= 2) extensionTypes.push(extensionName(r.u16()))
  return { mint: at(0), ...(extensionTypes.length > 0 && { extensionTypes }) }
}

/** An extension's own instructions: a second tag; only the ones that token creation uses are named. */
const pointer =
  (name: string, key: string): Parse =>
  (r, a) => {
    if (r.u8() === 0) {
      const authority = r.nonZeroKey()
      const address = r.nonZeroKey()
      const info = { mint: a.at(0), ...(authority && { authority }), ...(address && { [key]: address }) }
      return [`initialize${name}`, info]
    }
    const address = r.nonZeroKey()
    return [`update${name}`, { mint: a.at(0), ...(address && { [key]: address }), ...byAuthority(a, 1) }]
  }

const INSTRUCTIONS: Readonly<Record<number, Parse>> = {
  0: (r, a) => ['initializeMint', newMint(r, a, true)],
  1: (_, { at }) => ['initializeAccount', { account: at(0), mint: at(1), owner: at(2), rentSysvar: at(3) }],
  2: (r, { at, all }) => [
    'initializeMultisig',
    { multisig: at(0), rentSysvar: at(1), signers: all.slice(2), m: r.u8() },
  ],
  3: (r, a) => ['transfer', { source: a.at(0), destination: a.at(1), amount: amount(r), ...byAuthority(a, 2) }],
  4: (r, a) => ['approve', { source: a.at(0), delegate: a.at(1), amount: amount(r), ...byOwner(a, 2) }],
  5: (_, a) => ['revoke', { source: a.at(0), ...byOwner(a, 1) }],
  6: (r, a) => ['setAuthority', setAuthority(r, a)],
  7: (r, a) => ['mintTo', { mint: a.at(0), account: a.at(1), amount: amount(r), ...byMintAuthority(a, 2) }],
  8: (r, a) => ['burn', { account: a.at(0), mint: a.at(1), amount: amount(r), ...byAuthority(a, 2) }],
  9: (_, a) => ['closeAccount', { account: a.at(0), destination: a.at(1), ...byOwner(a, 2) }],
  10: (_, a) => ['freezeAccount', { account: a.at(0), mint: a.at(1), ...byFreezeAuthority(a, 2) }],
  11: (_, a) => ['thawAccount', { account: a.at(0), mint: a.at(1), ...byFreezeAuthority(a, 2) }],
  12: (r, a) => [
    'transferChecked',
    { source: a.at(0), mint: a.at(1), destination: a.at(2), tokenAmount: tokenAmount(r), ...byAuthority(a, 3) },
  ],
  13: (r, a) => [
    'approveChecked',
    { source: a.at(0), mint: a.at(1), delegate: a.at(2), tokenAmount: tokenAmount(r), ...byOwner(a, 3) },
  ],
  14: (r, a) => [
    'mintToChecked',
    { mint: a.at(0), account: a.at(1), tokenAmount: tokenAmount(r), ...byMintAuthority(a, 2) },
  ],
  15: (r, a) => ['burnChecked', { account: a.at(0), mint: a.at(1), tokenAmount: tokenAmount(r), ...byAuthority(a, 2) }],
  16: (r, { at }) => ['initializeAccount2', { account: at(0), mint: at(1), owner: r.key(), rentSysvar: at(2) }],
  17: (_, { at }) => ['syncNative', { account: at(0) }],
  18: (r, { at }) => ['initializeAccount3', { account: at(0), mint: at(1), owner: r.key() }],
  19: (r, { at, all }) => ['initializeMultisig2', { multisig: at(0), signers: all.slice(1), m: r.u8() }],
  20: (r, a) => ['initializeMint2', newMint(r, a, false)],
  21: (r, a) => ['getAccountDataSize', dataSize(r, a)],
  22: (_, { at }) => ['initializeImmutableOwner', { account: at(0) }],
  23: (r, { at }) => ['amountToUiAmount', { mint: at(0), amount: amount(r) }],
  24: (r, { at }) => ['uiAmountToAmount', { mint: at(0), uiAmount: r.text(r.left) }],
  25: (r, { at }) => ['initializeMintCloseAuthority', { mint: at(0), newAuthority: optionKey(r) }],
  31: (_, { at }) => ['createNativeMint', { payer: at(0), nativeMint: at(1), systemProgram: at(2) }],
  32: (_, { at }) => ['initializeNonTransferableMint', { mint: at(0) }],
  35: (r, { at }) => ['initializePermanentDelegate', { mint: at(0), delegate: r.key() }],
  39: pointer('MetadataPointer', 'metadataAddress'),
  40: pointer('GroupPointer', 'groupAddress'),
  41: pointer('GroupMemberPointer', 'memberAddress'),
}

export const parseToken: InstructionParser = (reader, at, all) => {
  const parse = INSTRUCTIONS[reader.u8()]
  if (!parse) return null
  const [type, info] = parse(reader, { at, all })
  return { type, info }
}
