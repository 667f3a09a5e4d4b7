/** Checks that the wallets of a list can claim, before its tree is stored: the API refuses the same when the airdrop is created. */
import { type EntryList, entryAt } from '../../src/merkle/entry-list.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'

/** The most wallets of one request, and the most that a message names. */
const ROWS_PER_PLAN = 500
const MOST_NAMED = 5
/**
 * Longer lists take so many requests that only a dry run reads them: the API reads every wallet once the tree is stored,
 * before anything is on chain.
 */
const MOST_READ = 10_000
/** Addresses that are not wallets; what else is wrong can still be put right by the owner. */
const NOT_WALLETS: readonly (string | null)[] = ['token_account', 'off_curve', 'program_owned']

interface ListToClaim {
  file: string
  payer: string
  mint: string
  allow_programs: boolean
  list: EntryList
  isDryRun: boolean
}

/**
 * Throws a usage problem for addresses that are not wallets, and warns of token accounts that are stolen, frozen or
 * closed to transfers.
 */
export async function requireClaimants(session: Session, of: ListToClaim): Promise<void> {
  const { file, list, isDryRun, ...terms } = of
  if (list.count > MOST_READ && (!isDryRun || terms.allow_programs)) return
  const refused: string[] = []
  const doubtful: string[] = []
  const bar = session.ui.progress('Reading the chain')
  for (let at = 0; at < list.count; at += ROWS_PER_PLAN) {
    const size = Math.min(ROWS_PER_PLAN, list.count - at)
    const recipients = Array.from({ length: size }, (_, i) => ({ wallet: entryAt(list, at + i).wallet, amount: '1' }))
    const { data } = await patiently(session, () =>
      session.client.tokenTransfers.plan({ ...terms, accept_transfer_fee: true, recipients }),
    )
    for (const [i, { reason, note }] of data.recipients.entries()) {
      if (reason === null || reason === 'sender') continue
      const line = `entries.${at + i}.wallet: ${printable(note ?? reason)}`
      // With the flag, the API takes any address.
      if (NOT_WALLETS.includes(reason) && !terms.allow_programs) refused.push(line)
      else doubtful.push(line)
    }
    bar(at + size, list.count)
  }
  session.ui.clear()
  for (const line of doubtful.slice(0, MOST_NAMED)) session.ui.warn(`${file}: ${line}`)
  if (doubtful.length > MOST_NAMED)
    session.ui.warn(`${file}: ${counted(doubtful.length - MOST_NAMED, 'more wallet')} cannot receive now`)
  if (refused.length === 0) return
  throw usage(`${file}: ${refused[0]}`, {
    param: '<file>',
    lines: [...refused.slice(0, 100), `${refused.length} of ${list.count} are not wallets; nothing was stored`],
    details: { count: refused.length },
  })
}
