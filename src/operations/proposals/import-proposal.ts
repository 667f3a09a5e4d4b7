/** Takes up a proposal that was made elsewhere: reads it from the chain, decodes it, and follows it from then on. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { requireProgram } from '../../chain/programs/required-program.ts'
import { innerTransaction, readProposal } from '../../chain/programs/squads/index.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { PROGRAMS, programName } from '../../solana/programs.ts'
import { addressesOf, type PinnedMessage } from '../../solana/squads/index.ts'
import { findProposal, insertProposal, proposalsAt } from '../../store/proposals/proposals.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { lookAtProposal } from './follow-proposals.ts'
import { loadProposalRecord } from './proposal-record.ts'
import { transactionWords } from './squads/act-words.ts'
import { rehearseChanges } from './squads/creation.ts'
import { planRow } from './squads/plan-row.ts'
import { differenceOf, isUnsent } from './squads/proposal-state.ts'

type ImportProposalRoute = Api['proposals']['import']

export async function importProposal(
  context: Context,
  { multisig: address, transaction_index: text }: Input<ImportProposalRoute>,
): Promise<Result<ImportProposalRoute>> {
  const { store, chain, clock } = context
  await requireProgram(chain, PROGRAMS.squads)
  const index = BigInt(text)
  const { multisig, proposal, transaction } = await readProposal(chain, address, index)
  if (transaction === null || proposal === null) {
    throw notFound(
      `The multisig ${address} has no proposal ${text}${index > multisig.transactionIndex ? `: its last one is ${multisig.transactionIndex}` : ': it was closed'}`,
      { param: 'transaction_index' },
    )
  }
  const genesis = await chain.genesisHash()
  const known = (await proposalsAt(store.db, { genesis, multisig: address, index: Number(index) })).find(
    (row) => differenceOf(row, transaction) === null,
  )
  if (known !== undefined) {
    context.status = 200
    await lookAtRenewed(context, known)
    return loadProposalRecord(store.db, await onChainRow(store.db, known))
  }
  const { vaultIndex, ephemeralSigners, message, creator } = transaction
  const executed = { multisig: address, index, vaultIndex, ephemeralSigners, message }
  const isOpen = proposal.status === 'active' || proposal.status === 'approved'
  const forecast = isOpen ? await rehearseChanges(context, executed) : null
  const wire = await innerTransaction(executed)
  const row = planRow(context, {
    genesis,
    multisig,
    executed,
    member: creator,
    transaction: wire,
    operation: 'POST /v2/proposals/imports',
    what: transactionWords(
      whatOf(message),
      { message: decodeWireTransaction(wire).message },
      new Map([[message.keys[0] ?? '', 'this vault']]),
    ),
    askedBy: null,
    request: null,
    subject: null,
    tracked: undefined,
    forecast,
    // The first look finds its state, with the decisions about it.
    nextLookAt: clock.now(),
  })
  if (context.dryRun) return context.commit(async (tx) => loadProposalRecord(tx, await insertProposal(tx, row)))
  const stored = await store.write((tx) => insertProposal(tx, row))
  await lookAtRenewed(context, stored)
  return context.commit(async (tx) => loadProposalRecord(tx, await onChainRow(tx, stored)))
}

/** Looks at a plan, and at the later one of another request to which it has given way. */
async function lookAtRenewed(context: Context, row: Row<'proposals'>): Promise<void> {
  const { status, renewed_by } = await lookAtProposal(context, row)
  const later = status === 'expired' && renewed_by !== null ? await findProposal(context.store.db, renewed_by) : null
  if (later !== null && later.seq > row.seq) await lookAtRenewed(context, later)
}

/** Another request may have taken it up at the same time: returns the plan that is on the chain, or the row as it is now. */
async function onChainRow(reader: Reader, row: Row<'proposals'>): Promise<Row<'proposals'>> {
  const { genesis, multisig, transaction_index: index, id } = row
  if (multisig === null || index === null) return row
  const all = await proposalsAt(reader, { genesis, multisig, index })
  return all.find(({ status }) => !isUnsent(status)) ?? all.find((one) => one.id === id) ?? row
}

/** The programs that it calls, in their order. */
function whatOf(message: PinnedMessage): string {
  const addresses = addressesOf(message)
  const names = message.instructions.map(({ programIdIndex }) => programName(addresses[programIdIndex] ?? ''))
  const shown = [...new Set(names)].slice(0, 5).join(', ')
  const count = message.instructions.length
  return `${count} instruction${count === 1 ? '' : 's'} of another client, for ${shown}`
}
