/** Loads the SDK of Meteora DBC on first use, for instructions and accounts by its IDL, without requests to a node. */

import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DBC_POOL_AUTHORITY } from '../../../solana/programs.ts'
import { tokenProgramOf } from '../../../solana/token-programs.ts'
import { addressOfKey } from '../derived-addresses.ts'
import type { DbcPool } from './types.ts'

export type Dbc = Awaited<ReturnType<typeof load>>
let loadedDbc: Promise<Dbc> | undefined

export function openDbc(): Promise<Dbc> {
  loadedDbc ??= load().catch((error) => {
    loadedDbc = undefined
    throw error
  })
  return loadedDbc
}

async function load() {
  const [sdk, { default: BN }, web3, spl] = await Promise.all([
    import('@meteora-ag/dynamic-bonding-curve-sdk'),
    import('bn.js'),
    import('@solana/web3.js'),
    import('@solana/spl-token'),
  ])
  // Anchor requires a connection to be constructed, but instructions with all of their accounts never use it.
  const { program } = sdk.createDbcProgram(new web3.Connection('http://127.0.0.1'))
  return {
    sdk,
    web3,
    spl,
    methods: program.methods,
    coder: program.coder.accounts,
    bn: (amount: bigint) => new BN(amount.toString()),
    key: (address: string) => new web3.PublicKey(address),
    /** Accounts at the end of nearly every instruction. */
    events: { eventAuthority: sdk.deriveDbcEventAuthority(), program: sdk.DYNAMIC_BONDING_CURVE_PROGRAM_ID },
    poolAuthority: new web3.PublicKey(DBC_POOL_AUTHORITY),
    systemProgram: web3.SystemProgram.programId,
  }
}

/** Converts a number of the SDK's own type to a bigint. */
export const bigintOf = (amount: { toString(): string }): bigint => BigInt(amount.toString())

/** Returns the address of the pool of a mint and a config, against SOL unless another quote is named. */
export async function dbcPoolAddress(pool: { mint: string; config: string; quoteMint?: string }): Promise<string> {
  const { sdk, key } = await openDbc()
  const { mint, config, quoteMint = WRAPPED_SOL } = pool
  return sdk.deriveDbcPoolAddress(key(quoteMint), key(mint), key(config)).toBase58()
}

/**
 * Returns an owner's account of a pool's quote, and the instruction that opens it if it is missing. For wrapped SOL
 * `unwrap` closes the account, whose rent and earlier balance become the owner's SOL; for other tokens it is null.
 */
export async function quoteAccount(
  { quoteMint, quoteProgram }: Pick<DbcPool, 'quoteMint' | 'quoteProgram'>,
  owner: PublicKey,
  funder = owner,
): Promise<TokenAccount & { unwrap: TransactionInstruction | null }> {
  const { spl } = await openDbc()
  const account = await deriveTokenAccount(quoteMint, quoteProgram, owner, funder)
  const unwrap = quoteMint === WRAPPED_SOL ? spl.createCloseAccountInstruction(account.address, owner, owner) : null
  return { ...account, unwrap }
}

/** Returns the address of an owner's account of a pool's quote. */
export async function quoteAccountAddress(
  pool: Pick<DbcPool, 'quoteMint' | 'quoteProgram'>,
  owner: string,
): Promise<string> {
  const { key } = await openDbc()
  return (await quoteAccount(pool, key(owner))).address.toBase58()
}

/** Returns the address of an owner's account of a pool's token. */
export async function baseAccountAddress(
  pool: Pick<DbcPool, 'baseMint' | 'baseProgram'>,
  owner: string,
): Promise<string> {
  const { key } = await openDbc()
  return (await baseAccount(pool, key(owner))).address.toBase58()
}

interface TokenAccount {
  address: PublicKey
  open: TransactionInstruction
  program: PublicKey
}

/** Returns the account of a pool's token, and the instruction that opens it if it is missing. */
export const baseAccount = (
  { baseMint, baseProgram }: Pick<DbcPool, 'baseMint' | 'baseProgram'>,
  owner: PublicKey,
  funder = owner,
): Promise<TokenAccount> => deriveTokenAccount(baseMint, baseProgram, owner, funder)

async function deriveTokenAccount(
  mintAddress: string,
  kind: DbcPool['baseProgram'],
  owner: PublicKey,
  funder: PublicKey,
): Promise<TokenAccount> {
  const { spl, key } = await openDbc()
  const program = tokenProgramOf(kind)
  const address = key(associatedTokenAddress(addressOfKey(owner), mintAddress, program))
  const open = spl.createAssociatedTokenAccountIdempotentInstruction(
    funder,
    address,
    owner,
    key(mintAddress),
    key(program),
  )
  return { address, open, program: key(program) }
}
