/** Derives the accounts of a lock. */
import type { PublicKey } from '@solana/web3.js'
import { PROGRAMS } from '../../../solana/programs.ts'
import { openDeriver } from '../derived-addresses.ts'
import { deriveProgramAddress } from '../pdas.ts'
import type { TokenProgram } from '../tokens/index.ts'

/** Returns the address of the lock of a base, which signs its creation. */
export async function escrowAddress(base: string): Promise<string> {
  return (await deriveProgramAddress('gold_lock', { user: base })).address
}

/** Returns the address of the account with the texts of a lock. */
export async function textsAddress(escrow: string): Promise<PublicKey> {
  const [{ PublicKey }, deriver] = await Promise.all([import('@solana/web3.js'), openDeriver()])
  const seeds = [Buffer.from('escrow_metadata'), new PublicKey(escrow).toBytes()]
  return deriver.find(seeds, new PublicKey(PROGRAMS.lock.id))[0]
}

/** The accounts that the instructions for a lock name, besides those of its parties. */
export interface LockPlaces {
  mint: PublicKey
  /** Address of the token program. */
  tokenProgram: PublicKey
  escrow: PublicKey
  /** Token account that holds the locked tokens. */
  escrowToken: PublicKey
  /** Account with title and description, which need not exist. */
  escrowMetadata: PublicKey
  /** Returns the associated token account of a wallet. */
  accountOf(owner: PublicKey): PublicKey
}

/** Derives the accounts of the lock at `escrow`. */
export async function lockPlaces(lock: {
  escrow: string
  mint: string
  tokenProgram: TokenProgram
}): Promise<LockPlaces> {
  const [{ PublicKey }, spl, deriver] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  const [escrow, mint] = [new PublicKey(lock.escrow), new PublicKey(lock.mint)]
  const tokenProgram = lock.tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const accountOf = (owner: PublicKey) => deriver.tokenAccount(mint, owner, tokenProgram)
  return {
    mint,
    tokenProgram,
    escrow,
    escrowToken: accountOf(escrow),
    escrowMetadata: await textsAddress(lock.escrow),
    accountOf,
  }
}
