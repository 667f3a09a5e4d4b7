/** `svc fees claim --all`: claims from every pool that holds fees, one after another; failures are reported and left for the next run. */
import type { Beneficiary, FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { type Session, sessionWith } from '../cli/session.ts'
import { confirmOn } from '../signing/confirm.ts'
import { platformAddress } from '../signing/platform-wallet.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { EXIT } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { amountTexts } from './amounts.ts'
import { type ClaimRow, claimableFees, failedClaim, solIn } from './claimable.ts'
import { type ClaimRunFlags, claimFees } from './one-claim.ts'

export type ClaimAllFlags = ClaimRunFlags & {
  kind?: FeeClaimKind | undefined
  as?: Beneficiary | undefined
  owner?: string | undefined
  min?: string | undefined
}

/** Claims of one pool whose positions do not fit in one transaction. */
const MOST_PARTS = 50

/** Each run reads from the chain what is left to claim, so that no state has to be stored between runs. */
export async function claimAll(
  session: Session,
  input: ClaimAllFlags,
  splits: readonly Split[] | undefined,
): Promise<CommandOutcome> {
  const { ui } = session
  const least = input.min === undefined ? 0n : rawUnits(input.min, LAMPORT_DECIMALS, '--min')
  const kind = splits === undefined ? input.kind : 'dbc'
  const payer = input.signed ? await platformAddress(session) : await signingWallet(session, input)
  // A creator's positions in its pools belong to the wallet that signs.
  const owner = input.owner ?? (input.as === 'creator' ? payer : undefined)
  const rows = await claimableFees(session, { kind, beneficiary: input.as, owner, least, payer })
  const open = rows.filter(({ status }) => status === 'to claim')
  if (input.dry_run || open.length === 0) {
    return claimsOutcome(rows, open.length === 0 ? [] : ['Nothing was signed, and nothing was sent.'])
  }
  const question = `Claim ${kind === 'surplus' ? 'the surplus' : 'fees'} of ${countOf(open)}, ${solOf(sumOf(open))} SOL together`
  const width = Math.max(...open.map(({ kind }) => kind.length))
  await ui.preview([
    question,
    ...open.map((row) => `  ${row.pool_address}  ${row.kind.padEnd(width)}  ${amountsOf(row)}`),
  ])
  await confirmOn(session, question, await session.cluster())
  const quiet = sessionWith(session, {
    ui: {
      ...ui,
      interactive: false,
      attended: false,
      confirmable: true,
      preview: async () => undefined,
      confirm: async () => false,
    },
  })
  for (const [i, row] of open.entries()) {
    ui.note(`${i + 1} of ${open.length}  ${row.pool_address}  ${row.kind}`)
    session.setInterruptNote(`${i} of ${open.length} were tried; run it again for the rest`)
    rows.push(...(await claimParts(quiet, { ...input, owner }, row, splits)))
  }
  session.setInterruptNote(null)
  return claimsOutcome(rows)
}

/** Claims one row, and goes on while positions are left. Returns the rows of the further claims. */
async function claimParts(
  session: Session,
  input: ClaimAllFlags,
  row: ClaimRow,
  splits: readonly Split[] | undefined,
): Promise<ClaimRow[]> {
  const further: ClaimRow[] = []
  let { remaining, ...claimed } = await claimOne(session, input, row, splits)
  Object.assign(row, claimed)
  while (remaining > 0 && further.length < MOST_PARTS) {
    const next: ClaimRow = { ...row, amounts: {}, estimated_quote: null, signature: null, error: null }
    ;({ remaining, ...claimed } = await claimOne(session, input, next, splits))
    further.push(Object.assign(next, claimed))
  }
  return further
}

/** Claims one pool. A failure is stored in its row, so that the others continue. */
async function claimOne(
  session: Session,
  input: ClaimAllFlags,
  { pool_address: address, kind }: ClaimRow,
  splits: readonly Split[] | undefined,
): Promise<Partial<ClaimRow> & { remaining: number }> {
  const owner = kind === 'damm_v2' ? input.owner : undefined
  try {
    const { data } = await claimFees(session, input, { address, kind, beneficiary: input.as, owner, splits })
    const claimed = data as { signature: string; estimated_quote?: string; lifecycle: string }
    const { signature, estimated_quote = '0', lifecycle } = claimed
    const remaining = Number((data as { remaining_positions?: number }).remaining_positions ?? 0)
    return { signature, estimated_quote, status: lifecycle === 'submitted' ? 'submitted' : 'claimed', remaining }
  } catch (error) {
    return { ...failedClaim(error), remaining: 0 }
  }
}

const countOf = (rows: readonly ClaimRow[]) => {
  const pools = new Set(rows.map(({ pool_address }) => pool_address)).size
  return `${pools} pool${pools === 1 ? '' : 's'}`
}
const sumOf = (rows: readonly ClaimRow[]) => rows.reduce((sum, row) => sum + solIn(row), 0n)
const amountsOf = ({ amounts, estimated_quote }: ClaimRow): string =>
  estimated_quote === null ? '-' : amountTexts({ ...amounts, estimated_quote }).join(', ')

function claimsOutcome(rows: readonly ClaimRow[], notes: readonly string[] = []): CommandOutcome {
  const of = (status: ClaimRow['status']) => rows.filter((row) => row.status === status)
  const [open, claimed, submitted, broken] = [of('to claim'), of('claimed'), of('submitted'), of('failed')]
  const parts = [
    ...(open.length === 0 ? [] : [`${open.length} to claim, ${solOf(sumOf(open))} SOL`]),
    ...(claimed.length === 0 ? [] : [`${claimed.length} claimed, ${solOf(sumOf(claimed))} SOL`]),
    ...(submitted.length === 0 ? [] : [`${submitted.length} submitted and not waited for: svc tx watch SIGNATURE`]),
    ...(broken.length === 0 ? [] : [`${broken.length} failed: run it again for what is still there`]),
  ]
  const columns = ['pool', 'kind', 'amount', 'signature', 'status', 'error'] as const
  return {
    data: {
      claims: rows.map(({ amounts: { quote_mint, base_mint, estimated_base, estimated_lamports }, ...row }) => ({
        ...row,
        ...(quote_mint === undefined ? {} : { quote_mint, base_mint, estimated_base, estimated_lamports }),
      })),
      claimed: claimed.length,
      failed: broken.length,
      claimed_quote: String(sumOf(claimed)),
    },
    rows: {
      columns,
      rows: rows.map((row) => [row.pool_address, row.kind, row.estimated_quote, row.signature, row.status, row.error]),
    },
    ...(rows.length === 0 ? { text: 'No pool holds fees to claim.' } : { table: claimsTable(rows) }),
    ...(broken.length === 0 ? {} : { text: broken.map(failureLine).join('\n') }),
    notes: [...(rows.length === 0 ? [] : [`${parts.join('; ')}.`]), ...notes],
    exitCode: broken.length === 0 ? EXIT.done : EXIT.failed,
  }
}

/** The table for a terminal, with amounts in SOL and tokens; each failure has its own line below. */
const claimsTable = (rows: readonly ClaimRow[]) => ({
  columns: ['pool', 'symbol', 'kind', 'amount', 'status', 'signature'],
  rows: rows.map((row) => [row.pool_address, row.symbol, row.kind, amountsOf(row), row.status, row.signature]),
})

const failureLine = ({ pool_address, kind, error }: ClaimRow) => `${pool_address} ${kind}: ${printable(error ?? '')}`
