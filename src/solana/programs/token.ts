/**
 * Both token programs (spl-token-interface, spl-token-2022-interface); accounts and fields have the names that validators
 * show.
 */
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../program-ids.ts'
import { type FlatCall, programTable } from './table.ts'

/** The authority, or a multisig account and those of its members that sign in its place. */
const BY = 'authority:s signers:s*'
const CHECKED = 'amount:u64 decimals:u8'
const NEW_MINT = 'decimals:u8 mintAuthority:pubkey freezeAuthority:?pubkey'
const STATES = 'uninitialized,initialized,frozen'
const STATE = `accountState:<${STATES}>` as const
const KINDS = 'uninitialized,mint,account'
const NEW_POINTER = 'authority:pubkey_or_zeros pointsTo:pubkey_or_zeros'
const POINTER = 'pointsTo:pubkey_or_zeros'
const FEE = 'transferFeeBasisPoints:u16 maximumFee:u64'

const ROWS = {
  instructions: {
    initializeMint: ['00', 'mint:w rentSysvar', NEW_MINT],
    initializeAccount: ['01', 'account:w mint owner rentSysvar', ''],
    initializeMultisig: ['02', 'multisig:w rentSysvar signers:*', 'm:u8'],
    transfer: ['03', `source:w destination:w ${BY}`, 'amount:u64'],
    approve: ['04', `source:w delegate ${BY}`, 'amount:u64'],
    revoke: ['05', `source:w ${BY}`, ''],
    /** The account is a mint or a token account, depending on the kind of authority (`AUTHORITY_TYPE_NAMES`). */
    setAuthority: ['06', `account:w ${BY}`, 'kind:u8 newAuthority:?pubkey'],
    mintTo: ['07', `mint:w account:w ${BY}`, 'amount:u64'],
    burn: ['08', `account:w mint:w ${BY}`, 'amount:u64'],
    closeAccount: ['09', `account:w destination:w ${BY}`, ''],
    freezeAccount: ['0a', `account:w mint ${BY}`, ''],
    thawAccount: ['0b', `account:w mint ${BY}`, ''],
    transferChecked: ['0c', `source:w mint destination:w ${BY}`, CHECKED],
    approveChecked: ['0d', `source:w mint delegate ${BY}`, CHECKED],
    mintToChecked: ['0e', `mint:w account:w ${BY}`, CHECKED],
    burnChecked: ['0f', `account:w mint:w ${BY}`, CHECKED],
    initializeAccount2: ['10', 'account:w mint rentSysvar', 'owner:pubkey'],
    syncNative: ['11', 'account:w', ''],
    initializeAccount3: ['12', 'account:w mint', 'owner:pubkey'],
    initializeMultisig2: ['13', 'multisig:w signers:*', 'm:u8'],
    initializeMint2: ['14', 'mint:w', NEW_MINT],
    getAccountDataSize: ['15', 'mint', 'extensionTypes:**u16'],
    initializeImmutableOwner: ['16', 'account:w', ''],
    amountToUiAmount: ['17', 'mint', 'amount:u64'],
    uiAmountToAmount: ['18', 'mint', 'uiAmount:text'],
    initializeMintCloseAuthority: ['19', 'mint:w', 'newAuthority:?pubkey'],
    initializeTransferFeeConfig: [
      '1a00',
      'mint:w',
      `transferFeeConfigAuthority:?pubkey withdrawWithheldAuthority:?pubkey ${FEE}`,
    ],
    withdrawWithheldTokensFromMint: ['1a02', `mint:w feeRecipient:w ${BY}`, ''],
    withdrawWithheldTokensFromAccounts: [
      '1a03',
      `mint:w feeRecipient:w ${BY} sourceAccounts:w*numTokenAccounts`,
      'numTokenAccounts:u8',
    ],
    harvestWithheldTokensToMint: ['1a04', 'mint:w sourceAccounts:w*', ''],
    setTransferFee: ['1a05', `mint:w ${BY}`, FEE],
    initializeDefaultAccountState: ['1c00', 'mint:w', STATE],
    updateDefaultAccountState: ['1c01', `mint:w ${BY}`, STATE],
    createNativeMint: ['1f', 'payer:sw nativeMint:w systemProgram', ''],
    initializeNonTransferableMint: ['20', 'mint:w', ''],
    initializeInterestBearingConfig: ['2100', 'mint:w', 'rateAuthority:pubkey_or_zeros rate:i16'],
    updateInterestBearingConfigRate: ['2101', `mint:w ${BY}`, 'newRate:i16'],
    initializePermanentDelegate: ['23', 'mint:w', 'delegate:pubkey'],
    initializeTransferHook: ['2400', 'mint:w', 'hookAuthority:pubkey_or_zeros programId:pubkey_or_zeros'],
    updateTransferHook: ['2401', `mint:w ${BY}`, 'programId:pubkey_or_zeros'],
    /** Takes what a token account, mint or multisig holds beyond its rent minimum. */
    withdrawExcessLamports: ['26', `source:w destination:w ${BY}`, ''],
    initializeMetadataPointer: ['2700', 'mint:w', NEW_POINTER],
    updateMetadataPointer: ['2701', `mint:w ${BY}`, POINTER],
    initializeGroupPointer: ['2800', 'mint:w', NEW_POINTER],
    updateGroupPointer: ['2801', `mint:w ${BY}`, POINTER],
    initializeGroupMemberPointer: ['2900', 'mint:w', NEW_POINTER],
    updateGroupMemberPointer: ['2901', `mint:w ${BY}`, POINTER],
    initializeScaledUiAmountConfig: ['2b00', 'mint:w', 'multiplierAuthority:pubkey_or_zeros multiplier:f64'],
    updateMultiplier: ['2b01', `mint:w ${BY}`, 'newMultiplier:f64 newMultiplierTimestamp:i64'],
    initializePausableConfig: ['2c00', 'mint:w', 'pauseAuthority:pubkey'],
    pause: ['2c01', `mint:w ${BY}`, ''],
    resume: ['2c02', `mint:w ${BY}`, ''],
  },
  accounts: {
    mint: ['', 'mintAuthority:??pubkey supply:u64 decimals:u8 isInitialized:bool freezeAuthority:??pubkey'],
    account: [
      '',
      `mint:pubkey owner:pubkey amount:u64 delegate:??pubkey state:<${STATES}> nativeReserve:??u64 delegatedAmount:u64 closeAuthority:??pubkey`,
    ],
    multisig: ['', 'numRequiredSigners:u8 numValidSigners:u8 isInitialized:bool signers:hex352'],
    /** A Token-2022 mint or account with extensions: its layout, padded to that of an account, precedes its kind. */
    extended: ['', `base:hex165 kind:<${KINDS}>`],
  },
} as const

export const TOKEN = programTable(TOKEN_PROGRAM, ROWS)
export const TOKEN_2022 = programTable(TOKEN_2022_PROGRAM, ROWS)

export type TokenInstruction = FlatCall<typeof ROWS.instructions>

/** States of a token account, and kinds of a Token-2022 account with extensions, by their numbers. */
export const TOKEN_ACCOUNT_STATES: readonly string[] = STATES.split(',')
export const EXTENDED_KINDS: readonly string[] = KINDS.split(',')

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
