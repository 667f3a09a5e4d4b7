/** `svc nfts mint --from`: every row of a CSV minted once, however often the command is interrupted and run again. */
import { decimalOf, LAMPORT_DIGITS } from '../amounts.ts'
import type { Outcome, Session } from '../command.ts'
import { readKey } from '../merkle/summary.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { failureLines, pair } from '../signing/preview.ts'
import { confirmOn, faultOf, refuseUnasked, wouldFail } from '../signing/sign-and-submit.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { planRows } from './journal.ts'
import { outcomeOf } from './list-outcome.ts'
import { keyed, plan, type Row, refuseGone } from './list-plan.ts'
import { bodyOf, type List, mintOpen } from './mint-rows.ts'
import { readRows } from './rows.ts'

export async function mintAll(session: Session, flags: SigningFlags, list: List): Promise<Outcome> {
  if (flags.build_only) throw usage('--build-only prints one transaction; with --from there are many')
  if (list.file === '-') {
    throw usage('--from needs a file: a list from standard input could not be read again', { param: '--from' })
  }
  readKey(list.collection, '--collection')
  const parsed = await readRows(list.file)
  const payer = await session.wallet.address(flags.keypair)
  if (!flags.dry_run) refuseUnasked(session, await session.cluster())
  const { name } = await requireAuthority(session, list.collection, payer)
  const journal = list.journal ?? `${list.file}.mint.json`
  const run = { collection: list.collection, payer, cluster: await session.cluster() }
  const foreseen = await plan(session, journal, planRows(journal, run, parsed, false))
  const open = foreseen.filter(({ status }) => status === 'to mint')
  const [first] = open
  if (first === undefined) return outcomeOf(foreseen, list, journal)

  const what = `Mint ${open.length} NFT${open.length === 1 ? '' : 's'} into ${name}`
  const isFine = await previewed(session, what, { list, payer, rows: foreseen, first, journal, isDry: flags.dry_run })
  if (flags.dry_run) {
    const notes = ['Nothing was signed with your keypair, and nothing was sent.']
    const outcome = outcomeOf(foreseen, list, journal, notes)
    return isFine ? outcome : { ...outcome, exitCode: EXIT.failed }
  }
  await confirmOn(session, what, await session.cluster())
  // Nothing is written before it is known that no row was lost meanwhile.
  const { gone, sentAt } = planRows(journal, run, parsed, false)
  await refuseGone(session, journal, await keyed(session, gone), sentAt)
  const rows = await plan(session, journal, { ...planRows(journal, run, parsed, true), gone: [] }, foreseen)
  await mintOpen(session, flags, { list, payer, journal }, rows)
  return outcomeOf(rows, list, journal)
}

/** Before anything is written: a list cannot be minted with signatures that are missing. */
async function requireAuthority({ client }: Session, address: string, payer: string) {
  const collection = (await client.collections.get({ address })).data
  const { update_authority, update_delegates, cosigned } = collection
  if (cosigned || update_authority === payer || update_delegates.includes(payer)) return collection
  throw usage(`${update_authority} is the update authority of ${address}: ${payer} may not mint into it`, {
    param: '--collection',
    next: 'give its keypair with -k FILE, or have yours made a delegate of the collection',
  })
}

interface Preview {
  list: List
  payer: string
  rows: readonly Row[]
  first: Row
  journal: string
  isDry: boolean
}

/** What one costs, measured by a run of the first, and all of them; false where that run failed. */
async function previewed(
  session: Session,
  what: string,
  { list, payer, rows, first, journal, isDry }: Preview,
): Promise<boolean> {
  const { client, wallet, ui } = session
  const { transaction } = (await client.nfts.create({ ...bodyOf(list, payer, first), dry_run: true })).data
  const { data: simulation } = await client.transactions.simulate({ transaction })
  const open = rows.filter(({ status }) => status === 'to mint').length
  const change = simulation.balance_changes.find(({ address, mint }) => address === payer && mint === null)
  const cost = change === undefined ? null : -BigInt(change.change)
  const fault = await faultOf(session, transaction, simulation)
  await ui.preview([
    what,
    pair('cluster', (await session.cluster()) ?? 'only the API knows'),
    pair('signer', payer),
    pair('rows', `${rows.length}, of which ${rows.length - open} are there already`),
    pair(
      'cost',
      cost === null ? 'not known' : `${sol(cost)} SOL for the next, ${sol(cost * BigInt(open))} SOL or so in all`,
    ),
    pair('journal', journal),
    ...(fault === null ? [] : failureLines(simulation, fault)),
  ])
  if (fault === null || isDry) return fault === null
  const content = await wallet.decode(transaction)
  throw wouldFail(fault, { cluster: await session.cluster(), signer: payer, content, simulation })
}

const sol = (lamports: bigint) => decimalOf(lamports, LAMPORT_DIGITS)
