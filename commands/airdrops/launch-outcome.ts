/** The result of a launch for each airdrop, as records and as a table, with how to fund a vault that lacks tokens. */
import { decimalOf, wholeOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { ListToken } from '../merkle/list-units.ts'
import { proposalNotes } from './launch-proposals.ts'
import { isFunded, type LaunchPart } from './parts.ts'
import { fundingWords } from './vault-words.ts'

export function launchOutcome(
  parts: readonly LaunchPart[],
  { decimals }: Pick<ListToken, 'decimals'>,
  { notes, isProposed }: { notes: readonly string[]; isProposed: boolean },
): CommandOutcome {
  const rows = parts.map((part) => ({
    id: part.record.id,
    mint: part.record.mint,
    airdrop_count: part.record.airdrop_count,
    root: part.record.root,
    leaf_count: part.record.leaf_count,
    total: part.record.total,
    list_sha256: part.record.list_sha256,
    distributor: part.distributor,
    funded: isFunded(part),
    missing: String(part.missing),
    signature: part.signature ?? part.proposal?.signature ?? null,
    ...(isProposed ? proposalFields(part) : {}),
  }))
  const columns = [
    ...(['id', 'airdrop_count', 'root', 'leaf_count', 'total', 'distributor', 'funded', 'signature'] as const),
    ...(isProposed ? (['proposal', 'proposal_status'] as const) : []),
  ]
  const table = {
    columns: ['no', 'id', 'wallets', 'tokens', 'root', 'distributor', 'funded', ...(isProposed ? ['proposal'] : [])],
    rows: rows.map(({ id, airdrop_count, leaf_count, total, root, distributor, funded, ...row }) => [
      airdrop_count,
      id,
      leaf_count,
      wholeOf(total, decimals),
      root,
      distributor,
      funded ? 'yes' : 'no',
      ...('proposal_status' in row ? [row.proposal_status ?? ''] : []),
    ]),
  }
  return {
    data: rows,
    rows: { columns, rows: rows.map((row) => columns.map((column) => row[column])) },
    table,
    notes: [
      ...notes,
      ...proposalNotes(parts),
      // The API's note says more than the missing sum: it says whether tokens sent to that vault could be recovered.
      ...parts.flatMap((part) => partNotes(part, decimals)),
    ],
  }
}

/** Null without a proposal; `execute_before` is the start of the airdrop. */
const proposalFields = ({ proposal }: LaunchPart) => ({
  proposal: proposal?.id ?? null,
  proposal_status: proposal?.status ?? null,
  transaction_index: proposal?.approver.kind === 'squads' ? proposal.approver.transaction_index : null,
  execute_before: proposal?.expires_at ?? null,
})

/** Notes of one airdrop. How to fund its vault is shown only if the rest of the vault would return to the payer. */
function partNotes(
  { record, note, missing, isFundable, distributor, wayBack }: LaunchPart,
  decimals: number,
): string[] {
  const way =
    missing > 0n && isFundable && distributor !== null
      ? [fundingWords(record.mint, distributor, decimalOf(missing, decimals))]
      : []
  return [
    ...(note === null ? [] : [`Airdrop ${record.airdrop_count}: ${note}`]),
    ...way,
    ...(wayBack === null ? [] : [wayBack]),
  ]
}
