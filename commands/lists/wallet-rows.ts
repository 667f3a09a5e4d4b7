/** Refuses a list that names addresses which are not wallets, before anything is done for any row. */
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import { patiently } from './patience.ts'

/** The most addresses in one request. */
const ADDRESSES_PER_REQUEST = 100
const MOST_FAULTS = 100

export const inRequests = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / ADDRESSES_PER_REQUEST) }, (_, i) =>
    all.slice(i * ADDRESSES_PER_REQUEST, (i + 1) * ADDRESSES_PER_REQUEST),
  )

export async function accountsOf(session: Session, addresses: string[]) {
  if (addresses.length === 0) return []
  return (await patiently(session, () => session.client.accounts.batchFetch({ addresses }))).data.accounts
}

/** Throws a usage problem that names the rows whose wallets are not wallets. `whose` is what a wallet is to its row. */
export async function refuseOthersThanWallets(
  session: Session,
  { file, allow_programs, whose }: { file: string; allow_programs: boolean; whose: 'owner' | 'recipient' },
  rows: readonly { wallet: string; line: number }[],
): Promise<void> {
  const lines: string[] = []
  let isLost = false
  // The module decodes addresses, and help must not load base58.
  const { recipientFault, recipientNote, startOf } = await import('../../src/solana/recipients.ts')
  for (const part of inRequests(rows)) {
    const wallets = part.map(({ wallet }) => wallet)
    const accounts = await accountsOf(session, wallets)
    for (const [i, { wallet, line }] of part.entries()) {
      const account = accounts[i] ?? null
      const kind = account && { ...account, start: startOf(Buffer.from(account.data, 'base64')) }
      const reason = recipientFault(wallet, kind, { allowsPrograms: allow_programs })
      if (reason === null) continue
      isLost ||= reason === 'multisig' || reason === 'squads_account'
      const why = reason === 'multisig' ? `: it ${recipientNote(reason, wallet)}` : ''
      lines.push(`${file}:${line}: the ${whose} ${wallet} is not a wallet (${reason})${why}`)
    }
  }
  if (lines.length === 0) return
  const count = `${lines.length} of ${rows.length} ${whose}s are not wallets`
  throw usage(`${lines[0]}; ${count}`, {
    param: '--from',
    lines: [...lines.slice(0, MOST_FAULTS), count],
    next: isLost
      ? 'name the vault of a multisig instead of its account, and add --allow-programs'
      : 'name the owners of token accounts instead; if a vault of a program is meant, add --allow-programs',
  })
}
