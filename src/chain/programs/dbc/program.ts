/** Loads the SDK of Meteora DBC on first use, for instructions and accounts by its IDL, without requests to a node. */

import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../errors.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DBC_POOL_AUTHORITY } from '../../../solana/programs.ts'
import { openDeriver } from '../../derived-addresses.ts'
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
  const [sdk, { default: BN }, web3, spl, deriver] = await Promise.all([
    import('@meteora-ag/dynamic-bonding-curve-sdk'),
    import('bn.js'),
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  // Anchor requires a connection to be constructed, but instructions with all of their accounts never use it.
  const { program } = sdk.createDbcProgram(new web3.Connection('http://127.0.0.1'))
  return {
    sdk,
    web3,
    spl,
    deriver,
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

/** Returns the address of the pool of a mint and a config against SOL. */
export async function dbcPoolAddress({ mint, config }: { mint: string; config: string }): Promise<string> {
  const { sdk, key, spl } = await openDbc()
  return sdk.deriveDbcPoolAddress(spl.NATIVE_MINT, key(mint), key(config)).toBase58()
}

/** Returns the address of an owner's wrapped SOL, and the instructions that open it and unwrap all of it. */
export async function wrappedSol(owner: PublicKey, funder = owner) {
  const { spl, deriver } = await openDbc()
  const address = deriver.tokenAccount(spl.NATIVE_MINT, owner, spl.TOKEN_PROGRAM_ID)
  return {
    address,
    open: spl.createAssociatedTokenAccountIdempotentInstruction(funder, address, owner, spl.NATIVE_MINT),
    /** Closes the account. Its rent and earlier wrapped balance become the owner's SOL. */
    unwrap: spl.createCloseAccountInstruction(address, owner, owner),
  }
}

/** Returns the account of a pool's token, and the instruction that opens it if it is missing. */
export async function baseAccount(
  { baseMint, baseProgram }: Pick<DbcPool, 'baseMint' | 'baseProgram'>,
  owner: PublicKey,
  funder = owner,
): Promise<{ address: PublicKey; open: TransactionInstruction; program: PublicKey }> {
  const { spl, key, deriver } = await openDbc()
  const program = baseProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const mint = key(baseMint)
  const address = deriver.tokenAccount(mint, owner, program)
  const open = spl.createAssociatedTokenAccountIdempotentInstruction(funder, address, owner, mint, program)
  return { address, open, program }
}

/** Throws bad_request for pools whose quote is another token than SOL. */
export function requireSolQuote({ address, quoteMint }: Pick<DbcPool, 'address' | 'quoteMint'>): void {
  if (quoteMint === WRAPPED_SOL) return
  throw badRequest(`Pool ${address} is quoted in ${quoteMint}: only pools quoted in SOL can be built for`, {
    param: 'address',
  })
}
