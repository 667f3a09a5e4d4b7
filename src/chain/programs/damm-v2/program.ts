/** Loads the SDK of DAMM v2 on first use, for decoding accounts and for instructions by its IDL. */
import type { PoolState, PositionState } from '@meteora-ag/cp-amm-sdk'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import type BN from 'bn.js'
import { PROGRAMS } from '../../../solana/programs.ts'
import type { NodeAccount } from '../../reads/node-reads.ts'
import { fixedKeys } from './addresses.ts'

type DammV2Account = NodeAccount | null | undefined

interface IdlInstruction {
  name: string
  args: { name: string }[]
  accounts: { name: string; writable?: boolean; signer?: boolean; optional?: boolean }[]
}

export type Sdk = typeof import('@meteora-ag/cp-amm-sdk')

let loadedSdk:
  | Promise<{ sdk: Sdk; program: InstanceType<Sdk['CpAmm']>['_program']; toBn: (value: bigint) => BN }>
  | undefined

/** Every request to a node bypasses the SDK's client, so that it needs no connection. */
export function loadSdk() {
  loadedSdk ??= Promise.all([import('@meteora-ag/cp-amm-sdk'), import('bn.js')]).then(([sdk, bn]) => ({
    sdk,
    program: new sdk.CpAmm(undefined as never)._program,
    toBn: (value: bigint) => new bn.default(value.toString()),
  }))
  return loadedSdk
}

export const toBigint = (value: BN): bigint => BigInt(value.toString())

/**
 * Takes arguments in the IDL's order and accounts by name. The common accounts are added, and optional ones are left
 * out.
 */
export async function dammV2Instruction(
  name: string,
  args: readonly unknown[],
  accounts: Readonly<Record<string, PublicKey>>,
): Promise<TransactionInstruction> {
  const [{ TransactionInstruction }, { program }, fixed] = await Promise.all([
    import('@solana/web3.js'),
    loadSdk(),
    fixedKeys(),
  ])
  const idl = (program.idl.instructions as unknown as IdlInstruction[]).find((each) => each.name === name)
  if (idl === undefined) throw new Error(`cp_amm has no instruction ${name}`)
  const known: Record<string, PublicKey> = { ...fixed, ...accounts }
  const keys = idl.accounts.map(({ name: account, writable = false, signer = false, optional = false }) => {
    const pubkey = known[account]
    if (pubkey === undefined && optional) return { pubkey: fixed.program, isSigner: false, isWritable: false }
    if (pubkey === undefined) throw new Error(`${name} of cp_amm needs the account ${account}`)
    return { pubkey, isSigner: signer, isWritable: writable }
  })
  const named = Object.fromEntries(idl.args.map((arg, i) => [arg.name, args[i]]))
  return new TransactionInstruction({
    programId: fixed.program,
    keys,
    data: program.coder.instruction.encode(name, named),
  })
}

/** Returns null for an address without a pool of the program. */
export const decodeDammV2Pool = (account: DammV2Account) => decodeDammV2Account<PoolState>('pool', account)

/** Returns null for an address without a position of the program. */
export const decodePosition = (account: DammV2Account) => decodeDammV2Account<PositionState>('position', account)

async function decodeDammV2Account<T>(kind: 'pool' | 'position', account: DammV2Account): Promise<T | null> {
  // The owner excludes most unrelated accounts before the SDK is loaded.
  if (account?.owner !== PROGRAMS.dammV2.id) return null
  if (!DISCRIMINATORS[kind].equals(account.data.subarray(0, 8))) return null
  const { accounts } = (await loadSdk()).program.coder
  return account.data.length < accounts.size(kind) ? null : accounts.decode<T>(kind, account.data)
}

/** First bytes of the accounts, the hash of their names in Anchor. */
export const POSITION_DISCRIMINATOR_BYTES = Buffer.from('aabc8fe47a40f7d0', 'hex')
const DISCRIMINATORS = {
  pool: Buffer.from('f19a6d0411b16dbc', 'hex'),
  position: POSITION_DISCRIMINATOR_BYTES,
}

/** Converts numbers to digits and keys to base58, without padding fields. */
export function dammV2JsonSafe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dammV2JsonSafe)
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return [...value]
  if (value === null || typeof value !== 'object') return value
  if ('toBase58' in value) return (value as PublicKey).toBase58()
  if ('toArrayLike' in value) return value.toString()
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !/^_?padding/i.test(name))
      .map(([name, each]) => [name, dammV2JsonSafe(each)]),
  )
}
