/** Jupiter Lock as gold locks use it: the accounts of a wallet's lock, and how its instructions begin. */
import type { PublicKey } from '@solana/web3.js'
import { PROGRAMS } from '../../../solana/programs.ts'
import { derivePdaOf } from '../../pdas.ts'
import type { TokenProgram } from '../tokens/index.ts'

/** First eight bytes, hex, as the program's IDL has them. */
export const INSTRUCTIONS = {
  /** create_vesting_escrow_v2 */
  create: 'b59b68b7b680232f',
  /** claim_v2 */
  claim: 'e5572ea2159de772',
  /** close_vesting_escrow */
  close: 'ddb95f878843fc57',
} as const
export const ESCROW_ACCOUNT = 'f477b704497487c3'

/** Where a wallet's lock is: one place, as its base is the wallet itself. */
export async function escrowAddress(user: string): Promise<string> {
  return (await derivePdaOf('gold_lock', { user })).address
}

/** Every account that the instructions about a lock name. */
export async function lockAccounts({
  user,
  mint,
  tokenProgram,
}: {
  user: string
  mint: string
  tokenProgram: TokenProgram
}) {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const program = new PublicKey(PROGRAMS.lock.id)
  const derive = (...seeds: Uint8Array[]): PublicKey => PublicKey.findProgramAddressSync(seeds, program)[0]
  const [owner, token] = [new PublicKey(user), new PublicKey(mint)]
  const programOfToken = tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const escrow = new PublicKey(await escrowAddress(user))
  const accountOf = (holder: PublicKey) => spl.getAssociatedTokenAddressSync(token, holder, true, programOfToken)
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
