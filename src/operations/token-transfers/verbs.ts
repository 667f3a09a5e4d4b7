/** Sends a token to many wallets, and reads before which of them can receive it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildTokenTransfers,
  failedRecipient,
  MOST_RECIPIENTS,
  type TransferRecipient,
  transferUnits,
} from '../../chain/programs/tokens/index.ts'
import type { FailedSimulation } from '../../chain/sending/compute-budget.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { act } from '../act.ts'
import { readTransfer, type TransferReading } from './read-transfer.ts'
import { greatestTransferFee, transferNote } from './transfer-faults.ts'

type Routes = Api['tokenTransfers']

/** Throws bad_request for a recipient who cannot receive, for too many recipients, and if the payer has too little. */
export const createTokenTransfer = act<Api['tokenTransfers']['create']>(
  'token_transfer.create',
  async (context, input) => {
    const reading = await readTransfer(context, input)
    const recipients = payableRecipients(reading)
    const { payer, mint } = input
    const total = recipients.reduce((sum, { amount }) => sum + amount, 0n)
    const rent = reading.rentPerAccount * BigInt(recipients.filter(({ opens }) => opens).length)
    requireTransferFunds(reading, { payer, total, rent })
    const { tokenProgram, decimals } = reading.token
    return {
      fallbackUnits: transferUnits(recipients),
      build: (envelope) =>
        buildTokenTransfers({ ...envelope, mint, tokenProgram, decimals, source: reading.source, recipients }),
      onFailedSimulation: (simulation) => refuseFailedRecipient(simulation, recipients),
      summary: {
        recipients: recipients.map(({ wallet, tokenAccount, amount, opens }) => ({
          wallet,
          token_account: tokenAccount,
          amount: String(amount),
          opens,
        })),
        total: String(total),
        rent: String(rent),
      },
    }
  },
)

function payableRecipients({ recipients }: TransferReading): TransferRecipient[] {
  return recipients.map(({ receiver, amount, fault }, i) => {
    const { wallet, tokenAccount, isMissing, hasLamports } = receiver
    if (fault === null) return { wallet, tokenAccount, amount, opens: isMissing, hasLamports }
    throw badRequest(`recipients.${i}.wallet: ${transferNote(fault, receiver)}`, {
      param: `recipients.${i}.wallet`,
      details: { reason: fault, wallet, token_account: tokenAccount },
    })
  })
}

function requireTransferFunds(
  { token, source, held, lamports }: TransferReading,
  { payer, total, rent }: { payer: string; total: bigint; rent: bigint },
): void {
  if (held < total) {
    throw badRequest(
      `${payer} has ${held} raw units of ${token.mint} in its token account ${source}, but the transfer needs ${total}: send it the tokens first`,
      { param: 'recipients', details: { account: source, have: String(held), need: String(total) } },
    )
  }
  if (rent === 0n || lamports > rent) return
  throw badRequest(
    `${payer} has ${solText(lamports)}, but missing token accounts cost ${solText(rent)} in addition to the fee: send it SOL first`,
    { param: 'payer', details: { have: String(lamports), need: String(rent) } },
  )
}

/** Throws an error that names the recipient whose account makes the transfer fail. */
function refuseFailedRecipient({ transaction, err }: FailedSimulation, recipients: readonly TransferRecipient[]): void {
  const transfers = recipients.reduce((count, { opens }) => count + (opens ? 2 : 1), 0)
  const others = decodeWireTransaction(transaction).message.instructions.length - transfers
  const place = failedRecipient(err, recipients, others)
  const recipient = place === null ? undefined : recipients[place]
  if (recipient === undefined) return
  const { wallet, tokenAccount } = recipient
  throw badRequest(
    `recipients.${place}: the transfer to ${wallet} (token account ${tokenAccount}) would fail: ${JSON.stringify(err)}`,
    {
      param: `recipients.${place}`,
      details: { reason: 'transfer_fails', wallet, token_account: tokenAccount, err },
    },
  )
}

/** Reads which wallets of a list can receive a token and what sending costs, without building anything. */
export async function planTokenTransfers(
  context: Context,
  input: Input<Routes['plan']>,
): Promise<Result<Routes['plan']>> {
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
