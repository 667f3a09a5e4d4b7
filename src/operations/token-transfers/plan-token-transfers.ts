/** Reads which wallets of a list can receive a token and what sending costs, without building anything. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { MOST_RECIPIENTS } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { readTransfer } from './read-transfer.ts'
import { greatestTransferFee, transferNote } from './transfer-faults.ts'

type PlanTransfersRoute = Api['tokenTransfers']['plan']

export async function planTokenTransfers(
  context: Context,
  input: Input<PlanTransfersRoute>,
): Promise<Result<PlanTransfersRoute>> {
  const { token, source, held, lamports, rentPerAccount, recipients } = await readTransfer(context, input)
  const fee = greatestTransferFee(token)
  const payable = recipients.filter(({ fault }) => fault === null)
  const opened = payable.filter(({ receiver }) => receiver.isMissing).length
  return {
    mint: token.mint,
    token_program: token.tokenProgram,
    decimals: token.decimals,
    source,
    held: String(held),
    lamports: String(lamports),
    rent_per_account: String(rentPerAccount),
    transfer_fee: fee && { basis_points: fee.basisPoints, maximum_fee: String(fee.maximumFee) },
    fits: { v0: roomIn(0), v1: roomIn(1) },
    recipients: recipients.map(({ receiver, amount, fault }) => ({
      wallet: receiver.wallet,
      amount: String(amount),
      token_account: receiver.tokenAccount,
      status: fault !== null ? ('left_out' as const) : receiver.isMissing ? ('to_open' as const) : ('ready' as const),
      reason: fault,
      note: fault === null ? null : transferNote(fault, receiver),
    })),
    total: String(payable.reduce((sum, { amount }) => sum + amount, 0n)),
    rent: String(rentPerAccount * BigInt(opened)),
  }
}

const roomIn = (version: 0 | 1) => ({ ready: MOST_RECIPIENTS[version].ready, to_open: MOST_RECIPIENTS[version].opened })
