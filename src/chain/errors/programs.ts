/** Lists the programs whose errors svc can name, with their tables and hints for common errors. */
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../solana/program-ids.ts'
import { CLUSTER_PROGRAM_NAMES, DBC_POOL_AUTHORITY, PROGRAMS } from '../../solana/programs.ts'
import { ANCHOR_CODES } from './generated/anchor.ts'
import { CORE_CODES } from './generated/core.ts'
import { DAMM_V2_CODES } from './generated/damm-v2.ts'
import { DBC_CODES } from './generated/dbc.ts'
import { PRESALE_CODES } from './generated/presale.ts'
import { SQUADS_CODES } from './generated/squads.ts'
import { LENDER_HINT, LIGHTHOUSE_CODES } from './lighthouse.ts'
import { TOKEN_METADATA_CODES } from './token-metadata-codes.ts'
import type { ErrorTable } from './types.ts'

// Error codes of the System, SPL Token, Token-2022 and Associated Token Account programs; rows are only ever added.

const SYSTEM_CODES: ErrorTable = {
  0: ['AccountAlreadyInUse', 'an account with the same address already exists'],
  1: ['ResultWithNegativeLamports', 'account does not have enough SOL to perform the operation'],
  2: ['InvalidProgramId', 'cannot assign account to this program id'],
  3: ['InvalidAccountDataLength', 'cannot allocate account data of this length'],
  4: ['MaxSeedLengthExceeded', 'length of requested seed is too long'],
  5: ['AddressWithSeedMismatch', 'provided address does not match addressed derived from seed'],
  6: ['NonceNoRecentBlockhashes', 'advancing stored nonce requires a populated RecentBlockhashes sysvar'],
  7: ['NonceBlockhashNotExpired', 'stored nonce is still in recent_blockhashes'],
  8: ['NonceUnexpectedBlockhashValue', 'specified nonce does not match stored nonce'],
}

const TOKEN_CODES: ErrorTable = {
  0: ['NotRentExempt', 'Lamport balance below rent-exempt threshold'],
  1: ['InsufficientFunds', 'Insufficient funds'],
  2: ['InvalidMint', 'Invalid Mint'],
  3: ['MintMismatch', 'Account not associated with this Mint'],
  4: ['OwnerMismatch', 'Owner does not match'],
  5: ['FixedSupply', 'Fixed supply'],
  6: ['AlreadyInUse', 'Already in use'],
  7: ['InvalidNumberOfProvidedSigners', 'Invalid number of provided signers'],
  8: ['InvalidNumberOfRequiredSigners', 'Invalid number of required signers'],
  9: ['UninitializedState', 'State is uninitialized'],
  10: ['NativeNotSupported', 'Instruction does not support native tokens'],
  11: ['NonNativeHasBalance', 'Non-native account can only be closed if its balance is zero'],
  12: ['InvalidInstruction', 'Invalid instruction'],
  13: ['InvalidState', 'State is invalid for requested operation'],
  14: ['Overflow', 'Operation overflowed'],
  15: ['AuthorityTypeNotSupported', 'Account does not support specified authority type'],
  16: ['MintCannotFreeze', 'This token mint cannot freeze accounts'],
  17: ['AccountFrozen', 'Account is frozen'],
  18: ['MintDecimalsMismatch', 'The provided decimals value different from the Mint decimals'],
  19: ['NonNativeNotSupported', 'Instruction does not support non-native tokens'],
}

