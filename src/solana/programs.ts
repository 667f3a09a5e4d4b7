/** Public programs that svc uses, and the accounts that the embedded chain requires for each. */

export interface Program {
  name: string
  id: string
  /** Accounts that the program's instructions read; `svc localnet pull` clones them. */
  accounts: readonly string[]
}

/** Program-derived address of Meteora DBC that owns the assets of its pools. */
export const DBC_POOL_AUTHORITY = 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM'

/** Program-derived address of Meteora DAMM v2 that owns the vaults of its pools. */
export const DAMM_V2_POOL_AUTHORITY = 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC'

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
} as const satisfies Record<string, Program>
