/** Reads everything that a transfer to many wallets depends on: the token, the sender, and whether each wallet can receive. */
import type { TransferFault } from '../../api/token-transfers.ts'
import {
  type OnChainToken,
  readReceivers,
  readTokenState,
  receivingFault,
  type TokenReceiver,
} from '../../chain/programs/tokens/index.ts'
import { readWallets, rentFor } from '../../chain/reads/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { claimedWallets } from './claimed-wallets.ts'
import { requireSendable } from './transfer-faults.ts'

export interface TransferRequest {
  payer: string
  mint: string
  recipients: readonly { wallet: string; amount: string }[]
  allow_programs: boolean
  accept_transfer_fee: boolean
  airdrop_id?: string | undefined
}

export interface TransferReading {
  token: OnChainToken
  /** The payer's token account with its balance in raw units, and the payer's lamports. */
  source: string
  held: bigint
  lamports: bigint
  /** Cost of opening one token account, in lamports. */
  rentPerAccount: bigint
  recipients: readonly ReadRecipient[]
}

export interface ReadRecipient {
  receiver: TokenReceiver
  amount: bigint
  fault: TransferFault | null
}

/**
 * Throws not_found without the mint. Throws bad_request for a token that cannot be sent, a payer's token account that
 * is frozen or has another owner, and an airdrop whose vault can pay claims.
 */
export async function readTransfer(
  context: Pick<Context, 'chain' | 'store'>,
  request: TransferRequest,
): Promise<TransferReading> {
  const { payer, mint, airdrop_id: id } = request
  const token = await readTokenState(context.chain, mint)
  requireSendable(token, { acceptsTransferFee: request.accept_transfer_fee })
  const wallets = request.recipients.map(({ wallet }) => wallet)
  const claimed = id === undefined ? new Set() : await claimedWallets(context, { id, mint, wallets })
  const { tokenProgram, extensions } = token
  const [[sender, ...receivers], [paying], rentPerAccount] = await Promise.all([
    readReceivers(context.chain, { mint, tokenProgram, wallets: [payer, ...wallets] }),
    readWallets(context.chain, [payer]),
    rentFor(context.chain, extensions?.accountBytes ?? TOKEN_ACCOUNT_SIZE),
  ])
  const terms = {
    payer,
    mint,
    allowsPrograms: request.allow_programs,
    opensFrozen: extensions?.isFrozenByDefault === true,
  }
  const recipients = receivers.map((receiver, i): ReadRecipient => {
    const fault = receivingFault(receiver, terms) ?? (claimed.has(receiver.wallet) ? 'claimed' : null)
    return { receiver, amount: BigInt(request.recipients[i]?.amount ?? 0), fault }
  })
  const source = sender?.tokenAccount ?? ''
  const held = heldBy(sender, request)
  return { token, source, held, lamports: paying?.lamports ?? 0n, rentPerAccount, recipients }
}

function heldBy(sender: TokenReceiver | undefined, { payer, mint }: TransferRequest): bigint {
  const state = sender?.state ?? null
  if (sender === undefined || state === null) return 0n
  const details = { account: sender.tokenAccount, mint }
  if (state.owner !== payer) {
    throw badRequest(
      `The token account ${sender.tokenAccount} of ${payer} belongs to ${state.owner}: send with another wallet`,
      {
        param: 'payer',
        details,
      },
    )
  }
  if (state.state !== 'frozen') return state.amount
  throw badRequest(
    `The token account ${sender.tokenAccount} of ${payer} is frozen: the freeze authority of ${mint} has to thaw it first`,
    { param: 'payer', details },
  )
}
