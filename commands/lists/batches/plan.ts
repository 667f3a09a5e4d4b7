/** Divides a list into transactions, none of them signed, and says what they do and cost. */
import { LAMPORTS_PER_SIGNATURE } from '../../../src/solana/fees.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { MAX_U64 } from '../../../src/solana/u64.ts'
import { groupedDecimalOf, solOf } from '../../cli/amounts.ts'
import type { Session } from '../../cli/session.ts'
import type { ShownGuards } from '../../signing/guard-lines.ts'
import { previewLine } from '../../signing/preview.ts'
import { failure, usage } from '../../ui/problem.ts'
import { counted } from '../../ui/words.ts'
import type { BatchRun, SendRow, WalletAct } from './act.ts'
import { fittingBatches, tryBatch } from './batch.ts'
import type { SendTermsOfList } from './journal.ts'
import { batchesOf, planRows, type SendForecast } from './rows.ts'

export interface Plan {
  batches: readonly SendRow[][]
  /** The first transaction as it was tried, and its rows; null if it cannot be tried. */
  first: { transaction: string; guard?: ShownGuards['reported']; rows: readonly SendRow[] } | null
  /** Lamports of rent and fees. */
  cost: bigint
  /** Lines of the preview. */
  lines: readonly string[]
  /** Throws if the signer lacks tokens. */
  requireTokens(): void
}

const NOTHING: Plan = { batches: [], first: null, cost: 0n, lines: [], requireTokens: () => undefined }
/** Most wallets of one request. */
const MOST_IN_REQUEST = 64

/** The API knows how many transfers fit; of any other act every transaction is built, which shows who is left out. */
export const planOf = (session: Session, run: BatchRun, rows: readonly SendRow[]): Promise<Plan> =>
  run.act.name === 'send' ? planTransfers(session, run, rows) : planActs(session, run, rows)

/** The plan of a vault, from which open proposals will take `promised` raw units. */
export const planOfVault = (
  session: Session,
  run: BatchRun,
  rows: readonly SendRow[],
  promised: bigint,
): Promise<Plan> =>
  run.act.name === 'send' ? planVaultTransfers(session, run, rows, promised) : planActs(session, run, rows, promised)

async function planTransfers(session: Session, run: BatchRun, rows: readonly SendRow[]): Promise<Plan> {
  const terms = run.terms as SendTermsOfList
  const { tx_version: version = 0, ...guard } = run.txTerms
  const forecast = await planRows(session, { ...terms, ...guard }, rows)
  if (forecast === null) return NOTHING
  const { held, lamports, rentPerAccount } = forecast
  const fits = version === 1 ? forecast.fits.v1 : forecast.fits.v0
  const rentOf = (some: readonly SendRow[]) => rentPerAccount * BigInt(some.filter(({ opens }) => opens).length)
  const [start] = batchesOf(rows, fits)
  const canTry = start !== undefined && held >= totalOf(start) && lamports > rentOf(start)
  const tried = canTry ? await tryBatch(session, run, start) : null
  const fee = tried === null ? null : BigInt((await session.wallet.describe(tried.data.transaction)).fee)
  // The simulated batch may have left out some.
  const batches = batchesOf(rows, fits)
  const due = batches.flat()
  const rent = rentOf(due)
  const count = BigInt(batches.length)
  return {
    batches,
    first: tried && { ...tried.data, rows: tried.rows },
    cost: rent + (fee ?? LAMPORTS_PER_SIGNATURE) * count,
    requireTokens: () => requireTokens(terms, totalOf(due), forecast),
    lines: [
      tokensLine(run.act, forecast, { needed: totalOf(due), by: '', in: 'the wallet' }),
      ...keptLines(run.act, forecast),
      previewLine(
        'sending',
        `${count} transactions, each of at most ${fits.ready} wallets, or ${fits.to_open} without a token account`,
      ),
      previewLine(
        'rent',
        `${solOf(rent)} SOL for ${due.filter(({ opens }) => opens).length} token accounts that are missing`,
      ),
      previewLine('fees', fee === null ? 'not known' : `${solOf(fee * count)} SOL, ${solOf(fee)} SOL a transaction`),
    ],
  }
}

