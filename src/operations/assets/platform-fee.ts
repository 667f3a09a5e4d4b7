/** The fee that a user pays the platform inside the same transaction. */
import type { TransactionInstruction } from '@solana/web3.js'
import { transferInstruction } from '../../chain/transfers.ts'
import type { Services } from '../../context.ts'
import { platformWallet } from '../platform-wallet.ts'

/** Instructions behind the others; none for 0, and no platform wallet is needed then. */
export async function platformFee(
  services: Pick<Services, 'config' | 'signer' | 'log'>,
  payer: string,
  lamports: number,
): Promise<TransactionInstruction[]> {
  if (lamports === 0) return []
  return [await transferInstruction(payer, await platformWallet(services), BigInt(lamports))]
}
