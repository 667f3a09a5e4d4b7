/** Mints, collections and who holds them, put straight into an embedded chain: any number of accounts in one write. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import type { LocalChain } from '../../src/localnet/types.ts'
import { isEd25519Point } from '../../src/solana/curve.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { extended, mintData, type TokenAccount, type TokenExtensions, tokenAccountData } from './token-accounts.ts'

type Put = Pick<LocalChain, 'setAccount' | 'together'>

/** An address of its own for each name. */
export const keyBytes = (name: string): Uint8Array => createHash('sha256').update(name).digest()
export const keyOf = (name: string): string => base58.encode(keyBytes(name))

/** The first names of a kind whose addresses are on the curve, or off it. */
export function namedOwners(name: string, count: number, isWallet = true): Uint8Array[] {
  const owners: Uint8Array[] = []
  for (let n = 0; owners.length < count; n++) {
    const key = keyBytes(`${name} ${n}`)
    if (isEd25519Point(key) === isWallet) owners.push(key)
  }
  return owners
}

export interface PutHolder extends TokenAccount {
  extensions?: TokenExtensions
  /** Name of the token account, where an owner has several. */
  name?: string
}

export interface PutMint {
  mint: string
  holders: readonly PutHolder[]
  supply?: bigint
  decimals?: number
  /** Extensions make it one of Token-2022. */
  extensions?: TokenExtensions
}

const RENT = 10_000_000n
const account = (owner: string, data: Uint8Array) => ({ lamports: RENT, owner, data, executable: false })

/** Puts a mint and its token accounts there. Without a supply it is the sum of what they hold. */
export async function putHolders(
  chain: Put,
  { mint, holders, supply, decimals = 6, extensions }: PutMint,
): Promise<void> {
  const program = extensions === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
  const key = base58.decode(mint)
  const data = mintData(decimals, supply ?? holders.reduce((sum, { amount }) => sum + amount, 0n))
  const withExtensions = (base: Uint8Array, kind: 1 | 2, added: TokenExtensions | undefined) =>
    added === undefined ? base : extended(base, kind, added)
  await chain.together(() => {
    chain.setAccount(mint, account(program, withExtensions(data, 1, extensions)))
    for (const holder of holders) {
      const name = base58.encode(
        createHash('sha256')
          .update(key)
          .update(holder.owner)
          .update(holder.name ?? '')
          .digest(),
      )
      const own = extensions === undefined ? undefined : (holder.extensions ?? [])
      chain.setAccount(name, account(program, withExtensions(tokenAccountData(key, holder), 2, own)))
    }
  })
}

/** An account of a program at an address, as the state that owns a vault is. */
export const putOwned = (chain: Put, owner: Uint8Array, program: string): void =>
  chain.setAccount(base58.encode(owner), account(program, new Uint8Array(16)))

/** A wallet with SOL. */
export const putWallet = (chain: Put, owner: Uint8Array): void =>
  chain.setAccount(base58.encode(owner), account(SYSTEM_PROGRAM, new Uint8Array()))

/** Puts a collection of Metaplex Core and its assets there, one for each owner in the list. */
export async function putAssets(
  chain: Put,
  { collection, owners, size = owners.length }: { collection: string; owners: readonly Uint8Array[]; size?: number },
): Promise<void> {
  const key = base58.decode(collection)
  const text = (value: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(value.length)
    return Buffer.concat([length, Buffer.from(value)])
  }
  const counters = Buffer.alloc(8)
  counters.writeUInt32LE(size + 7, 0)
  counters.writeUInt32LE(size, 4)
  const head = Buffer.concat([
    Uint8Array.of(5),
    keyBytes('authority'),
    text('Genesis'),
    text('https://example.com/c.json'),
  ])
  await chain.together(() => {
    chain.setAccount(collection, account(PROGRAMS.core.id, Buffer.concat([head, counters])))
    for (const [n, owner] of owners.entries()) {
      const asset = Buffer.concat([
        ...[Uint8Array.of(1), owner, Uint8Array.of(2), key, text(`Genesis #${n}`), text('https://example.com/1.json')],
        Uint8Array.of(0),
      ])
      chain.setAccount(keyOf(`${collection} asset ${n}`), account(PROGRAMS.core.id, asset))
    }
  })
}
