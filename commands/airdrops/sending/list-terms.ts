/** What the commands that send a list share: the list and its flags, and what is refused before anything is signed. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { EntryList } from '../../../src/merkle/entry-list.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { groupedDecimalOf } from '../../cli/amounts.ts'
import { readStateFile } from '../../cli/state-file.ts'
import type { ListToken } from '../../merkle/list-units.ts'
import type { ActingVault } from '../../signing/wallet.ts'
import { failure, usage } from '../../ui/problem.ts'
import type { SendTermsOfList } from './journal.ts'
import type { SendForecast } from './rows.ts'

export const SENDS_FOLDER = 'sends'

export interface ListToSend {
  /** The file, or the airdrop, as messages name it. */
  name: string
  token: ListToken
  list: EntryList
  /** Whether the file has raw units, as its receipt then does. */
  isRaw?: boolean
  journal: string
  /** The journal of its proposals, if a vault sends it. */
  proposals: string
  airdrop_id?: string
}

export interface SendFlags {
  keypair?: string | undefined
  squads?: ActingVault | undefined
  tx_version?: '0' | '1' | undefined
  dry_run: boolean
  signed: boolean
  again: boolean
  sign_unseen?: boolean
  trust_journal: boolean
  allow_programs: boolean
  accept_transfer_fee: boolean
  out?: string | undefined
}

/** The same list under another journal would pay everybody a second time, whoever the sender is. */
export function refuseOtherJournal(
  known: string,
  { journal, name }: Pick<ListToSend, 'journal' | 'name'>,
  { done, again } = { done: 'sent', again: 'pays every wallet of the list once more' },
): void {
  const { journal: earlier } = Object(readStateFile(known)) as { journal?: unknown }
  if (typeof earlier !== 'string') return
  const isSame = earlier === resolve(journal)
  if (isSame && existsSync(journal)) return
  const lost = existsSync(earlier) ? '' : ', which is gone'
  throw usage(`the list of ${name} was ${done} before, by the journal ${earlier}${lost}`, {
    param: '--journal',
    next: `${lost === '' ? `continue with --journal ${earlier}` : 'restore it'}; --again ${again}`,
  })
}

export function requireTokens(
  { payer, mint }: SendTermsOfList,
  need: bigint,
  { held, decimals, source }: Pick<SendForecast, 'held' | 'decimals' | 'source'>,
): void {
  if (held >= need) return
  const missing = groupedDecimalOf(need - held, decimals)
  throw failure(
    `${payer} holds ${groupedDecimalOf(held, decimals)} of ${mint}, and ${groupedDecimalOf(need, decimals)} are to be sent`,
    {
      next:
        mint === WRAPPED_SOL
          ? `wrap ${missing} SOL of ${payer} first, as \`spl-token wrap\` does (token account ${source}); \`svc wallet send\` sends SOL itself`
          : `send ${missing} more to ${payer} (token account ${source})`,
      details: { have: String(held), need: String(need) },
    },
  )
}
