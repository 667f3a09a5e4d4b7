/** Reads the allowlist of a raise from a CSV, and writes its proofs as a folder of files for any static host. */
import type { Raise } from '../../src/api/raises.ts'
import {
  type AllowlistSummary,
  type AllowlistTree,
  allowanceProofAt,
  allowlistOf,
  allowlistSummary,
  allowlistTree,
  capFault,
  proofText,
} from '../../src/merkle/allowlist.ts'
import { ALLOWLIST_FORM } from '../../src/merkle/column-plan.ts'
import { MAX_STORED_LEAVES } from '../../src/merkle/entry-list.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PRESALE, PRESALE_SEEDS } from '../../src/solana/programs/presale.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import { type ColumnInputs, columnFlags } from '../lists/column-flags.ts'
import { chosenUnits, requireUnits, unitFlags } from '../merkle/list-units.ts'
import { readRecipients } from '../merkle/recipients.ts'
import { previewLine } from '../signing/preview.ts'
import { usage } from '../ui/problem.ts'
import { type PutFile, wholeFolder } from '../ui/whole-folder.ts'
import { counted } from '../ui/words.ts'

/** The flags by which a person says how the file is read. */
export const allowlistFlags = { decimals: unitFlags.decimals, raw: unitFlags.raw, ...columnFlags }

export interface AllowlistFile extends AllowlistTree {
  summary: AllowlistSummary
  /** Merkle root in hex. */
  hex: string
}

/** Throws a usage problem with a line for each fault, and for caps that the program would refuse. */
export async function readAllowlist(
  session: Session,
  file: string,
  { decimals, raw, ...columns }: ColumnInputs & { decimals: number | undefined; raw: boolean },
  raise: Raise,
): Promise<AllowlistFile> {
  const { quote_mint: mint, quote_decimals } = raise
  const token = { mint, decimals: quote_decimals, symbol: mint === WRAPPED_SOL ? 'SOL' : null }
  requireUnits({ decimals }, token)
  const units = (name: string) => chosenUnits(session, { decimals, raw }, { name, token })
  const rows = await readRecipients(file, { ...columns, decimals, mint, units, form: ALLOWLIST_FORM }, session.ui)
  if (rows.list.count > MAX_STORED_LEAVES)
    throw usage(`${rows.list.count} rows are more than the ${MAX_STORED_LEAVES} of one allowlist`)
  const tree = allowlistTree(allowlistOf(rows))
  const summary = allowlistSummary(tree.list)
  const bounds = raise.rounds.map((round) => ({
    ...{ buyerMin: BigInt(round.buyer_min), buyerMax: BigInt(round.buyer_max) },
  }))
  const fault = capFault(summary, bounds)
  if (fault !== null) throw usage(`${file}: ${fault.message}`)
  return { ...tree, summary, hex: toHex(tree.root) }
}

/** A line for each round, such as `round 1   200 wallets, caps from 1 to 5, 420 in all`. */
export const allowlistLines = ({ summary }: AllowlistFile, { quote_decimals, quote_mint }: Raise): string[] =>
  summary.rounds.map(({ round, wallets, least, most, total }) => {
    const shown = (raw: bigint) => groupedDecimalOf(raw, quote_decimals)
    const caps =
      least.cap === most.cap ? `caps of ${shown(most.cap)}` : `caps from ${shown(least.cap)} to ${shown(most.cap)}`
    const unit = quote_mint === WRAPPED_SOL ? 'SOL' : `of ${quote_mint}`
    return previewLine(
      `round ${round}`,
      `${counted(groupedDecimalOf(BigInt(wallets), 0), 'wallet')}, ${caps}, ${shown(total)} ${unit} in all`,
    )
  })

const FOLDER_FORMAT = 'svc-raise-proofs/1'
/** Files that are written at once. */
const AT_ONCE = 64

/** Throws a usage problem unless the folder is new, or one of proofs that may be replaced. */
export const proofFolder = (out: string, replace: boolean) =>
  wholeFolder(out, { replace, kind: 'proofs of a raise', file: 'proofs.json', format: FOLDER_FORMAT })

/** Writes the folder, with `RAISE/REGISTRY/WALLET` for each entry. */
export async function writeProofs(
  folder: Awaited<ReturnType<typeof proofFolder>>,
  list: AllowlistFile,
  { raise, version }: { raise: string; version: number },
): Promise<void> {
  const about = { format: FOLDER_FORMAT, raise, root: list.hex, root_version: version, entries: list.list.count }
  await folder.write(async (put) => {
    await put('proofs.json', `${JSON.stringify(about, undefined, 2)}\n`)
    await putProofs((path, content) => put(`${raise}/${path}`, content), list, await configOf(raise, version))
  })
}

/** Writes `REGISTRY/WALLET` for each entry, as clients of the program ask for it; registries count from 0. */
export async function putProofs(put: PutFile, list: AllowlistFile, config: string): Promise<void> {
  for (let from = 0; from < list.list.count; from += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, list.list.count - from) }, (_, i) => from + i)
    await Promise.all(
      indexes.map((index) => {
        const found = allowanceProofAt(list, index)
        return put(`${found.round - 1}/${found.wallet}`, proofText(config, found))
      }),
    )
  }
}

/** The address of the root of a raise with this version. */
export async function configOf(raise: string, version: number): Promise<string> {
  const { deriveAddress } = await import('../../src/solana/program-addresses.ts')
  return deriveAddress(PRESALE.id, ...PRESALE_SEEDS.merkleRoot(raise, BigInt(version))).address
}
