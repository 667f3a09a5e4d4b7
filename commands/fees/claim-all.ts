/** `svc fees claim --all`: claims from every pool that holds fees, one after another; failures are reported and left for the next run. */
import type { FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import type { Pool } from '../../src/api/pools.ts'
import { ApiError } from '../../src/errors.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import { type Session, sessionWith } from '../session.ts'
import { confirmOn } from '../signing/confirm.ts'
import { platformAddress } from '../signing/platform-wallet.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { EXIT } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { type ClaimRunFlags, claimFees, prepareClaim } from './one-claim.ts'

export type ClaimAllFlags = ClaimRunFlags & { kind?: FeeClaimKind | undefined; min?: string | undefined }

interface ClaimRow {
  pool_address: string
  symbol: string | null
  kind: FeeClaimKind
  /** The estimated amount in lamports; null where it is unknown. */
  estimated_quote: string | null
  signature: string | null
  status: 'to claim' | 'claimed' | 'submitted' | 'failed'
  error: string | null
}

const POOLS_PER_PAGE = '100'
/** The start of the API's message for an empty claim. */
const NOTHING_TO_CLAIM = 'There is nothing to claim'

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
  const rows = await claimableFees(session, { kind, least, payer })
  const open = rows.filter(({ status }) => status === 'to claim')
  if (input.dry_run || open.length === 0) {
    return claimsOutcome(rows, open.length === 0 ? [] : ['Nothing was signed, and nothing was sent.'])
  }
  const question = `Claim ${kind === 'surplus' ? 'the surplus' : 'fees'} of ${countOf(open)}, ${solOf(sumOf(open))} SOL together`
  await ui.preview([
    question,
    ...open.map(
      ({ pool_address, kind, estimated_quote }) =>
        `  ${pool_address}  ${kind.padEnd(7)}  ${solText(estimated_quote)} SOL`,
    ),
  ])
  await confirmOn(session, question, await session.cluster())
  const quiet = sessionWith(session, {
    ui: {
      ...ui,
      interactive: false,
      confirmable: true,
      preview: async () => undefined,
      confirm: async () => false,
    },
  })
  for (const [i, row] of open.entries()) {
    ui.note(`${i + 1} of ${open.length}  ${row.pool_address}  ${row.kind}`)
    session.setInterruptNote(`${i} of ${open.length} were tried; run it again for those that are left`)
    Object.assign(row, await claimOne(quiet, input, row, splits))
  }
  session.setInterruptNote(null)
  return claimsOutcome(rows)
}

/** Claims one pool. A failure is stored in its row, so that the others continue. */
async function claimOne(
  session: Session,
  input: ClaimAllFlags,
  { pool_address: address, kind }: ClaimRow,
  splits: readonly Split[] | undefined,
): Promise<Partial<ClaimRow>> {
  try {
    const { data } = await claimFees(session, input, { address, kind, splits })
    const { signature, estimated_quote, lifecycle } = data as {
      signature: string
      estimated_quote: string
      lifecycle: string
    }
    return { signature, estimated_quote, status: lifecycle === 'submitted' ? 'submitted' : 'claimed' }
  } catch (error) {
    return failedClaim(error)
  }
}

function failedClaim(error: unknown): Pick<ClaimRow, 'status' | 'error' | 'signature'> {
  if (!(error instanceof ApiError)) throw error
  const { signature } = error.details ?? {}
  return { status: 'failed', error: error.message, signature: typeof signature === 'string' ? signature : null }
}

interface ClaimSearch {
  kind: FeeClaimKind | undefined
  least: bigint
  payer: string
}

/** Every possible claim of every page of pools; amounts that the list does not contain are requested pool by pool. */
async function claimableFees(session: Session, search: ClaimSearch): Promise<ClaimRow[]> {
  const rows: ClaimRow[] = []
  let cursor: string | undefined
  let read = 0
  do {
    const { data, meta } = await session.client.pools.list({
      limit: POOLS_PER_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const pool of data) {
      session.ui.progress('Reading pools')(++read, 0)
      for (const kind of kindsOf(pool)) {
        if (search.kind !== undefined && kind !== search.kind) continue
        const row = await claimRowOf(session, pool, kind, search)
        if (row !== null && (row.status === 'failed' || BigInt(row.estimated_quote ?? 0) >= search.least))
          rows.push(row)
      }
    }
    cursor = meta.next_cursor ?? undefined
  } while (cursor !== undefined)
  return rows
}

function kindsOf({ type, status }: Pool): readonly FeeClaimKind[] {
  if (status === 'pending' || status === 'failed') return []
  if (type === 'damm_v2') return ['damm_v2']
  return status === 'migrated' ? ['dbc', 'surplus'] : ['dbc']
}

/** The row of one claim; null where there is nothing to claim. */
async function claimRowOf(
  session: Session,
  pool: Pool,
  kind: FeeClaimKind,
  { payer }: ClaimSearch,
): Promise<ClaimRow | null> {
  const { address: pool_address, symbol } = pool
  const row: ClaimRow = {
    pool_address,
    symbol,
    kind,
    estimated_quote: null,
    signature: null,
    status: 'to claim',
    error: null,
  }
  if (kind !== 'damm_v2') {
    const metrics = pool.fee_metrics as { partner_quote_fee?: string; surplus_status?: string } | null
    if (metrics === null) return { ...row, status: 'failed', error: 'the chain could not be asked what it holds' }
    if (kind === 'dbc') {
      const fee = metrics.partner_quote_fee ?? '0'
      return fee === '0' ? null : { ...row, estimated_quote: fee }
    }
    if (metrics.surplus_status !== 'available') return null
  }
  try {
    const { estimated_quote = '0' } = await prepareClaim(
      session,
      { address: pool_address, kind, splits: undefined },
      payer,
      {
        dry_run: true,
      },
    )
    return { ...row, estimated_quote }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'bad_request' && error.message.startsWith(NOTHING_TO_CLAIM))
      return null
    return { ...row, ...failedClaim(error) }
  }
}

const countOf = (rows: readonly ClaimRow[]) => {
  const pools = new Set(rows.map(({ pool_address }) => pool_address)).size
  return `${pools} pool${pools === 1 ? '' : 's'}`
}
const sumOf = (rows: readonly ClaimRow[]) => rows.reduce((sum, row) => sum + BigInt(row.estimated_quote ?? 0), 0n)
const solText = (lamports: string | null) => (lamports === null ? '-' : solOf(BigInt(lamports)))

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
      claims: rows,
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

/** The table for a terminal, with amounts in SOL; each failure has its own line below. */
const claimsTable = (rows: readonly ClaimRow[]) => ({
  columns: ['pool', 'symbol', 'kind', 'sol', 'status', 'signature'],
  rows: rows.map(({ pool_address, symbol, kind, estimated_quote, status, signature }) => [
    pool_address,
    symbol,
    kind,
    estimated_quote === null ? null : solOf(BigInt(estimated_quote)),
    status,
    signature,
  ]),
})

const failureLine = ({ pool_address, kind, error }: ClaimRow) => `${pool_address} ${kind}: ${printable(error ?? '')}`
