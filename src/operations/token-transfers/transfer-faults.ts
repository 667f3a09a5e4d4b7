/** Says why a wallet is left out of a transfer of tokens, and why a token cannot be sent at all. */
import type { TransferFault } from '../../api/token-transfers.ts'
import type { OnChainToken, TokenReceiver } from '../../chain/programs/tokens/index.ts'
import { badRequest } from '../../platform/errors.ts'
import type { TransferFee } from '../../solana/token-extensions.ts'
import { RECIPIENT_NOTES } from '../recipients.ts'

type Note = (receiver: TokenReceiver) => string

const NOTES: Record<TransferFault, Note> = {
  sender: ({ wallet }) => `${wallet} is the wallet that sends`,
  token_account: ({ wallet }) => `${wallet} ${RECIPIENT_NOTES.token_account}`,
  off_curve: ({ wallet }) => `${wallet} ${RECIPIENT_NOTES.off_curve}`,
  program_owned: ({ wallet }) => `${wallet} ${RECIPIENT_NOTES.program_owned}`,
  account_taken: ({ wallet, tokenAccount, state }) =>
    state === null
      ? `the address of the token account ${tokenAccount} of ${wallet} is taken by an account that is none`
      : `the token account ${tokenAccount} of ${wallet} belongs to ${state.owner}`,
  account_frozen: ({ wallet, tokenAccount }) =>
    `the token account ${tokenAccount} of ${wallet} is frozen: the mint's freeze authority must thaw it first`,
  new_accounts_frozen: ({ wallet }) =>
    `${wallet} has no token account, and new ones of this token are frozen until its freeze authority thaws them`,
  memo_required: ({ wallet, tokenAccount }) =>
    `the token account ${tokenAccount} of ${wallet} takes transfers with a memo only`,
  claimed: ({ wallet }) => `${wallet} has claimed from the airdrop already`,
}

export const transferNote = (fault: TransferFault, receiver: TokenReceiver): string => NOTES[fault](receiver)

/**
 * Returns what may be kept of a transfer in this epoch: the greatest share and the greatest sum of the fees that keep
 * anything; null for a token that keeps nothing.
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

/** Throws bad_request for a token that cannot be sent, or not in full without being told so. */
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
    throw refuse('is paused: nothing moves until its authority lets it', { reason: 'paused' })
  }
  if (extensions.transferHook !== null) {
    const hook = extensions.transferHook
    throw refuse(
      `has every transfer call the program ${hook}, whose accounts are not known here: send it with a wallet`,
      {
        reason: 'transfer_hook',
        transfer_hook: hook,
      },
    )
  }
  const fee = greatestTransferFee(token)
  if (fee === null || acceptsTransferFee) return
  throw refuse(
    `keeps ${fee.basisPoints} hundredths of a percent of each transfer, at most ${fee.maximumFee} raw units, so that less arrives than is sent: send accept_transfer_fee (\`svc airdrops send --accept-transfer-fee\`) where that is meant`,
    { reason: 'transfer_fee', basis_points: fee.basisPoints, maximum_fee: String(fee.maximumFee) },
  )
}
