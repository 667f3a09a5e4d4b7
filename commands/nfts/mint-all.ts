/** `svc nfts mint --from`: mints every row of a CSV once, however often the command is interrupted and run again. */
import { uriWarnings } from '../../src/api/uris.ts'
import { solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import { readKey } from '../merkle/built-record.ts'
import type { Session } from '../session.ts'
import { confirmOn, refuseUnconfirmable } from '../signing/confirm.ts'
import { checkedBuild, signingFor } from '../signing/demand.ts'
import { DEMANDS } from '../signing/demands.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { failureLines, previewLine } from '../signing/preview.ts'
import { forecastOf, wouldFail } from '../signing/run-failures.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { mintListOutcome } from './list-outcome.ts'
import { type MintRow, planMints, refuseGone, refuseOwners, withAddresses } from './list-plan.ts'
import { keyRows, mintJournal } from './mint-journal.ts'
import { type MintList, mintBody, mintOpen } from './mint-rows.ts'
import { readRows } from './rows.ts'

export async function mintAll(session: Session, flags: SigningFlags, list: MintList): Promise<CommandOutcome> {
  if (flags.build_only) throw usage('--build-only prints one transaction; with --from there are many')
  if (list.file === '-') {
    throw usage('--from needs a file: a list from standard input could not be read again', { param: '--from' })
  }
  readKey(list.collection, '--collection')
  const parsed = await readRows(list.file)
  const payer = await signingWallet(session, flags)
  if (!flags.dry_run) refuseUnconfirmable(session, await session.cluster())
  const { name } = await requireAuthority(session, list.collection, payer)
  const [insecure, ...others] = parsed.flatMap(({ uri, line }) => uriWarnings({ [`${list.file}:${line}`]: uri }))
  if (insecure !== undefined)
    session.ui.warn(others.length === 0 ? insecure : `${insecure} (and ${others.length} more)`)
  await refuseOwners(session, list, parsed, payer)
  const journal = mintJournal(list.journal ?? `${list.file}.mint.json`)
  const terms = { collection: list.collection, payer, cluster: await session.cluster() }
  const planned = await planMints(session, journal.file, keyRows(journal, terms, parsed, { write: false }))
  const open = planned.filter(({ status }) => status === 'to mint')
  const [first] = open
  if (first === undefined) return mintListOutcome(planned, list, journal.file)

  const question = `Mint ${open.length} NFT${open.length === 1 ? '' : 's'} into ${name}`
  const preview = { list, payer, rows: planned, first, journal: journal.file, isDryRun: flags.dry_run }
  const wouldSucceed = await previewMints(session, question, preview)
  if (flags.dry_run) {
    const notes = ['Nothing was signed with your keypair, and nothing was sent.']
    const outcome = mintListOutcome(planned, list, journal.file, notes)
    return wouldSucceed ? outcome : { ...outcome, exitCode: EXIT.failed }
  }
  await confirmOn(session, question, await session.cluster())
  // The CSV is checked again before the journal is written, because it may have lost a row during the confirmation.
  const { gone, sentAt } = keyRows(journal, terms, parsed, { write: false })
  await refuseGone(session, journal.file, await withAddresses(session, gone), sentAt)
  const keyed = { ...keyRows(journal, terms, parsed, { write: true }), gone: [] }
  const rows = await planMints(session, journal.file, keyed, planned)
  await mintOpen(session, flags, { list, payer, journal }, rows)
  return mintListOutcome(rows, list, journal.file)
}

/** Throws a usage problem where the payer may not mint into the collection; checked before anything is written. */
async function requireAuthority({ client }: Session, address: string, payer: string) {
  const collection = (await client.collections.get({ address })).data
  const { update_authority, update_delegates, cosigned } = collection
  if (cosigned || update_authority === payer || update_delegates.includes(payer)) return collection
  throw usage(`${update_authority} is the update authority of ${address}: ${payer} may not mint into it`, {
    param: '--collection',
    next: 'give its keypair with -k FILE, or have yours made a delegate of the collection',
  })
}

interface MintPreview {
  list: MintList
  payer: string
  rows: readonly MintRow[]
  first: MintRow
  journal: string
  isDryRun: boolean
}

/** Shows the cost of one mint, measured by simulating the first, and of all; false where that simulation failed. */
async function previewMints(
  session: Session,
  question: string,
  { list, payer, rows, first, journal, isDryRun }: MintPreview,
): Promise<boolean> {
  const { transaction } = (await session.client.nfts.create({ ...mintBody(list, payer, first), dry_run: true })).data
  const demand = await DEMANDS['nfts mint'](signingFor(session, payer), mintBody(list, payer, first))
  const forecast = await forecastOf(session, await checkedBuild(session, transaction, demand), payer)
  const { cluster, simulation, fault } = forecast
  const open = rows.filter(({ status }) => status === 'to mint').length
  const change = simulation.balance_changes.find(({ address, mint }) => address === payer && mint === null)
  const cost = change === undefined ? null : -BigInt(change.change)
  await session.ui.preview([
    question,
    previewLine('cluster', cluster ?? 'only the API knows'),
    previewLine('signer', payer),
    previewLine('checked', `here, each before it is signed: ${demand.says}`),
    previewLine('rows', `${rows.length}, of which ${rows.length - open} are there already`),
    previewLine(
      'cost',
      cost === null ? 'not known' : `${solOf(cost)} SOL for the next, ${solOf(cost * BigInt(open))} SOL or so in all`,
    ),
    previewLine('journal', journal),
    ...(fault === null ? [] : failureLines(simulation, fault)),
  ])
  if (fault === null || isDryRun) return fault === null
  throw wouldFail(forecast, fault)
}
