/** Divides a claim between its recipients, and checks that each can be paid. */
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import { quoteAccountAddress, type Share } from '../../chain/programs/dbc/index.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { badRequest } from '../../platform/errors.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { solText } from '../../solana/amounts.ts'
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { accountKind, recipientFault } from '../../solana/recipients.ts'
import { type RecipientFault, refuseRecipients } from '../recipients.ts'
import { splitAmount } from './split-amount.ts'
import type { TradingFeeRequest } from './types.ts'

/**
 * Returns the shares. For a quote other than SOL it also returns the balance of the claimer's account before the
 * claim.
 */
export async function payableShares(
  node: NodeCalls,
  { pool, party, splits = [], allowsPrograms }: TradingFeeRequest,
  amount: bigint,
): Promise<{ shares: Share[]; held: bigint }> {
  const parts = splitAmount(
    amount,
    splits.map(({ bps }) => bps),
  )
  const shares = splits.map(({ recipient }, i) => ({ recipient, amount: parts[i] ?? 0n }))
  requireParts(shares, amount)
  const isSol = pool.quoteMint === WRAPPED_SOL
  await requireWallets(node, shares, { isSol, allowsPrograms })
  if (isSol) return { shares, held: 0n }
  const owners = [party.claimer, ...shares.map(({ recipient }) => recipient)]
  const addresses = await Promise.all(owners.map((owner) => quoteAccountAddress(pool, owner)))
  const [own, ...accounts] = await accountsAt(node, addresses)
  const held = own ? (decodeTokenAccount(own)?.amount ?? 0n) : 0n
  return { held, shares: shares.map((share, i) => ({ ...share, account: tokenAccountOf(share, accounts[i], i) })) }
}

function requireParts(shares: readonly Share[], total: bigint): void {
  for (const [i, { amount, recipient }] of shares.entries()) {
    if (amount > 0n) continue
    const param = `splits.${i}.bps`
    throw badRequest(`${param}: the share of ${recipient} in ${total} raw units is zero`, { param })
  }
}

/** A share in SOL that leaves its recipient below rent exemption would fail on chain without an explanation. */
async function requireWallets(
  node: NodeCalls,
  shares: readonly Share[],
  { isSol, allowsPrograms }: { isSol: boolean; allowsPrograms: boolean },
): Promise<void> {
  const recipients = shares.map(({ recipient }) => recipient)
  const accounts = await accountsAt(node, recipients)
  const paidTo = (address: string) =>
    shares.reduce((sum, { recipient, amount }) => (recipient === address ? sum + amount : sum), 0n)
  const faults = recipients.flatMap((wallet, i): RecipientFault[] => {
    const reason = recipientFault(wallet, accountKind(accounts[i] ?? null), { allowsPrograms })
    return reason === null ? [] : [{ param: `splits.${i}.recipient`, wallet, reason }]
  })
  refuseRecipients(faults, recipients.length)
  const least = shares.length === 0 || !isSol ? 0n : await rentFor(node, 0)
  for (const [i, { recipient }] of shares.entries()) {
    const param = `splits.${i}.recipient`
    const after = (accounts[i]?.lamports ?? 0n) + (isSol ? paidTo(recipient) : 0n)
    if (after >= least) continue
    throw badRequest(
      `${param}: ${recipient} would have ${solText(after)}, and an account must hold at least ${solText(least)}: leave it out, or send it SOL first`,
      { param, details: { lamports: String(after), rent_exempt: String(least) } },
    )
  }
}

/** Throws bad_request for an account that has another owner now or cannot receive tokens. */
function tokenAccountOf(
  { recipient }: Share,
  account: ChainAccount | null | undefined,
  place: number,
): NonNullable<Share['account']> {
  if (account === null || account === undefined) return 'missing'
  const state = decodeTokenAccount(account)
  if (state === null && account.owner === SYSTEM_PROGRAM) return 'funded'
  if (state?.owner === recipient && state.state === 'initialized') return 'open'
  const param = `splits.${place}.recipient`
  throw badRequest(
    `${param}: the token account of ${recipient} for the quote is frozen or has another owner: leave it out`,
    {
      param,
    },
  )
}
