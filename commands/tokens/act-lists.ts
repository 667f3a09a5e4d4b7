/** Reads the list of a token's act, and does the act to each of its wallets. */
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import type { ListForm } from '../../src/merkle/column-plan.ts'
import { type EntryList, listFromEntries } from '../../src/merkle/entry-list.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import type { ListedAct } from '../lists/batches/act.ts'
import { doToWallets, type WalletListFlags } from '../lists/batches/list.ts'
import { type ColumnInputs, columnChoices, type ListNotes, withListNotes } from '../lists/column-flags.ts'
import { readListRows } from '../lists/csv.ts'
import { refuseStandardInput } from '../lists/run.ts'
import { listToken } from '../merkle/list-units.ts'
import { readRecipients } from '../merkle/recipients.ts'

interface ActList {
  act: ListedAct
  mint: string
  file: string
  journal: string | undefined
  raw: boolean
  columns: ColumnInputs
}

export async function actOnList(session: Session, flags: WalletListFlags, list: ActList): Promise<CommandOutcome> {
  const { act, mint, file, journal, raw, columns } = list
  refuseStandardInput(file, '--from')
  const token = await listToken(session, mint)
  const decimals = raw ? undefined : token.decimals
  const { list: entries, ...read } =
    act === 'freeze' || act === 'thaw'
      ? await readWallets(session, list)
      : await readRecipients(file, { ...columns, mint, decimals, duplicates: undefined }, session.ui)
  const outcome = await doToWallets(session, flags, {
    act,
    name: file,
    token,
    list: entries,
    isRaw: raw,
    journal: journal ?? `${file}.${act}.jsonl`,
    proposals: journal ?? `${file}.${act === 'send' ? '' : `${act}.`}proposals.json`,
  })
  return withListNotes(outcome, read)
}

/** What holders have decides nothing when their accounts are frozen or thawed. */
const WALLET_FORM: ListForm = { reads: ['wallet'], needs: ['wallet'], leaves: ['amount', 'units'] }

/** Reads a CSV whose first or only column is the wallet; throws a usage problem with line and column of each fault. */
async function readWallets(
  { ui }: Session,
  { file, mint, columns }: ActList,
): Promise<{ list: EntryList } & ListNotes> {
  const known = new Set<string>()
  const format = {
    form: WALLET_FORM,
    choices: columnChoices({ ...columns, mint }),
    example: 'a wallet',
    withoutHeader: () => ['wallet', 'amount'],
  }
  const { rows, notes } = await readListRows(ui, file, format, ({ fields, offset, offsetOf }, faults) => {
    const wallet = String(fields.get('wallet')?.value ?? '')
    const fault =
      walletKey(wallet) === undefined
        ? `not a wallet: ${walletFault(wallet)}`
        : known.has(wallet)
          ? 'is in the list twice'
          : null
    if (fault !== null) faults.push({ offset: offsetOf('wallet'), message: `wallet ${fault}` })
    known.add(wallet)
    return fault === null ? [{ wallet, amount: 0n, offset }] : []
  })
  return { list: listFromEntries(rows), ...notes }
}
