/** The SDK of Meteora DBC, loaded on first use: instructions and accounts by its IDL, no request to any node. */

import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../errors.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DBC_POOL_AUTHORITY } from '../../../solana/programs.ts'
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
  // Anchor wants a connection to be made; instructions with all of their accounts never use it.
  const { program } = sdk.createDbcProgram(new web3.Connection('http://127.0.0.1'))
  return {
    sdk,
    web3,
    spl,
    methods: program.methods,
    coder: program.coder.accounts,
    bn: (amount: bigint) => new BN(amount.toString()),
    key: (address: string) => new web3.PublicKey(address),
    /** Accounts that nearly every instruction ends with. */
    events: { eventAuthority: sdk.deriveDbcEventAuthority(), program: sdk.DYNAMIC_BONDING_CURVE_PROGRAM_ID },
    poolAuthority: new web3.PublicKey(DBC_POOL_AUTHORITY),
    systemProgram: web3.SystemProgram.programId,
  }
}

/** A number of the SDK's own kind as a bigint. */
export const bigintOf = (amount: { toString(): string }): bigint => BigInt(amount.toString())

/** Where the program keeps the pool of a mint and a config; the quote is SOL. */
export async function dbcPoolAddress({ mint, config }: { mint: string; config: string }): Promise<string> {
  const { sdk, key, spl } = await openDbc()
  return sdk.deriveDbcPoolAddress(spl.NATIVE_MINT, key(mint), key(config)).toBase58()
}

/** Wrapped SOL of an owner: where it is, how it is opened, and how all of it becomes SOL again. */
export async function wrappedSol(owner: PublicKey, funder = owner) {
  const { spl } = await openDbc()
  const address = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, owner, true)
  return {
    address,
    open: spl.createAssociatedTokenAccountIdempotentInstruction(funder, address, owner, spl.NATIVE_MINT),
    /** Closes the account: its rent, and whatever was wrapped before, become the owner's SOL. */
    unwrap: spl.createCloseAccountInstruction(address, owner, owner),
  }
}

/** The account of a pool's token, and the instruction that opens it where it is missing. */
export async function baseAccount(
  { baseMint, baseProgram }: Pick<DbcPool, 'baseMint' | 'baseProgram'>,
  owner: PublicKey,
  funder = owner,
): Promise<{ address: PublicKey; open: TransactionInstruction; program: PublicKey }> {
  const { spl, key } = await openDbc()
  const program = baseProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const mint = key(baseMint)
  const address = spl.getAssociatedTokenAddressSync(mint, owner, true, program)
  const open = spl.createAssociatedTokenAccountIdempotentInstruction(funder, address, owner, mint, program)
  return { address, open, program }
}

/** Throws bad_request for pools that trade against another token than SOL. */
export function requireSolQuote({ address, quoteMint }: Pick<DbcPool, 'address' | 'quoteMint'>): void {
  if (quoteMint === WRAPPED_SOL) return
  throw badRequest(`Pool ${address} is quoted in ${quoteMint}: only pools quoted in SOL can be built for`, {
    param: 'address',
  })
}
