/** `svc nfts mint --from`: mints every row of a CSV once, however often the command is interrupted and run again. */
import { uriWarnings } from '../../src/api/uris.ts'
import { solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { FAILED_WORDS, rowsOutcome } from '../lists/outcome.ts'
import { refuseStandardInput, runList } from '../lists/run.ts'
import { readKey } from '../merkle/built-record.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { checkedBuild, signingFor } from '../signing/demand.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { canPay, fundsOf, requireFunds, timesOf, totalLines } from '../signing/funds.ts'
import { failureLines, previewLine } from '../signing/preview.ts'
import { forecastOf, wouldFail } from '../signing/run-failures.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { type MintRow, planMints, refuseOwners } from './list-plan.ts'
import { mintJournal } from './mint-journal.ts'
import { demandsMint, type MintList, type MintRun, mintBody, mintOpen } from './mint-rows.ts'
import { readNftRows } from './rows.ts'

export async function mintAll(session: Session, flags: SigningFlags, list: MintList): Promise<CommandOutcome> {
  const { collection, file } = list
  if (flags.build_only) throw usage('--build-only prints one transaction; with --from there are many')
  refuseStandardInput(file, '--from')
  readKey(collection, '--collection')
  const listed = await readNftRows(file)
  const payer = await signingWallet(session, flags)
  const cluster = await session.cluster()
  if (!flags.dry_run) refuseUnconfirmable(session, cluster)
  const { name } = await requireAuthority(session, collection, payer)
  const [insecure, ...others] = listed.flatMap(({ uri, line }) => uriWarnings({ [`${file}:${line}`]: uri }))
  if (insecure !== undefined)
    session.ui.warn(others.length === 0 ? insecure : `${insecure} (and ${others.length} more)`)
  await refuseOwners(session, list, listed, payer)
  const journal = mintJournal(list.journal ?? `${file}.mint.json`, { collection, payer, cluster })
  journal.refuseWhileHeld()
  let rows = await planMints(session, journal, { payer, listed })
  const open = rows.filter(({ status }) => status === 'to mint')

  const run = { list, payer, journal }
  const question = `Mint ${counted(open.length, 'NFT')} into ${name}`
  let wouldSucceed = true
  return runList(session, flags, {
    question,
    isOpen: open.length > 0,
    begin: () => journal.begin(),
    async preview() {
      wouldSucceed = await previewMints(session, question, run, { rows, open, isDryRun: flags.dry_run })
    },
    async work() {
      // Another run may have minted during the confirmation.
      rows = await planMints(session, journal, { payer, listed, before: rows })
      await mintOpen(session, flags, run, rows)
    },
    outcome(notes) {
      const outcome = mintListOutcome(rows, list, journal.file, notes)
      return wouldSucceed ? outcome : { ...outcome, exitCode: EXIT.failed }
    },
  })
}

/** Throws a usage problem if the payer may not mint into the collection; checked before anything is written. */
export async function requireAuthority({ client }: Session, address: string, payer: string) {
  const collection = (await client.collections.get({ address })).data
  const { update_authority, update_delegates, cosigned } = collection
  if (cosigned || update_authority === payer || update_delegates.includes(payer)) return collection
  throw usage(`${update_authority} is the update authority of ${address}: ${payer} may not mint into it`, {
    param: '--collection',
    next: 'give its keypair with -k FILE, or have yours made a delegate of the collection',
  })
}

const textsOf = ({ name, uri }: MintRow) => Buffer.byteLength(name) + Buffer.byteLength(uri)

/** Shows the cost of the dearest mint, measured by simulating it, and of all; false if that simulation failed. */
async function previewMints(
  session: Session,
  question: string,
  { list, payer, journal }: MintRun,
  { rows, open, isDryRun }: { rows: readonly MintRow[]; open: readonly MintRow[]; isDryRun: boolean },
): Promise<boolean> {
  // The asset with the longest texts pays the most rent.
  const [first] = open.toSorted((a, b) => textsOf(b) - textsOf(a))
  if (first === undefined) return true
  const body = mintBody(list, payer, first)
  const { transaction } = (await session.client.nfts.create({ ...body, dry_run: true })).data
  const demand = await demandsMint(signingFor(session, payer), body)
  const forecast = await forecastOf(session, await checkedBuild(session, transaction, demand), payer)
  const { cluster, simulation, fault } = forecast
  const funds = timesOf(await fundsOf(session, [transaction]), open.length)
  const change = simulation.balance_changes.find(({ address, mint }) => address === payer && mint === null)
  const cost = change === undefined ? null : -BigInt(change.change)
  await session.ui.preview([
    question,
    previewLine('cluster', cluster ?? 'only the API knows'),
    previewLine('signer', payer),
    previewLine('checked', `here, each before it is signed: ${demand.says}`),
    previewLine('rows', `${rows.length}, of which ${rows.length - open.length} are minted already`),
    ...(cost === null ? [] : [previewLine('each', `${solOf(cost)} SOL`)]),
    ...totalLines(funds, payer),
    previewLine('journal', journal.file),
    ...(fault === null ? [] : failureLines(simulation, fault)),
  ])
  if (isDryRun) return fault === null && canPay(funds)
  requireFunds(funds, cluster)
  if (fault !== null) throw wouldFail(forecast, fault)
  return true
}

function mintListOutcome(
  rows: readonly MintRow[],
  { collection, file }: MintList,
  journal: string,
  notes: readonly string[],
): CommandOutcome {
  // The seed is final only once the journal is written.
  const addressOf = ({ asset, status }: MintRow) => (status === 'to mint' ? null : asset)
  return rowsOutcome({
    rows,
    journal,
    fields: { collection },
    statuses: [
      ['minted', 'minted', 'minted'],
      ['there already', 'there_already', 'there already'],
      ['submitted', 'submitted', 'submitted and not waited for'],
      ['to mint', 'to_mint', 'to mint'],
      ['failed', 'failed', FAILED_WORDS],
    ],
    records: [
      'nfts',
      (row) => {
        const { line, name, owner, status, error } = row
        return { line, name, owner, asset: addressOf(row), status, error }
      },
    ],
    columns: ['line', 'name', 'asset', 'status'],
    cells: (row) => [row.line, row.name, addressOf(row), row.status],
    noteOf: ({ line, error }) => (error === null ? null : `${file}:${line}:1: ${error}`),
    isLong: true,
    notes,
    isDone: rows.every(({ status }) => status !== 'failed'),
  })
}
