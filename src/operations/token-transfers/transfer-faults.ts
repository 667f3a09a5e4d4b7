/** Determines why a wallet is left out of a token transfer, and why a token cannot be sent at all. */
import type { TransferFault } from '../../api/token-transfers.ts'
import type { OnChainToken, TokenReceiver } from '../../chain/programs/tokens/index.ts'
import { badRequest } from '../../platform/errors.ts'
import type { AddressFault } from '../../solana/bare-addresses.ts'
import { recipientNote } from '../../solana/recipients.ts'
import type { TransferFee } from '../../solana/token-extensions.ts'

type Note = (receiver: TokenReceiver) => string

function noWallet(reason: AddressFault): Note {
  return ({ wallet }) => `${wallet} ${recipientNote(reason, wallet)}`
}

const NOTES: Record<TransferFault, Note> = {
  sender: ({ wallet }) => `${wallet} is the sender itself`,
  token_account: noWallet('token_account'),
  multisig: noWallet('multisig'),
  squads_account: noWallet('squads_account'),
  off_curve: noWallet('off_curve'),
  program_owned: noWallet('program_owned'),
  account_taken: ({ wallet, tokenAccount, state }) =>
    state === null
      ? `the address of the token account ${tokenAccount} of ${wallet} has an account that is not a token account`
      : `the token account ${tokenAccount} of ${wallet} belongs to ${state.owner}`,
  account_frozen: ({ wallet, tokenAccount }) =>
    `the token account ${tokenAccount} of ${wallet} is frozen: the mint's freeze authority must thaw it first`,
  new_accounts_frozen: ({ wallet }) =>
    `${wallet} has no token account, and new ones of this token are frozen until its freeze authority thaws them`,
  memo_required: ({ wallet, tokenAccount }) =>
    `the token account ${tokenAccount} of ${wallet} accepts only transfers with a memo`,
  claimed: ({ wallet }) => `${wallet} has already claimed from the airdrop`,
}

export const transferNote = (fault: TransferFault, receiver: TokenReceiver): string => NOTES[fault](receiver)

/**
 * Returns the highest possible transfer fee in this epoch: the largest share and the largest maximum of the fees that
 * apply. Null for a token without a fee.
 */
export function greatestTransferFee({
  extensions,
}: Pick<OnChainToken, 'extensions'>): Omit<TransferFee, 'epoch'> | null {
  const fees = extensions?.transferFee
  if (fees === null || fees === undefined) return null
  const kept = [fees.older, fees.newer].filter(({ basisPoints, maximumFee }) => basisPoints > 0 && maximumFee > 0n)
  if (kept.length === 0) return null
  return {
    basisPoints: Math.max(...kept.map(({ basisPoints }) => basisPoints)),
    maximumFee: kept.reduce((most, { maximumFee }) => (maximumFee > most ? maximumFee : most), 0n),
  }
}

/** Throws bad_request for a token that cannot be sent, or that keeps a fee which the request does not accept. */
export function requireSendable(
  token: Pick<OnChainToken, 'mint' | 'extensions'>,
  { acceptsTransferFee }: { acceptsTransferFee: boolean },
): void {
  const { mint, extensions } = token
  const refuse = (why: string, details: Record<string, unknown>) =>
    badRequest(`mint: ${mint} ${why}`, { param: 'mint', details })
  if (extensions === null) return
  if (!extensions.isTransferable) throw refuse('cannot be transferred at all', { reason: 'non_transferable' })
  if (extensions.isPaused === true) {
    throw refuse('is paused: nothing moves until its authority resumes it', { reason: 'paused' })
  }
  if (extensions.transferHook !== null) {
    const hook = extensions.transferHook
    throw refuse(
      `calls the program ${hook} in every transfer, and its accounts are not known here: send it with a wallet app`,
      {
        reason: 'transfer_hook',
        transfer_hook: hook,
      },
    )
  }
  const fee = greatestTransferFee(token)
  if (fee === null || acceptsTransferFee) return
  throw refuse(
    `keeps ${fee.basisPoints} hundredths of a percent of each transfer, at most ${fee.maximumFee} raw units, so less arrives than is sent: send accept_transfer_fee (\`svc airdrops send --accept-transfer-fee\`) to accept that`,
    { reason: 'transfer_fee', basis_points: fee.basisPoints, maximum_fee: String(fee.maximumFee) },
  )
}
