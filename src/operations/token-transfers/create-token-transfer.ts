/** Builds one transaction that sends a token to many wallets, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildTokenTransfers,
  failedRecipient,
  type TransferRecipient,
  transferUnits,
} from '../../chain/programs/tokens/index.ts'
import type { FailedTrial } from '../../chain/sending/compute-budget.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { type BuiltTransaction, buildTransaction, signingDraft, unsignedAnswer } from '../building.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'
import { readTransfer, type TransferReading } from './read-transfer.ts'
import { transferNote } from './transfer-faults.ts'

type CreateTransferRoute = Api['tokenTransfers']['create']
type CreateTransferInput = Input<CreateTransferRoute>

/** The part of the answer that is the same in both modes. */
type TransferSummary = Pick<Result<CreateTransferRoute>, 'recipients' | 'total' | 'rent'>

export async function createTokenTransfer(
  context: Context,
  input: CreateTransferInput,
): Promise<Result<CreateTransferRoute>> {
  if (input.mode === 'signed') return signedTransfer(context, input)
  const { built, summary } = await planTransfer(context, input)
  return { ...unsignedAnswer(built), ...summary }
}

/** The platform wallet sends and pays, and `payer` is ignored, as for fee claims. */
async function signedTransfer(context: Context, input: CreateTransferInput): Promise<Result<CreateTransferRoute>> {
  const run = await openSigningRun<TransferSummary>(context, 'token_transfer.create')
  const plan = run.resumed ?? (await planSignedTransfer(context, { ...input, payer: run.wallet }))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({ mode: 'signed', signature, ...plan.state }),
  })
}

async function planSignedTransfer(
  context: Context,
  input: CreateTransferInput,
): Promise<NewSigningPlan<TransferSummary>> {
  const { built, summary } = await planTransfer(context, input)
  return { first: signingDraft(built), state: summary }
}

/** Throws bad_request for a recipient who cannot receive, for too many recipients, and if the payer has too little. */
async function planTransfer(
  context: Context,
  input: CreateTransferInput,
): Promise<{ built: BuiltTransaction; summary: TransferSummary }> {
  const reading = await readTransfer(context, input)
  const recipients = payableRecipients(reading)
  const { payer, mint } = input
  const total = recipients.reduce((sum, { amount }) => sum + amount, 0n)
  const rent = reading.rentPerAccount * BigInt(recipients.filter(({ opens }) => opens).length)
  requireTransferFunds(reading, { payer, total, rent })
  const { tokenProgram, decimals } = reading.token
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: transferUnits(recipients),
    build: (envelope) =>
      buildTokenTransfers({ ...envelope, mint, tokenProgram, decimals, source: reading.source, recipients }),
    onFailedTrial: (trial) => refuseFailedRecipient(trial, recipients),
  })
  const summary = {
    recipients: recipients.map(({ wallet, tokenAccount, amount, opens }) => ({
      wallet,
      token_account: tokenAccount,
      amount: String(amount),
      opens,
    })),
    total: String(total),
    rent: String(rent),
  }
  return { built, summary }
}

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
function refuseFailedRecipient({ transaction, err }: FailedTrial, recipients: readonly TransferRecipient[]): void {
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
