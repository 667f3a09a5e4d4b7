/** The rows of a list that is sent: what an earlier run has paid, who can receive, and in which batches. */
import type { TransferFault } from '../../../src/api/token-transfers.ts'
import { type EntryList, entryAt } from '../../../src/merkle/entry-list.ts'
import type { Session } from '../../cli/session.ts'
import type { TermsField } from '../../signing/flags.ts'
import { usage } from '../../ui/problem.ts'
import { counted } from '../../ui/words.ts'
import { patiently } from '../patience.ts'
import type { SendRow, WalletAct } from './act.ts'
import type { PaidWallet, SendJournal, SendTermsOfList } from './journal.ts'

/** What the API says of the token and the sender; sums are over all rows that are to be sent. */
export interface SendForecast {
  tokenProgram: 'spl' | 'token2022'
  decimals: number
  source: string
  held: bigint
  lamports: bigint
  rentPerAccount: bigint
  transferFee: { basis_points: number; maximum_fee: string } | null
  fits: { v0: { ready: number; to_open: number }; v1: { ready: number; to_open: number } }
}

/** The most recipients of one plan. */
const ROWS_PER_PLAN = 500

export const rowToSend = (wallet: string, amount: bigint): SendRow => ({
  wallet,
  amount,
  status: 'to send',
  note: null,
  signature: null,
  opens: false,
})

/** A row that an earlier run has paid; what the chain does not prove is neither paid nor sent again. */
const rowPaid = (row: SendRow, { signature, doubt }: PaidWallet): SendRow => ({
  ...row,
  signature,
  note: doubt,
  status: doubt === null ? 'sent already' : 'unknown',
})

/** Throws a usage problem if the list has another amount now for a wallet that is done, or may still be, or lacks it. */
export function rowsOf(
  act: WalletAct,
  { list, name }: { list: EntryList; name: string },
  { paid: paidWallets, journal }: { paid: ReadonlyMap<string, PaidWallet>; journal: SendJournal | null },
): SendRow[] {
  const { done } = act.words
  if (list.locked !== undefined) {
    throw usage(`${name} has locked amounts, which would be ${act.paid} at once`, {
      next: `make a list of what is to be ${done} now; what vests is claimed from an airdrop (svc airdrops launch)`,
    })
  }
  const open = new Map((journal?.open() ?? []).flatMap(({ recipients }) => recipients))
  const changed = (wallet: string, before: string | undefined, now: string) => {
    const signature = paidWallets.get(wallet)?.signature
    const by = signature === undefined ? 'and that may still land' : `by ${signature}`
    return usage(`${wallet} ${act.did(before, true)} in an earlier run, ${by}; the list has ${now} for it now`, {
      next: `put the row back as it was; ${journal?.file} has it. What is owed beyond it goes into a list of its own, with another --journal, and so does a new list that has overwritten the file`,
      details: { wallet, [done]: before, listed: now },
    })
  }
  const rows = Array.from({ length: list.count }, (_, i): SendRow => {
    const { wallet, amount } = entryAt(list, i)
    const paid = paidWallets.get(wallet)
    const before = paid?.amount ?? open.get(wallet)
    if (before !== undefined && before !== String(amount)) throw changed(wallet, before, String(amount))
    open.delete(wallet)
    const row = rowToSend(wallet, amount)
    if (paid !== undefined) return rowPaid(row, paid)
    return act.hasAmounts && amount === 0n ? { ...row, status: 'left out', note: 'its amount is 0' } : row
  })
  if (act.name === 'send') refuseOtherList(rows, paidWallets, journal?.file ?? '', name)
  const [gone] = open.keys()
  if (gone !== undefined) throw changed(gone, open.get(gone), 'no row')
  return rows
}

/**
 * Throws a usage problem for a list that lacks wallets which its journal has paid, beside others that were paid and
 * others that were not: the file was overwritten, and who of it was paid for this list is not known.
 */
function refuseOtherList(
  rows: readonly SendRow[],
  paid: ReadonlyMap<string, PaidWallet>,
  journal: string,
  listName: string,
): void {
  const again = rows.filter(({ status }) => status === 'sent already').length
  const isGone = new Set(paid.keys())
  for (const { wallet } of rows) isGone.delete(wallet)
  if (isGone.size === 0 || again === 0 || !rows.some(({ status }) => status === 'to send')) return
  throw usage(
    `${listName} is another list than the one of its journal: ${counted(again, 'wallet')} of it ${again === 1 ? 'was' : 'were'} paid earlier, and ${counted(isGone.size, 'paid wallet')} ${isGone.size === 1 ? 'is' : 'are'} gone from it`,
    {
      next: `if the file was overwritten by a new list, pay all of it with a journal of its own: --journal FILE; if it is the same list, put the rows back, which ${journal} has`,
    },
  )
}

/**
 * Asks who can receive, marks who cannot, and returns what is known of token and sender. Null if nothing is to be sent.
 */
export async function planRows(
  session: Session,
  terms: SendTermsOfList & Pick<TermsField, 'guard'>,
  rows: readonly SendRow[],
): Promise<SendForecast | null> {
  const open = rows.filter(({ status }) => status === 'to send')
  const bar = session.ui.progress('Reading the chain')
  let forecast: SendForecast | null = null
  for (let at = 0; at < open.length; at += ROWS_PER_PLAN) {
    const part = open.slice(at, at + ROWS_PER_PLAN)
    const recipients = part.map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
    const { data } = await patiently(session, () => session.client.tokenTransfers.plan({ ...terms, recipients }))
    for (const [i, row] of part.entries()) {
      const { status, reason, note } = data.recipients[i] ?? { status: 'left_out', reason: null, note: null }
      if (status === 'left_out') leaveOut(row, reason, note)
      row.opens = status === 'to_open'
    }
    forecast = {
      tokenProgram: data.token_program,
      decimals: data.decimals,
      source: data.source,
      held: BigInt(data.held),
      lamports: BigInt(data.lamports),
      rentPerAccount: BigInt(data.rent_per_account),
      transferFee: data.transfer_fee,
      fits: data.fits,
    }
    bar(at + part.length, open.length)
  }
  session.ui.clear()
  return forecast
}

/** Rows for which nothing is left to do. */
const STATUS_OF: Readonly<Record<string, SendRow['status']>> = {
  claimed: 'claimed',
  frozen_already: 'sent already',
  not_frozen: 'sent already',
}

export function leaveOut(row: SendRow, reason: TransferFault | string | null, note: string | null): void {
  Object.assign(row, {
    status: STATUS_OF[reason ?? ''] ?? 'left out',
    note: note ?? 'the API does not say why',
  })
}

/** Batches of wallets with token accounts, of which more fit, and then batches of wallets without. */
export function batchesOf(rows: readonly SendRow[], fits: { ready: number; to_open: number }): SendRow[][] {
  const open = rows.filter(({ status }) => status === 'to send')
  return [
    ...chunked(
      open.filter(({ opens }) => !opens),
      fits.ready,
    ),
    ...chunked(
      open.filter(({ opens }) => opens),
      fits.to_open,
    ),
  ]
}

function chunked<T>(items: readonly T[], size: number): T[][] {
  const step = Math.max(1, size)
  return Array.from({ length: Math.ceil(items.length / step) }, (_, i) => items.slice(i * step, (i + 1) * step))
}
