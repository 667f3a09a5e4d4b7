/** Texts and answers of `svc wallet reclaim`: what returns, what it costs, what stays and why. */
import type { ReclaimFault, RentReclaim } from '../../src/api/rent-reclaims.ts'
import { solCell, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { previewLine } from '../signing/preview.ts'
import { counted } from '../ui/words.ts'

export type Figures = Pick<
  RentReclaim,
  'accounts' | 'lamports' | 'fee' | 'remaining' | 'left_out' | 'mints_listed' | 'truncated'
>

/** The API's answer for a wallet from which nothing more is worth a transaction. */
export type Nothing = { message: string; details: Partial<Figures> }

/** What the transactions of this run have done so far; amounts in lamports. */
export interface Done {
  accounts: number
  lamports: bigint
  fee: bigint
  signatures: string[]
}

/** Why lamports stay in accounts. */
const STAYS: Readonly<Record<ReclaimFault, string>> = {
  wrapped_sol: 'wrapped SOL; only closing returns the rent',
  close_authority: 'another address may close them',
  frozen: 'frozen by the freeze authority of their mint',
  withheld_fees: 'hold transfer fees that their mint has not collected',
  confidential: 'may hold amounts that only a key can read',
  not_associated: 'cannot be opened again at their address',
  pending: 'in a transaction that is not confirmed yet; run it again after it',
  refused: 'their program refuses it',
}

/** Amounts in lamports. */
interface Total {
  accounts: number
  lamports: bigint
  transactions: number
  fee: bigint
}

/** What all transactions return. Each is assumed to cost as much as the first. */
export function totalOf({ accounts, lamports, fee, remaining }: Figures): Total {
  const transactions = 1 + remaining.transactions
  return {
    accounts: accounts.length + remaining.accounts,
    lamports: BigInt(lamports) + BigInt(remaining.lamports),
    transactions,
    fee: BigInt(fee) * BigInt(transactions),
  }
}

export function figureLines(figures: Figures): string[] {
  const { lamports, transactions, fee } = totalOf(figures)
  const minimums = figures.accounts.flatMap(({ action, minimum }) => (action === 'withdraw' ? [BigInt(minimum)] : []))
  const [least, most] = [minimums.reduce(smaller, minimums[0] ?? 0n), minimums.reduce(larger, 0n)]
  const range = least === most ? solOf(most) : `${solOf(least)} to ${solOf(most)}`
  return [
    previewLine('returns', `${solOf(lamports)} SOL, for ${solOf(fee)} SOL of fees`),
    ...(minimums.length === 0 ? [] : [previewLine('stays', `${range} SOL in each account, today's minimum`)]),
    previewLine('sends', counted(transactions, 'transaction')),
  ]
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
const larger = (a: bigint, b: bigint) => (a > b ? a : b)

const leftNotes = ({ left_out = [], mints_listed = true, truncated = false }: Partial<Figures>): string[] => [
  ...left_out.map(
    ({ reason, accounts, lamports }) =>
      `${solOf(BigInt(lamports))} SOL stay in ${counted(accounts, 'account')}: ${STAYS[reason] ?? reason}`,
  ),
  ...(mints_listed
    ? []
    : ['The node does not list mints by their authority: only tokens that are recorded here were checked']),
  ...(truncated ? ['The wallet has more accounts than were read: run it again for the others'] : []),
]

const leftFields = ({ left_out = [], mints_listed = true, truncated = false }: Partial<Figures>) => ({
  left_out,
  mints_listed,
  truncated,
})

export const nothingOutcome = (wallet: string, { message, details }: Nothing): CommandOutcome => ({
  data: { wallet, accounts: 0, lamports: '0', fee: '0', transactions: 0, signatures: [], ...leftFields(details) },
  text: `${message}.`,
  notes: leftNotes(details),
})

export function dryRunOutcome(wallet: string, found: Figures): CommandOutcome {
  const { accounts, lamports, fee, transactions } = totalOf(found)
  return {
    data: { wallet, accounts, lamports: String(lamports), fee: String(fee), transactions, ...leftFields(found) },
    text: [`${counted(accounts, 'account')} of ${wallet}`, ...figureLines(found)].join('\n'),
    notes: [...leftNotes(found), 'Nothing was signed, and nothing was sent.'],
  }
}

export function doneOutcome(
  wallet: string,
  { accounts, lamports, fee, signatures }: Done,
  found: Figures,
): CommandOutcome {
  const data = { wallet, accounts, lamports: String(lamports), fee: String(fee), transactions: signatures.length }
  return {
    data: { ...data, signatures, ...leftFields(found) },
    record: { ...data, lamports: solCell(lamports), fee: solCell(fee) },
    notes: leftNotes(found),
  }
}