/** Codes that Token-2022 has beyond those shared with SPL Token. */
const TOKEN_2022_ADDED_CODES: ErrorTable = {
  20: ['ExtensionTypeMismatch', 'Extension type does not match already existing extensions'],
  21: ['ExtensionBaseMismatch', 'Extension does not match the base type provided'],
  22: ['ExtensionAlreadyInitialized', 'Extension already initialized on this account'],
  23: ['ConfidentialTransferAccountHasBalance', 'An account can only be closed if its confidential balance is zero'],
  24: ['ConfidentialTransferAccountNotApproved', 'Account not approved for confidential transfers'],
  25: ['ConfidentialTransferDepositsAndTransfersDisabled', 'Account not accepting deposits or transfers'],
  26: ['ConfidentialTransferElGamalPubkeyMismatch', 'ElGamal public key mismatch'],
  27: ['ConfidentialTransferBalanceMismatch', 'Balance mismatch'],
  28: ['MintHasSupply', 'Mint has non-zero supply. Burn all tokens before closing the mint'],
  29: ['NoAuthorityExists', 'No authority exists to perform the desired operation'],
  30: ['TransferFeeExceedsMaximum', 'Transfer fee exceeds maximum of 10,000 basis points'],
  31: [
    'MintRequiredForTransfer',
    'Mint required for this account to transfer tokens, use transfer_checked or transfer_checked_with_fee',
  ],
  32: ['FeeMismatch', 'Calculated fee does not match expected fee'],
  33: ['FeeParametersMismatch', 'Fee parameters of the zero-knowledge proofs do not match those of the mint'],
  34: ['ImmutableOwner', 'The owner authority cannot be changed'],
  35: [
    'AccountHasWithheldTransferFees',
    'An account can only be closed if its withheld fee balance is zero, harvest fees to the mint and try again',
  ],
  36: ['NoMemo', 'No memo in previous instruction; required for recipient to receive a transfer'],
  37: ['NonTransferable', 'Transfer is disabled for this mint'],
  38: [
    'NonTransferableNeedsImmutableOwnership',
    "Non-transferable tokens can't be minted to an account without immutable ownership",
  ],
  39: ['MaximumPendingBalanceCreditCounterExceeded', 'Too many deposits and transfers are pending on the account'],
  40: ['MaximumDepositAmountExceeded', 'Deposit amount exceeds maximum limit'],
  41: ['CpiGuardSettingsLocked', 'CPI Guard cannot be enabled or disabled in CPI'],
  42: ['CpiGuardTransferBlocked', 'CPI Guard blocked a transfer by a program without a delegate'],
  43: ['CpiGuardBurnBlocked', 'CPI Guard blocked a burn by a program without a delegate'],
  44: [
    'CpiGuardCloseAccountBlocked',
    'CPI Guard blocked a program from closing the account without returning lamports to its owner',
  ],
  45: ['CpiGuardApproveBlocked', 'CPI Guard blocked a program from approving a delegate'],
  46: ['CpiGuardSetAuthorityBlocked', 'CPI Guard blocked a program from adding or replacing an authority'],
  47: ['CpiGuardOwnerChangeBlocked', 'Account ownership cannot be changed while CPI Guard is enabled'],
  48: ['ExtensionNotFound', 'Extension not found in account data'],
  49: ['NonConfidentialTransfersDisabled', 'Non-confidential transfers disabled'],
  50: [
    'ConfidentialTransferFeeAccountHasWithheldFee',
    'An account can only be closed if the confidential withheld fee is zero',
  ],
  51: ['InvalidExtensionCombination', 'A mint or an account is initialized to an invalid combination of extensions'],
  52: ['InvalidLengthForAlloc', 'Extension allocation with overwrite must use the same length'],
  53: ['AccountDecryption', 'Failed to decrypt a confidential transfer account'],
  54: ['ProofGeneration', 'Failed to generate proof'],
  55: ['InvalidProofInstructionOffset', 'An invalid proof instruction offset was provided'],
  56: ['HarvestToMintDisabled', 'Harvest of withheld tokens to mint is disabled'],
  57: [
    'SplitProofContextStateAccountsNotSupported',
    'Split proof context state accounts not supported for instruction',
  ],
  58: ['NotEnoughProofContextStateAccounts', 'Not enough proof context state accounts provided'],
  59: ['MalformedCiphertext', 'Ciphertext is malformed'],
  60: ['CiphertextArithmeticFailed', 'Ciphertext arithmetic failed'],
  61: ['PedersenCommitmentMismatch', 'Pedersen commitment mismatch'],
  62: ['RangeProofLengthMismatch', 'Range proof length mismatch'],
  63: ['IllegalBitLength', 'Illegal transfer amount bit length'],
  64: ['FeeCalculation', 'Fee calculation failed'],
  65: ['IllegalMintBurnConversion', 'Withdraw / Deposit not allowed for confidential-mint-burn'],
  66: ['InvalidScale', 'Invalid scale for scaled ui amount'],
  67: ['MintPaused', 'Transferring, minting, and burning is paused on this mint'],
  68: ['PendingBalanceNonZero', 'Key rotation attempted while pending balance is not zero'],
}

const ASSOCIATED_TOKEN_CODES: ErrorTable = {
  0: ['InvalidOwner', 'Associated token account owner does not match address derivation'],
}

// Error codes of Jupiter Lock and the Jito merkle distributor, in the order of their binaries; rows are only ever
// added.

