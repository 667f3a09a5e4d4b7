/**
 * Addresses of the runtime's programs, loaders and sysvars, and of wrapped SOL. The module has only constants, so any
 * module may import it.
 */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'
export const NATIVE_LOADER = 'NativeLoader1111111111111111111111111111111'
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'
export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111'
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const ED25519_PROGRAM = 'Ed25519SigVerify111111111111111111111111111'
export const SECP256K1_PROGRAM = 'KeccakSecp256k11111111111111111111111111111'
export const SECP256R1_PROGRAM = 'Secp256r1SigVerify1111111111111111111111111'
export const LOADER_V1 = 'BPFLoader1111111111111111111111111111111111'
export const LOADER_V2 = 'BPFLoader2111111111111111111111111111111111'
export const UPGRADEABLE_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111'
export const LOADER_V4 = 'LoaderV411111111111111111111111111111111111'
export const LOADERS = [LOADER_V1, LOADER_V2, UPGRADEABLE_LOADER, LOADER_V4] as const
export const STAKE_PROGRAM = 'Stake11111111111111111111111111111111111111'
export const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111'
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
/** Earlier memo program that does not check signers; it is still deployed. */
export const MEMO_V1_PROGRAM = 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'
/** Mint of wrapped SOL in the accounts of both token programs. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
/** Mint of the wrapped SOL of Token-2022, which hardly anybody uses. */
export const NATIVE_MINT_2022 = '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9'
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
/** Address without a key, to which tokens are sent to destroy them. */
export const INCINERATOR = '1nc1nerator11111111111111111111111111111111'
export const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111'
/** Account with the chain's clock; reading it together with other accounts gives the slot of all of them. */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111'
export const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111'
export const INSTRUCTIONS_SYSVAR = 'Sysvar1nstructions1111111111111111111111111'
export const SLOT_HASHES_SYSVAR = 'SysvarS1otHashes111111111111111111111111111'
/** Sysvar that an instruction must name to read the blockhash of its slot, as those that set or advance a nonce do. */
export const RECENT_BLOCKHASHES_SYSVAR = 'SysvarRecentB1ockHashes11111111111111111111'
/** Sysvars that nothing here reads. */
export const OTHER_SYSVARS = [
  'SysvarEpochSchedu1e111111111111111111111111',
  'SysvarEpochRewards1111111111111111111111111',
  'SysvarFees111111111111111111111111111111111',
  'SysvarLastRestartS1ot1111111111111111111111',
  RECENT_BLOCKHASHES_SYSVAR,
  'SysvarRewards111111111111111111111111111111',
  'SysvarS1otHistory11111111111111111111111111',
  'SysvarStakeHistory1111111111111111111111111',
] as const

/** Owner of the accounts that say since when a feature is active. */
export const FEATURE_PROGRAM = 'Feature111111111111111111111111111111111111'

/** Owners of accounts that every runtime has of its own: programs, their code, and sysvars. */
export const RUNTIME_OWNERS: ReadonlySet<string> = new Set([...LOADERS, NATIVE_LOADER, SYSVAR_OWNER])

/** Owners of the accounts in a fresh runtime. */
export const BUILT_IN_OWNERS = [
  SYSTEM_PROGRAM,
  NATIVE_LOADER,
  ...LOADERS,
  SYSVAR_OWNER,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  FEATURE_PROGRAM,
  'Config1111111111111111111111111111111111111',
  STAKE_PROGRAM,
  VOTE_PROGRAM,
] as const
