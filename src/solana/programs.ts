/** Public programs that svc uses, and the accounts that the embedded chain requires for each. */
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from './program-ids.ts'

export interface Program {
  name: string
  id: string
  /** Accounts that the program's instructions read; `svc localnet pull` clones them. */
  accounts: readonly string[]
}

/** Program-derived address of Meteora DBC that owns the assets of its pools. */
export const DBC_POOL_AUTHORITY = 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM'

/** Owns the vaults of all raises. */
export const PRESALE_AUTHORITY = '4Xgt6XKZiowAGNdPWngVAwpYbSwAmbBnRBPtCFXhrypc'
/** Program-derived address of Meteora DAMM v2 that owns the vaults of its pools. */
export const DAMM_V2_POOL_AUTHORITY = 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC'

/** Account with the settings of Squads v4: who receives the fee for a new multisig. */
export const SQUADS_SETTINGS = 'BSTq9w3kZwNwpBXJEvTZz2G9ZTNyKBvoSeXMvwb4cNZr'

export const PROGRAMS = {
  dbc: {
    name: 'Meteora DBC',
    id: 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN',
    // The pool authority pays for the accounts of a migration.
    accounts: [DBC_POOL_AUTHORITY],
  },
  dammV2: {
    name: 'Meteora DAMM v2',
    id: 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG',
    // These are the configs that pools migrate to, indexed by migration fee option 0 to 6.
    accounts: [
      '7F6dnUcRuyM2TwR8myT1dYypFXpPSxqwKNSFNkxyNESd',
      '2nHK1kju6XjphBLbNxpM5XRGFj7p9U8vvNzyZiha1z6k',
      'Hv8Lmzmnju6m7kcokVKvwqz7QPmdX9XfKjJsXz8RXcjp',
      '2c4cYd4reUYVRAB9kUUkrq55VPyy2FNQ3FDL4o12JXmq',
      'AkmQWebAwFvWk55wBoCr5D62C6VVDTzi84NJuD9H7cFD',
      'DbCRBj8McvPYHJG1ukj8RE15h2dCNUdTAESG49XpQ44u',
      'A8gMrEPJkacWkcb3DGwtJwTe16HktSEfvwtuDh2MCtck',
    ],
  },
  tokenMetadata: { name: 'Metaplex Token Metadata', id: 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s', accounts: [] },
  core: { name: 'Metaplex Core', id: 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d', accounts: [] },
  lock: { name: 'Jupiter Lock', id: 'LocpQgucEQHbqNABEYvBvwoxCPsSbG91A1QaQhQQqjn', accounts: [] },
  distributor: { name: 'Jito merkle distributor', id: 'mERKcfxMC5SqJn4Ld4BUris3WKZZ1ojjWJ3A3J5CKxv', accounts: [] },
  squads: {
    name: 'Squads v4',
    id: 'SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf',
    // Fee and treasury, without which no multisig can be created.
    accounts: [SQUADS_SETTINGS],
  },
  presale: { name: 'Meteora Presale', id: 'presSVxnf9UU8jMxhgSMqaRwNiT36qeBdNeTRKjTdbj', accounts: [] },
  lighthouse: { name: 'Lighthouse', id: 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95', accounts: [] },
} as const satisfies Record<string, Program>

/** Names of the programs that every cluster has. */
export const CLUSTER_PROGRAM_NAMES = {
  [SYSTEM_PROGRAM]: 'System program',
  [TOKEN_PROGRAM]: 'SPL Token',
  [TOKEN_2022_PROGRAM]: 'Token-2022',
  [ASSOCIATED_TOKEN_PROGRAM]: 'Associated Token Account',
  [COMPUTE_BUDGET_PROGRAM]: 'Compute Budget',
  [LOOKUP_TABLE_PROGRAM]: 'Address Lookup Table',
  [MEMO_PROGRAM]: 'Memo',
  [STAKE_PROGRAM]: 'Stake program',
  [VOTE_PROGRAM]: 'Vote program',
  [UPGRADEABLE_LOADER]: 'BPF upgradeable loader',
} as const

const NAMES = new Map<string, string>([
  ...Object.entries(CLUSTER_PROGRAM_NAMES),
  ...Object.values(PROGRAMS).map(({ id, name }) => [id, name] as const),
])

/** The name of a program that svc knows; null for any other address. */
export const programName = (id: string): string | null => NAMES.get(id) ?? null
