/** Migrates a full launch curve to its DAMM v2 pool: determines the next step, and builds its transaction. Anyone may pay. */
import { badRequest } from '../../../platform/errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { type FreshKey, freshKey } from '../../../solana/signatures.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { baseAccount, type Dbc, openDbc, quoteAccount } from './program.ts'
import type { DbcPool } from './types.ts'

export type MigrationStep = 'not_full' | 'create_locker' | 'migrate' | 'done'

/** Compute limits for a step that cannot be simulated: half more than the largest run used. */
export const MIGRATION_UNITS = { create_locker: 145_000, migrate: 470_000 } as const

/** The program that DBC calls in each step. */
export const MIGRATION_PROGRAMS = { create_locker: PROGRAMS.lock, migrate: PROGRAMS.dammV2 } as const

/** Steps by the pool's `migrationProgress`. */
const STEPS: readonly MigrationStep[] = ['not_full', 'create_locker', 'migrate', 'done']
const DAMM_V2 = 1

type PositionKey = Pick<FreshKey, 'address' | 'secretKey'>

export interface Migration extends Envelope {
  pool: DbcPool
  /** Keys of the two position NFTs. They are generated when left out; a vault has addresses for which its program signs. */
  positionKeys?: readonly [PositionKey, PositionKey] | undefined
}

export interface MigrationTransaction extends UnsignedTransaction {
  step: 'create_locker' | 'migrate'
  /** Keys of the position NFTs, 64 bytes each, to sign with and then discard. The locker step has none. */
  secretKeys: Uint8Array[]
  /** The DAMM v2 pool that the curve becomes. */
  dammPoolAddress: string
}

/** Returns the next step of a pool. A curve with locked vesting requires its locker first. */
export function migrationStep({ isMigrated, migrationProgress }: Pick<DbcPool, 'isMigrated' | 'migrationProgress'>) {
  return isMigrated ? 'done' : (STEPS[migrationProgress] ?? 'not_full')
}

/** Returns the address of the DAMM v2 pool that a curve migrates to, which its config determines. */
export async function migratedPoolAddress(
  pool: Pick<DbcPool, 'address' | 'baseMint' | 'quoteMint' | 'migrationOption' | 'migrationFeeOption'>,
): Promise<string> {
  const dbc = await openDbc()
  return dammPool(dbc, pool).toBase58()
}

/** Returns the addresses that a curve of the token against SOL can migrate to, for every fee. They need not exist. */
export async function migratedCandidates(mint: string): Promise<string[]> {
  const { sdk, key, spl } = await openDbc()
  const configs = Object.values(sdk.DAMM_V2_MIGRATION_FEE_ADDRESS)
  return configs.map((config) => sdk.deriveDammV2PoolAddress(config, key(mint), spl.NATIVE_MINT).toBase58())
}

/** Returns the address of the lock that holds a pool's vested tokens, for the creator that the pool had when it was made. */
export async function vestingEscrowAddress(pool: string): Promise<string> {
  const { sdk, key } = await openDbc()
  return sdk.deriveEscrow(sdk.deriveBaseKeyForLocker(key(pool))).toBase58()
}

/** The step that can be sent now. Throws bad_request for a pool that is not full, or is migrated. */
export function openMigrationStep(
  pool: Pick<DbcPool, 'address' | 'isMigrated' | 'migrationProgress'>,
): keyof typeof MIGRATION_UNITS {
  const step = migrationStep(pool)
  if (step === 'not_full') throw badRequest(`The curve of pool ${pool.address} is not full yet`, { param: 'address' })
  if (step === 'done') throw badRequest(`Pool ${pool.address} has migrated`, { param: 'address' })
  return step
}

/** Throws bad_request for a pool that is not full, is migrated, or migrates to DAMM v1. */
export async function buildMigrationStep(migration: Migration): Promise<MigrationTransaction> {
  const { pool } = migration
  const step = openMigrationStep(pool)
  const dammPoolAddress = await migratedPoolAddress(pool)
  const built = step === 'migrate' ? await buildMigration(migration) : await buildLocker(migration)
  return { ...built, step, dammPoolAddress }
}