const LOCK_CODES: ErrorTable = {
  6000: ['MathOverflow', 'Math operation overflow'],
  6001: ['FrequencyIsZero', 'Frequency is zero'],
  6002: ['InvalidEscrowTokenAddress', 'Invalid escrow token address'],
  6003: ['InvalidUpdateRecipientMode', 'Invalid update recipient mode'],
  6004: ['InvalidCancelMode', 'Invalid cancel mode'],
  6005: ['NotPermitToDoThisAction', 'Not permit to do this action'],
  6006: ['InvalidRecipientTokenAccount', 'Invalid recipient token account'],
  6007: ['InvalidCreatorTokenAccount', 'Invalid creator token account'],
  6008: ['InvalidEscrowMetadata', 'Invalid escrow metadata'],
  6009: ['InvalidVestingStartTime', 'Invalid vesting start time'],
  6010: ['AlreadyCancelled', 'Already cancelled'],
  6011: ['CancelledAtIsZero', 'Cancelled timestamp is zero'],
  6012: ['IncorrectTokenProgramId', 'Invalid token program ID'],
  6013: ['TransferFeeCalculationFailure', 'Calculate transfer fee failure'],
  6014: ['UnsupportedMint', 'Unsupported mint'],
  6015: ['InvalidRemainingAccountSlice', 'Invalid remaining accounts'],
  6016: ['InsufficientRemainingAccounts', 'Insufficient remaining accounts'],
  6017: ['DuplicatedRemainingAccountTypes', 'Same accounts type is provided more than once'],
  6018: ['NoTransferHookProgram', 'Missing remaining accounts for transfer hook.'],
  6019: ['ClaimingIsNotFinished', 'Claiming is not finished'],
}

const DISTRIBUTOR_CODES: ErrorTable = {
  6000: ['InsufficientUnlockedTokens', 'Insufficient unlocked tokens'],
  6001: ['StartTooFarInFuture', 'Deposit Start too far in future'],
  6002: ['InvalidProof', 'Invalid Merkle proof.'],
  6003: ['ExceededMaxClaim', 'Exceeded maximum claim amount'],
  6004: ['MaxNodesExceeded', 'Exceeded maximum node count'],
  6005: ['Unauthorized', 'Account is not authorized to execute this instruction'],
  6006: ['OwnerMismatch', 'Token account owner did not match intended owner'],
  6007: ['ClawbackDuringVesting', 'Clawback cannot be before vesting ends'],
  6008: ['ClawbackBeforeStart', 'Attempted clawback before start'],
  6009: ['ClawbackAlreadyClaimed', 'Clawback already claimed'],
  6010: ['InsufficientClawbackDelay', 'Clawback start must be at least one day after vesting end'],
  6011: ['SameClawbackReceiver', 'New and old Clawback receivers are identical'],
  6012: ['SameAdmin', 'New and old admin are identical'],
  6013: ['ClaimExpired', 'Claim window expired'],
  6014: ['ArithmeticError', 'Arithmetic Error (overflow/underflow)'],
  6015: ['StartTimestampAfterEnd', 'Start Timestamp cannot be after end Timestamp'],
  6016: ['TimestampsNotInFuture', 'Timestamps cannot be in the past'],
  6017: ['InvalidVersion', 'Airdrop Version Mismatch'],
}

export interface KnownProgram {
  name: string
  codes: ErrorTable
  hints: Readonly<Record<number, string>>
}

const RENT =
  'the account would keep less SOL than its rent: send more to it; on the embedded chain `svc localnet airdrop <address> <sol>`'

const TOKEN_HINTS = {
  0: RENT,
  1: 'the token account holds less than the amount: check the balance, and that the amount is in raw units',
  2: 'the account is not a mint of this token program: check the mint address',
  3: 'the token account belongs to another mint: check both addresses',
  4: 'the signer is not the required authority or owner: sign with the wallet that `svc tokens get <mint>` shows as the authority',
  5: 'the mint authority was revoked: no more tokens can ever be minted',
  6: 'the account already exists: use a new keypair, or continue with the existing account',
  9: 'the account was not created yet: create it first',
  11: 'the token account still holds tokens: move or burn them before closing it',
  16: 'the freeze authority was revoked or never set: accounts of this mint cannot be frozen',
  17: 'the token account is frozen: its freeze authority has to thaw it first',
  18: 'the decimals differ from those of the mint: read them with `svc tokens get <mint>`',
}

const TOO_MUCH_SLIPPAGE = 'the price moved while the transaction was on its way: build again, or accept more slippage'
const ZERO = 'the amount comes to 0: use a larger one'

