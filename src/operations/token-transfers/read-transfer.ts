/** Reads everything that a transfer to many wallets depends on: the token, the sender, and whether each wallet can receive. */
import type { TransferFault } from '../../api/token-transfers.ts'
import { claimStatusAddress, decodeClaimStatus } from '../../chain/programs/merkle-distributor/index.ts'
import {
  type OnChainToken,
  readReceivers,
  readTokenState,
  receivingFault,
  type TokenReceiver,
} from '../../chain/programs/tokens/index.ts'
import { readWallets, rentFor } from '../../chain/reads/rpc-reads.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import { readAirdrop } from '../airdrops/on-chain.ts'
import { requireSendable } from './transfer-faults.ts'

interface TransferRequest {
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

interface ReadRecipient {
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
  const records = await Promise.all(wallets.map((wallet) => claimStatusAddress(address, wallet)))
  const accounts = await accountsAt(context.chain, records)
  return new Set(wallets.filter((_, i) => decodeClaimStatus(accounts[i] ?? null) !== null))
}
