/** The fee that a wallet pays the platform in its own transaction. */
import type { TransactionInstruction } from '@solana/web3.js'
import { transferInstruction } from '../chain/programs/sol-transfers.ts'
import { readWallets, rentFor } from '../chain/reads/rpc-reads.ts'
import type { Services } from '../context.ts'
import { badRequest } from '../platform/errors.ts'
import { solText } from '../solana/amounts.ts'
import { platformWallet } from './platform-wallet.ts'

type PlatformFeeServices = Pick<Services, 'config' | 'signer' | 'log' | 'chain'>

/**
 * Returns the instructions to append, or none for 0 lamports. Throws bad_request when the fee would leave an empty
 * platform wallet below rent exemption, internal_error without a platform wallet.
 */
export async function platformFeeInstructions(
  services: PlatformFeeServices,
  { payer, lamports }: { payer: string; lamports: number },
): Promise<TransactionInstruction[]> {
  if (lamports === 0) return []
  const wallet = await platformWallet(services)
  const fee = BigInt(lamports)
  const [found] = await readWallets(services.chain, [wallet])
  const held = found?.lamports ?? 0n
  const least = held === 0n ? await rentFor(services.chain, 0) : 0n
  if (fee < least) {
    throw badRequest(
      `platform_fee: the platform wallet ${wallet} holds no SOL yet, and ${solText(fee)} would leave it below the ${solText(least)} that an account needs`,
      {
        param: 'platform_fee',
        details: { platform_wallet: wallet, lamports: String(fee), rent_exempt: String(least) },
      },
    )
  }
  return [await transferInstruction(payer, wallet, fee)]
}