async function buildLocker(migration: Migration) {
  const { sdk, key, methods, poolAuthority, systemProgram } = await openDbc()
  const { pool } = migration
  const base = sdk.deriveBaseKeyForLocker(key(pool.address))
  const escrow = sdk.deriveEscrow(base)
  const token = await baseAccount(pool, escrow, key(migration.payer))
  const lock = await methods
    .createLocker()
    .accountsStrict({
      virtualPool: key(pool.address),
      config: key(pool.config),
      poolAuthority,
      baseVault: key(pool.baseVault),
      baseMint: key(pool.baseMint),
      base,
      creator: key(pool.creator),
      escrow,
      escrowToken: token.address,
      payer: key(migration.payer),
      tokenProgram: token.program,
      lockerProgram: sdk.LOCKER_PROGRAM_ID,
      lockerEventAuthority: sdk.deriveLockerEventAuthority(),
      systemProgram,
    })
    .instruction()
  return { ...(await compileUnsigned(migration, [token.open, lock])), secretKeys: [] }
}

async function buildMigration(migration: Migration) {
  const dbc = await openDbc()
  const { sdk, spl, key, methods, poolAuthority, systemProgram } = dbc
  const { pool, positionKeys = [freshKey(), freshKey()] } = migration
  const [first, second] = positionKeys
  const [firstMint, secondMint] = [key(first.address), key(second.address)]
  const address = dammPool(dbc, pool)
  const [virtualPool, baseMint, quoteMint] = [key(pool.address), key(pool.baseMint), key(pool.quoteMint)]
  const instruction = await methods
    .migrationDammV2()
    .accountsStrict({
      virtualPool,
      migrationMetadata: sdk.deriveDammV2MigrationMetadataAddress(virtualPool),
      config: key(pool.config),
      poolAuthority,
      pool: address,
      firstPositionNftMint: firstMint,
      firstPositionNftAccount: sdk.derivePositionNftAccount(firstMint),
      firstPosition: sdk.derivePositionAddress(firstMint),
      secondPositionNftMint: secondMint,
      secondPositionNftAccount: sdk.derivePositionNftAccount(secondMint),
      secondPosition: sdk.derivePositionAddress(secondMint),
      dammPoolAuthority: sdk.deriveDammV2PoolAuthority(),
      ammProgram: sdk.DAMM_V2_PROGRAM_ID,
      baseMint,
      quoteMint,
      tokenAVault: sdk.deriveDammV2TokenVaultAddress(address, baseMint),
      tokenBVault: sdk.deriveDammV2TokenVaultAddress(address, quoteMint),
      baseVault: key(pool.baseVault),
      quoteVault: key(pool.quoteVault),
      payer: key(migration.payer),
      tokenBaseProgram: (await baseAccount(pool, virtualPool)).program,
      tokenQuoteProgram: (await quoteAccount(pool, virtualPool)).program,
      token2022Program: spl.TOKEN_2022_PROGRAM_ID,
      systemProgram,
      dammEventAuthority: sdk.deriveDammV2EventAuthority(),
    })
    .remainingAccounts([{ pubkey: dammConfig(dbc, pool), isSigner: false, isWritable: false }])
    .instruction()
  const built = await compileUnsigned(migration, [instruction])
  return { ...built, secretKeys: [first.secretKey, second.secretKey] }
}

type Destined = Pick<DbcPool, 'address' | 'baseMint' | 'quoteMint' | 'migrationOption' | 'migrationFeeOption'>

function dammPool(dbc: Dbc, pool: Destined) {
  const { sdk, key } = dbc
  return sdk.deriveDammV2PoolAddress(dammConfig(dbc, pool), key(pool.baseMint), key(pool.quoteMint))
}

function dammConfig({ sdk }: Dbc, { address, migrationOption, migrationFeeOption }: Destined) {
  const config = sdk.DAMM_V2_MIGRATION_FEE_ADDRESS[migrationFeeOption]
  if (migrationOption === DAMM_V2 && config !== undefined) return config
  throw badRequest(`Pool ${address} does not migrate to DAMM v2`, { param: 'address' })
}
