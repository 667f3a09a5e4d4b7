/** Describes Jupiter Lock as gold locks use it: the accounts of a wallet's lock, and the discriminators of its instructions. */
import type { PublicKey } from '@solana/web3.js'
import { PROGRAMS } from '../../../solana/programs.ts'
import { openDeriver } from '../derived-addresses.ts'
import { deriveProgramAddress } from '../pdas.ts'
import type { TokenProgram } from '../tokens/index.ts'

/** First eight bytes of the instructions in hex, as in the program's IDL. */
export const LOCK_INSTRUCTIONS = {
  /** The instruction create_vesting_escrow_v2. */
  create: 'b59b68b7b680232f',
  /** The instruction claim_v2. */
  claim: 'e5572ea2159de772',
  /** The instruction close_vesting_escrow. */
  close: 'ddb95f878843fc57',
} as const
export const ESCROW_ACCOUNT = 'f477b704497487c3'

/** Returns the address of a wallet's lock. There is one per wallet, because its base is the wallet itself. */
export async function escrowAddress(user: string): Promise<string> {
  return (await deriveProgramAddress('gold_lock', { user })).address
}

/** Returns every account that the instructions for a lock name. */
export async function lockAccounts({
  user,
  mint,
  tokenProgram,
}: {
  user: string
  mint: string
  tokenProgram: TokenProgram
}) {
  const [{ PublicKey }, spl, deriver] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  const program = new PublicKey(PROGRAMS.lock.id)
  const derive = (...seeds: Uint8Array[]): PublicKey => deriver.find(seeds, program)[0]
  const [owner, token] = [new PublicKey(user), new PublicKey(mint)]
  const programOfToken = tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const escrow = new PublicKey(await escrowAddress(user))
  const accountOf = (holder: PublicKey) => deriver.tokenAccount(token, holder, programOfToken)
  return {
    user: owner,
    mint: token,
    tokenProgram: programOfToken,
    escrow,
    escrowToken: accountOf(escrow),
    userToken: accountOf(owner),
    escrowMetadata: derive(Buffer.from('escrow_metadata'), escrow.toBuffer()),
    eventAuthority: derive(Buffer.from('__event_authority')),
    program,
  }
}
