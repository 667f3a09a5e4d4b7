/** The result of a launch for each airdrop, as records and as a table, with how to fund a vault that lacks tokens. */
import { decimalOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { isFunded, type LaunchPart } from './parts.ts'

export function launchOutcome(
  parts: readonly LaunchPart[],
  decimals: number,
  notes: readonly string[] = [],
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
    signature: part.signature,
  }))
  const columns = ['id', 'airdrop_count', 'root', 'leaf_count', 'total', 'distributor', 'funded', 'signature'] as const
  const table = {
    columns: ['no', 'id', 'wallets', 'tokens', 'root', 'distributor', 'funded'],
    rows: rows.map(({ id, airdrop_count, leaf_count, total, root, distributor, funded }) => [
      airdrop_count,
      id,
      leaf_count,
      decimalOf(BigInt(total), decimals),
      root,
      distributor,
      funded ? 'yes' : 'no',
    ]),
  }
  return {
    data: rows,
    rows: { columns, rows: rows.map((row) => columns.map((column) => row[column])) },
    table,
    notes: [
      ...notes,
      // The API's note says more than the missing sum: it says whether tokens sent to that vault could be recovered.
      ...parts.flatMap((part) => partNotes(part, decimals)),
    ],
  }
}

/** Notes of one airdrop. How to fund its vault is shown only if the rest of the vault would return to the payer. */
function partNotes({ record, note, missing, fundableVault }: LaunchPart, decimals: number): string[] {
  const way =
    missing > 0n && fundableVault !== null
      ? [`Fund it: spl-token transfer ${record.mint} ${decimalOf(missing, decimals)} ${fundableVault}`]
      : []
  return [...(note === null ? [] : [`Airdrop ${record.airdrop_count}: ${note}`]), ...way]
}