const ANCHOR_HINTS: Readonly<Record<number, string>> = {
  101: 'the program on this cluster lacks the instruction: on the embedded chain renew the program cache with `svc localnet pull`',
  102: 'the program on this cluster expects other arguments: on the embedded chain renew the program cache with `svc localnet pull`',
  2001: 'the accounts do not belong together: check the addresses and who signs',
  2002: 'a signature is missing: sign with every wallet that the build names',
  3002: 'the account is of another kind: check the address',
  3007: 'the account belongs to another program: check the address, and that the mint is of a token program that is supported here',
  3008: 'a program address is wrong: build again',
  3010: 'a signature is missing: sign with every wallet that the build names',
  3012: 'the account does not exist yet: create it first, and check address and cluster',
}

const withAnchor = (codes: ErrorTable, hints: Record<number, string>) => ({
  codes: { ...ANCHOR_CODES, ...codes },
  hints: { ...ANCHOR_HINTS, ...hints },
})

/** Tables for programs that are not listed below but whose log identifies them as Anchor programs. */
export const ANY_ANCHOR = { codes: ANCHOR_CODES, hints: ANCHOR_HINTS }

export const KNOWN_PROGRAMS: Readonly<Record<string, KnownProgram>> = {
  [SYSTEM_PROGRAM]: {
    name: CLUSTER_PROGRAM_NAMES[SYSTEM_PROGRAM],
    codes: SYSTEM_CODES,
    hints: {
      0: 'the account exists already: an earlier try may have landed; read its state, or use a new keypair',
      1: 'send SOL to the paying account; on the embedded chain `svc localnet airdrop <address> <sol>`',
      8: 'the nonce was used: build again with its present value',
    },
  },
  [TOKEN_PROGRAM]: { name: CLUSTER_PROGRAM_NAMES[TOKEN_PROGRAM], codes: TOKEN_CODES, hints: TOKEN_HINTS },
  [TOKEN_2022_PROGRAM]: {
    name: CLUSTER_PROGRAM_NAMES[TOKEN_2022_PROGRAM],
    codes: { ...TOKEN_CODES, ...TOKEN_2022_ADDED_CODES },
    hints: {
      ...TOKEN_HINTS,
      28: 'burn all tokens of the mint before closing it',
      29: 'the authority was permanently revoked, so this is no longer possible',
      31: 'the mint has a transfer fee or hook: build with an instruction that names the mint',
      35: 'harvest the withheld transfer fees to the mint, then close the account',
      36: 'the receiving account demands a memo: add one before the transfer',
      37: 'tokens of this mint cannot be transferred',
      67: 'the mint is paused: wait until its authority resumes it',
    },
  },
  [ASSOCIATED_TOKEN_PROGRAM]: {
    name: CLUSTER_PROGRAM_NAMES[ASSOCIATED_TOKEN_PROGRAM],
    codes: ASSOCIATED_TOKEN_CODES,
    hints: { 0: 'the account at that address has another owner now: use another token account of the wallet' },
  },
  [PROGRAMS.tokenMetadata.id]: {
    name: PROGRAMS.tokenMetadata.name,
    codes: TOKEN_METADATA_CODES,
    hints: {
      3: 'the mint has metadata already',
      7: 'sign with the metadata update authority that `svc tokens get <mint>` shows',
      8: 'the metadata update authority has to sign',
      9: 'the mint authority has to sign',
      10: 'metadata needs the mint authority: create it before the mint authority is revoked',
      11: 'a name has at most 32 bytes',
      12: 'a symbol has at most 10 bytes',
      13: 'a uri has at most 200 bytes',
    },
  },
  [PROGRAMS.core.id]: {
    name: PROGRAMS.core.name,
    codes: CORE_CODES,
    hints: {
      4: 'the asset has no such plugin: it is not staked, or was unstaked before',
      9: 'the signer may not do this: the asset is frozen (staked), or belongs to another wallet; unstake it, or sign with its owner',
      10: 'the asset is frozen (staked): unstake it first',
    },
  },
  [PROGRAMS.dbc.id]: {
    name: PROGRAMS.dbc.name,
    ...withAnchor(DBC_CODES, {
      6002: TOO_MUCH_SLIPPAGE,
      6005: ZERO,
      6012: 'the pool holds too little for this amount: use a smaller one',
      6013: 'the curve is full: trade on the DAMM v2 pool once it has migrated',
      6014: 'the curve is not full yet: migrate when it is',
      6020: 'the curve needs more tokens than its supply: allow a leftover, or change supply or migration fee',
      6022: 'sign with the wallet that the pool names for this',
      6025: 'the surplus was withdrawn before: nothing is left to do',
      6026: 'the leftover was withdrawn before: nothing is left to do',
      6033: 'the amount is more than the curve has left: use a smaller one, or one that may be filled partly',
      6040: 'the migration fee was withdrawn before: nothing is left to do',
      6053: 'sign with the wallet that the pool names for this',
      6080: 'Meteora takes this quote only with a token badge: ask Meteora for it, or launch in another quote',
      6081: 'the quote takes a fee from each transfer now, so its pools neither trade nor pay nor migrate: wait until its issuer removes the fee',
    }),
  },
  [PROGRAMS.dammV2.id]: {
    name: PROGRAMS.dammV2.name,
    ...withAnchor(DAMM_V2_CODES, {
      6002: TOO_MUCH_SLIPPAGE,
      6003: 'the pool is not open for this yet: wait for its activation',
      6011: 'the first trade is too far ahead (mainnet permits 31 days): open the pool closer to it; a raise plans it by pool.opens_after_seconds',
      6022: 'the cliff has passed, or the schedule is longer than the program permits: choose a later or a shorter one',
    }),
  },
  [PROGRAMS.lock.id]: {
    name: PROGRAMS.lock.name,
    ...withAnchor(LOCK_CODES, {
      6005: 'only the recipient of the lock can claim: sign with that wallet',
      6006: "the tokens must go to the recipient's own token account",
      6009: 'the unlock time must lie in the future',
      6014: 'the mint uses a token extension that locks do not support',
      6019: 'the lock still holds tokens: claim them before it is closed',
    }),
  },
  [PROGRAMS.squads.id]: {
    name: PROGRAMS.squads.name,
    ...withAnchor(SQUADS_CODES, {
      2006: 'another proposal took this index first, or an account is of another multisig: read the multisig and propose again',
      6003: 'the threshold must be 1 to the number of members who may vote',
      6004: 'the member lacks the right for this (initiate, vote or execute): act with one who has it, or let the members change the rights',
      6005: 'the wallet is not a member of the multisig: act with a member, or check the address of the multisig',
      6006: 'the stored message cannot be read: propose it anew',
      6007: 'members or rules of the multisig have changed since the proposal: propose it anew',
      6008: 'the proposal is not in the state for this: only active ones take votes, only approved ones are executed or cancelled; read its state first',
      6009: 'the proposal and its transaction do not belong together: read the multisig and propose again',
      6010: 'this member has approved before: nothing is left for it to do',
      6011: 'this member has rejected before: nothing is left for it to do',
      6012: 'this member has cancelled before: nothing is left for it to do',
      6013: 'the accounts are not those of the stored transaction: build the execution again from what the chain stores',
      6014: 'an account, or whether it is writable, is not as stored, or the treasury is wrong: build again from what the chain stores',
      6021: 'the time lock of the multisig is not over: execute when it is',
      6029: 'the instructions write to an account of the proposal itself: propose without it',
      6030: 'a time lock is at most 90 days (7,776,000 seconds)',
      6032: 'the multisig has no rent collector: its members have to set one before proposals can be closed',
      6033: 'the rent goes to the rent collector of the multisig alone: read who that is',
      6041: 'the buffer is not full, or has other bytes than were announced: write the rest, or close it and propose anew',
      6042: 'the message is larger than a buffer can be: split the proposal',
      6043: 'the buffer is not full: write the rest of the message first',
    }),
  },
  [PROGRAMS.distributor.id]: {
    name: PROGRAMS.distributor.name,
    ...withAnchor(DISTRIBUTOR_CODES, {
      3007: 'the mint is not of SPL Token: airdrops take no Token-2022 mints',
      6002: 'the amount or the wallet is not what the tree has: claim with the proof that was made for this wallet',
      6003: 'the airdrop has paid out its cap: nothing more can be claimed',
      6004: 'the airdrop has reached its number of claims: nothing more can be claimed',
      6005: "sign with the airdrop's admin",
      6006: 'the tokens must go to a token account of the claiming wallet',
      6008: 'the vault can be withdrawn only after the clawback time',
      6009: 'the vault was withdrawn before: nothing is left to do',
      6010: 'set the clawback time at least one day after the end',
      6013: 'the vault was withdrawn: this airdrop can no longer be claimed',
      6015: 'set the start before the end',
      6016: 'start, end and clawback must all lie in the future: build again with later times',
    }),
  },
  [PROGRAMS.presale.id]: {
    name: PROGRAMS.presale.name,
    ...withAnchor(PRESALE_CODES, {
      3012: 'a token account or another account does not exist yet: open it first, also that of the creator for unsold tokens',
      6002: 'each round needs tokens, together fewer than 2^64 raw units',
      6003: 'times, minimum, maximum, fees or shares are out of range: a raise lasts 60 s to 30 days and starts within 30 days, its minimum is more than 0 and at most its maximum, and a fee is at most 50 %',
      6006: 'all tokens are released at the end, or fewer at once and the rest after a lock or vesting that together last less than 10 years',
      6007: 'the rounds have too few tokens for the maximum at this price: offer more tokens, or raise the price or lower the maximum',
      6008: 'a raise at a fixed price needs its price first: create both in one transaction, or the price before',
      6009: 'the amount buys nothing, or nothing is left to sell: read what can be deposited now, and use a larger amount',
      6010: 'raises take SPL Token mints, and Token-2022 mints with metadata or a transfer fee',
      6011: 'only the creator of the raise can do this: sign with its key',
      6012: 'deposits are taken between the start and the end of the raise',
      6013: 'this raise takes no withdrawals, or it has ended: after a failed raise take the refund',
      6014: 'refunds are paid after the end of a failed raise, or of a pro rata raise with more deposits than its maximum',
      6015: 'the raise has an allowlist, or another one: deposit with your proof from it',
      6016: 'the raise has ended',
      6017: 'tokens are claimed after the end of a raise that was completed',
      6018: 'wallet, round or cap is not what the allowlist says: use the proof that was made for this wallet',
      6019: 'the deposit would be below the least for a buyer, or the withdrawal would leave less: deposit more, or withdraw all',
      6021: 'less than this is deposited: withdraw at most the deposit',
      6022: 'the refund was paid before: nothing is left to do',
      6023: 'the raise is not completed: its end has not come, or it has failed',
      6025: 'the account still has a deposit, a refund, tokens or a fee: take them first; a fee of a withdrawn deposit stays until the end',
      6027: 'the creator has withdrawn before: nothing is left to do',
      6035: 'everything was sold: nothing is left to do',
      6036: 'the unsold tokens were returned or burnt before: nothing is left to do',
      6037: 'the raise has fewer rounds: check the number of the round',
      6038: 'more than one round needs an allowlist',
      6039: 'the cap of the wallet is outside what the round permits for a buyer',
      6040: 'fees are collected once, after the end of a raise that was completed',
      6042: 'with an allowlist a round takes deposits from the least amount that buys a token up to the maximum of the raise: leave the limits of a buyer out',
      6043: 'the raise is still on: do it after the end',
      6044: 'at a fixed price the minimum must be below the maximum by the price of a token or more: lower the minimum',
    }),
  },
  [PROGRAMS.lighthouse.id]: { name: PROGRAMS.lighthouse.name, codes: LIGHTHOUSE_CODES, hints: {} },
  [COMPUTE_BUDGET_PROGRAM]: { name: CLUSTER_PROGRAM_NAMES[COMPUTE_BUDGET_PROGRAM], codes: {}, hints: {} },
  [LOOKUP_TABLE_PROGRAM]: { name: CLUSTER_PROGRAM_NAMES[LOOKUP_TABLE_PROGRAM], codes: {}, hints: {} },
  [MEMO_PROGRAM]: { name: CLUSTER_PROGRAM_NAMES[MEMO_PROGRAM], codes: {}, hints: {} },
}

/** Hints for common failures of two programs together, where the inner error needs the outer program as context. */
export const INNER_HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [PROGRAMS.distributor.id]: {
    [`${SYSTEM_PROGRAM} 0`]:
      'the account exists already: this wallet has claimed before, or the airdrop of this mint and number was created before (choose another airdrop_count)',
    [`${TOKEN_PROGRAM} 1`]: "the airdrop's vault holds too little: fund it, then claim again",
  },
  [PROGRAMS.lighthouse.id]: LENDER_HINT,
  [PROGRAMS.dbc.id]: {
    [`${SYSTEM_PROGRAM} 1`]: `the paying account, or on a migration the pool authority ${DBC_POOL_AUTHORITY}, has too little SOL; on the embedded chain \`svc localnet airdrop <address> <sol>\``,
  },
}
