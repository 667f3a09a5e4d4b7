/** Sends a token to many wallets, and reads before which of them can receive it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { TransferFault } from '../../api/token-transfers.ts'
import { claimStatusAddress, decodeClaimStatus } from '../../chain/programs/merkle-distributor/index.ts'
import {
  buildTokenTransfers,
  failedRecipient,
  MOST_GUARDED_RECIPIENTS,
  MOST_RECIPIENTS,
  type OnChainToken,
  readReceivers,
  readTokenState,
  receivingFault,
  type TokenReceiver,
  type TransferRecipient,
  transferUnits,
} from '../../chain/programs/tokens/index.ts'
import { readWallets, rentFor } from '../../chain/reads/rpc-reads.ts'
import type { FailedSimulation } from '../../chain/sending/compute-budget.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import { act } from '../act.ts'
import { readAirdrop } from '../airdrops/on-chain.ts'
import { addsGuards } from '../build-guards.ts'
import { greatestTransferFee, requireSendable, transferNote } from './transfer-faults.ts'

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
  const most = (await addsGuards(context)) ? MOST_GUARDED_RECIPIENTS : MOST_RECIPIENTS
  return {
    mint: token.mint,
    token_program: token.tokenProgram,
    decimals: token.decimals,
    source,
    held: String(held),
    lamports: String(lamports),
    rent_per_account: String(rentPerAccount),
    transfer_fee: fee && { basis_points: fee.basisPoints, maximum_fee: String(fee.maximumFee) },
    fits: { v0: roomOf(most[0]), v1: roomOf(most[1]) },
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

const roomOf = ({ ready, opened }: { ready: number; opened: number }) => ({ ready, to_open: opened })

// Reads everything that a transfer to many wallets depends on: the token, the sender, and whether each wallet can
// receive.

interface TransferRequest {
  payer: string
  mint: string
  recipients: readonly { wallet: string; amount: string }[]
  allow_programs: boolean
  accept_transfer_fee: boolean
  airdrop_id?: string | undefined
}

interface TransferReading {
  token: OnChainToken
  /** The payer's token account with its balance in raw units, and the payer's lamports. */
  source: string
  held: bigint
  lamports: bigint
  /** Cost of opening one token account, in lamports. */
  rentPerAccount: bigint
  recipients: readonly ReadRecipient[]
}

interface ReadRecipient {
  receiver: TokenReceiver
  amount: bigint
  fault: TransferFault | null
}

/**
 * Throws not_found without the mint. Throws bad_request for a token that cannot be sent, a payer's token account that
 * is frozen or has another owner, and an airdrop whose vault can pay claims.
 */
async function readTransfer(
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

// Prevents that a list is paid twice: by a transfer, and by claims from its airdrop.

/**
 * Returns which of the wallets have claimed. Throws bad_request while the vault can pay claims, because wallets could
 * get tokens twice. Throws not_found for an airdrop that is not stored.
 */
async function claimedWallets(
  context: Pick<Context, 'chain' | 'store'>,
  { id, mint, wallets }: { id: string; mint: string; wallets: readonly string[] },
): Promise<ReadonlySet<string>> {
  const tree = await findTree(context.store.db, id)
  if (tree === null) {
    throw notFound(`There is no merkle tree ${id}: list the stored ones (GET /v2/merkle-trees, \`svc merkle list\`)`, {
      param: 'airdrop_id',
    })
  }
  if (tree.mint !== mint) {
    throw badRequest(`airdrop_id: ${id} is an airdrop of ${tree.mint}, not of ${mint}`, {
      param: 'airdrop_id',
      details: { mint: tree.mint },
    })
  }
  if (tree.total_locked !== '0') {
    throw badRequest(
      `airdrop_id: the list of ${id} has locked amounts, which become claimable over time, but a transfer would pay them at once: make a list of the amounts to send (\`svc airdrops send\`)`,
      { param: 'airdrop_id', details: { reason: 'locked_amounts', total_locked: tree.total_locked } },
    )
  }
  const { distributor, vault, vaultAddress, address } = await readAirdrop(context.chain, id)
  // This list cannot be claimed from a distributor with another root.
  if (distributor === null || distributor.root !== tree.root) return new Set()
  const balance = vault?.amount ?? 0n
  if (balance > 0n && !distributor.isClawedBack) {
    throw badRequest(
      `airdrop_id: the vault of ${id} holds ${balance} raw units, from which the same wallets can claim, so a transfer would pay them twice. Withdraw the vault first (POST /v2/airdrops/{id}/vault-withdrawals, \`svc airdrops withdraw\`), which is possible after the clawback time`,
      {
        param: 'airdrop_id',
        details: {
          reason: 'funded',
          vault: vaultAddress,
          vault_balance: String(balance),
          clawback_at: String(distributor.clawbackAt),
        },
      },
    )
  }
  const records = wallets.map((wallet) => claimStatusAddress(address, wallet))
  const accounts = await accountsAt(context.chain, records)
  return new Set(wallets.filter((_, i) => decodeClaimStatus(accounts[i] ?? null) !== null))
}
