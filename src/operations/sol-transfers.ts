/** Builds a transfer of SOL from one wallet to another, optionally of the whole balance. */
import type { Api } from '../api/index.ts'
import type { SolRecipientFault } from '../api/sol-transfers.ts'
import { transferInstruction } from '../chain/programs/sol-transfers.ts'
import { rentFor } from '../chain/reads/rpc-reads.ts'
import { accountsAt } from '../chain/sending/runs.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../chain/sending/unsigned.ts'
import { badRequest } from '../platform/errors.ts'
import type { ChainAccount } from '../solana/accounts.ts'
import { solText } from '../solana/amounts.ts'
import { feeOfMessage } from '../solana/fees.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { accountKind, recipientFault } from '../solana/recipients.ts'
import { unsignedAct } from './act.ts'
import { refuseRecipients } from './recipients.ts'

type Routes = Api['solTransfers']

/** One and a half times the cost of a transfer and the two compute budget instructions, 150 units each. */
const TRANSFER_UNITS = 700

/**
 * Throws bad_request for an unsuitable recipient, for more than the payer has, and if an amount or remaining balance
 * is below the rent minimum.
 */
export const createSolTransfer = unsignedAct<Routes['create']>(async (context, input) => {
  const { payer, recipient, lamports, allow_programs } = input
  const [[sender = null, receiver = null], least] = await Promise.all([
    accountsAt(context.chain, [payer, recipient]),
    rentFor(context.chain, 0),
  ])
  requireRecipient(recipient, receiver, { payer, allowsPrograms: allow_programs })
  const held = requireSender(payer, sender)
  const opens = (receiver?.lamports ?? 0n) === 0n
  const sent = { lamports: 0n, fee: 0n }
  return {
    payer,
    fallbackUnits: TRANSFER_UNITS,
    async build(envelope) {
      // The fee is computed from this message, because limits and price are known only here.
      sent.fee = feeOf(await compileTransfer(envelope, { payer, recipient, lamports: 1n }))
      sent.lamports = lamports === 'all' ? held - sent.fee : BigInt(lamports)
      requireFunds(payer, { held, least, ...sent })
      if (opens && sent.lamports < least) throw belowMinimum(recipient, sent.lamports, least)
      return compileTransfer(envelope, { payer, recipient, lamports: sent.lamports })
    },
    summary: () => ({ recipient, lamports: String(sent.lamports), fee: String(sent.fee), opens }),
  }
})

async function compileTransfer(
  envelope: Envelope,
  { payer, recipient, lamports }: { payer: string; recipient: string; lamports: bigint },
): Promise<UnsignedTransaction> {
  return compileUnsigned(envelope, [await transferInstruction(payer, recipient, lamports)])
}

const feeOf = ({ transaction }: UnsignedTransaction) => feeOfMessage(decodeWireTransaction(transaction).message)

function requireRecipient(
  recipient: string,
  account: ChainAccount | null,
  { payer, allowsPrograms }: { payer: string; allowsPrograms: boolean },
): void {
  const param = 'recipient'
  if (recipient === payer) {
    const details = { reason: 'sender' satisfies SolRecipientFault }
    throw badRequest(`recipient: ${recipient} is the sender itself`, { param, details })
  }
  const reason = recipientFault(recipient, accountKind(account), { allowsPrograms })
  if (reason !== null) refuseRecipients([{ param, wallet: recipient, reason }], 1)
}

/** Returns the lamports of the payer. Only a wallet of the System program can send. */
function requireSender(payer: string, account: ChainAccount | null): bigint {
  if (account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0))
    return account?.lamports ?? 0n
  throw badRequest(
    `payer: ${payer} is an account of the program ${account.owner}, and only that program can send from it`,
    {
      param: 'payer',
      details: { owner: account.owner },
    },
  )
}

/**
 * An account must keep nothing or the rent minimum. A fee payer must still have that minimum after the fee is taken.
 */
function requireFunds(
  payer: string,
  { held, least, lamports, fee }: { held: bigint; least: bigint; lamports: bigint; fee: bigint },
): void {
  const rest = held - lamports - fee
  const paysFee = held < least || held - fee >= least
  if (paysFee && lamports > 0n && (rest === 0n || rest >= least)) return
  const details = { have: String(held), fee: String(fee), rent_exempt: String(least) }
  if (!paysFee || rest < 0n || lamports <= 0n) {
    throw badRequest(
      `lamports: ${payer} has ${solText(held)}, not enough for this transfer and its fee of ${solText(fee)}`,
      {
        param: 'lamports',
        details,
      },
    )
  }
  throw badRequest(
    `lamports: ${payer} would keep ${solText(rest)}, but an account must keep at least ${solText(least)} or nothing: send ${solText(least - rest)} less, or all`,
    { param: 'lamports', details },
  )
}

function belowMinimum(recipient: string, lamports: bigint, least: bigint) {
  return badRequest(
    `lamports: ${recipient} has no SOL yet, and ${solText(lamports)} is less than the minimum of ${solText(least)} for an account`,
    { param: 'lamports', details: { lamports: String(lamports), rent_exempt: String(least) } },
  )
}