async function planVaultTransfers(
  session: Session,
  run: BatchRun,
  rows: readonly SendRow[],
  promised: bigint,
): Promise<Plan> {
  const { approver: _, ...terms } = run.terms
  const forecast = await planRows(session, terms as SendTermsOfList, rows)
  if (forecast === null) return NOTHING
  // What the vault executes has more room, but the transaction that executes it names the same accounts.
  const parts = batchesOf(rows, forecast.fits.v0)
  const needed = promised + totalOf(parts.flat())
  return {
    ...NOTHING,
    // Without the tokens no transaction can be tried.
    batches: forecast.held < needed ? parts : await fittingBatches(session, run, parts),
    requireTokens: () => requireTokens(terms as SendTermsOfList, needed, forecast),
    lines: [tokensLine(run.act, forecast, { needed, by: ' with what waits', in: 'the vault' })],
  }
}

const tokensLine = (
  { token: { decimals } }: WalletAct,
  { held }: SendForecast,
  { needed, ...words }: { needed: bigint; by: string; in: string },
) =>
  previewLine(
    'tokens',
    `${groupedDecimalOf(needed, decimals)}${words.by}, of ${groupedDecimalOf(held, decimals)} in ${words.in}`,
  )

const keptLines = ({ token: { decimals } }: WalletAct, { transferFee: fee }: SendForecast): string[] => {
  if (fee === null) return []
  const most = groupedDecimalOf(BigInt(fee.maximum_fee), decimals)
  return [previewLine('kept', `${fee.basis_points / 100} % of each transfer stays with the token, at most ${most}`)]
}

/** Builds every transaction without signing, so that the cost and whoever is left out are known before. */
async function planActs(session: Session, run: BatchRun, rows: readonly SendRow[], promised = 0n): Promise<Plan> {
  const bar = session.ui.progress('Reading the chain')
  const all = rows.filter(({ status }) => status === 'to send')
  const batches: SendRow[][] = []
  const warnings: string[] = []
  let first: Plan['first'] = null
  let waiting = [...all]
  let size = MOST_IN_REQUEST
  let supply = 0n
  let rent = 0n
  let fee = 0n
  while (waiting.length > 0) {
    const later: SendRow[] = []
    const tried = await tryBatch(session, run, waiting.splice(0, size), later)
    waiting = [...later, ...waiting]
    if (tried !== null) {
      const data: { transaction: string; supply?: string; rent?: string; warnings?: string[] } = tried.data
      if (first === null) supply = BigInt(data.supply ?? 0)
      first ??= { ...tried.data, rows: tried.rows }
      fee += BigInt((await session.wallet.describe(data.transaction)).fee)
      rent += BigInt(data.rent ?? 0)
      warnings.push(...(data.warnings ?? []))
      batches.push(tried.rows)
      if (later.length > 0) size = tried.rows.length
    }
    bar(all.length - waiting.length, all.length)
  }
  session.ui.clear()
  for (const warning of warnings) session.ui.warn(warning)
  return {
    ...NOTHING,
    batches,
    first,
    cost: rent + fee,
    lines:
      first === null
        ? []
        : [
            ...supplyLines(run.act, supply, promised + totalOf(batches.flat())),
            previewLine('sending', counted(batches.length, 'transaction')),
            previewLine('rent', `${solOf(rent)} SOL for missing token accounts`),
            previewLine('fees', `${solOf(fee)} SOL`),
          ],
  }
}

/** The supply before and after. Throws a usage problem if the mint cannot have that much. */
function supplyLines({ name, hasAmounts, token: { decimals } }: WalletAct, supply: bigint, total: bigint): string[] {
  if (!hasAmounts) return []
  if (name === 'mint' && supply + total > MAX_U64) {
    throw usage(`the list comes to ${total} raw units, and only ${MAX_U64 - supply} more can be minted`, {
      param: '--from',
    })
  }
  const units = (amount: bigint) => groupedDecimalOf(amount, decimals)
  return [previewLine('supply', `${units(supply)} → ${units(name === 'mint' ? supply + total : supply - total)}`)]
}

export const totalOf = (rows: readonly SendRow[]) => rows.reduce((sum, { amount }) => sum + amount, 0n)

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
