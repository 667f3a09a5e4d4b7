/** `svc fees claim --all`: every pool that holds fees, one after another; what fails is told and stays for the next run. */
import type { FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import type { Pool } from '../../src/api/pools.ts'
import { ApiError } from '../../src/errors.ts'
import { LAMPORT_DIGITS, rawUnits, solOf } from '../amounts.ts'
import { type Outcome, type Session, sessionWith } from '../command.ts'
import { platformAddress } from '../signing/by-platform.ts'
import { confirmOn } from '../signing/sign-and-submit.ts'
import { EXIT } from '../ui/problem.ts'
import { cleaned } from '../ui/render.ts'
import { claimHere, claimSigned, type OneClaimFlags, prepare } from './one-claim.ts'

export type AllFlags = OneClaimFlags & { kind?: FeeClaimKind | undefined; signed: boolean; min?: string | undefined }

interface Row {
  pool_address: string
  symbol: string | null
  kind: FeeClaimKind
  /** Lamports; null where it could not be told. */
  estimated_quote: string | null
  signature: string | null
  status: 'to claim' | 'claimed' | 'submitted' | 'failed'
  error: string | null
}

const PAGE = '100'
const [EVERY, TAKEN] = ['fees', 'There is nothing to claim'] as const

/** Runs are apart: each asks the chain what is still there, so that nothing has to be remembered between them. */
export async function claimAll(
  session: Session,
  input: AllFlags,
  splits: readonly Split[] | undefined,
): Promise<Outcome> {
  const { ui, wallet } = session
  const least = input.min === undefined ? 0n : rawUnits(input.min, LAMPORT_DIGITS, '--min')
  const kind = splits === undefined ? input.kind : 'dbc'
  const payer = input.signed ? await platformAddress(session) : await wallet.address(input.keypair)
  const rows = await found(session, { kind, least, payer })
  const open = rows.filter(({ status }) => status === 'to claim')
  if (input.dry_run || open.length === 0) {
    return outcomeOf(rows, open.length === 0 ? [] : ['Nothing was signed, and nothing was sent.'])
  }
  const what = `Claim ${kind === 'surplus' ? 'the surplus' : EVERY} of ${countOf(open)}, ${solOf(sumOf(open))} SOL together`
  await ui.preview([
    what,
    ...open.map(
      ({ pool_address, kind, estimated_quote }) =>
        `  ${pool_address}  ${kind.padEnd(7)}  ${solText(estimated_quote)} SOL`,
    ),
  ])
  await confirmOn(session, what, await session.cluster())
  const quiet = sessionWith(session, {
    ui: {
      ...ui,
      interactive: false,
      confirmable: true,
      preview: async () => undefined,
      confirm: async () => undefined,
    },
  })
  for (const [i, row] of open.entries()) {
    ui.note(`${i + 1} of ${open.length}  ${row.pool_address}  ${row.kind}`)
    session.lastWords(`${i} of ${open.length} were tried; run it again for those that are left`)
    Object.assign(row, await claimOne(quiet, input, row, splits))
  }
  session.lastWords(null)
  return outcomeOf(rows)
}

/** Whatever goes wrong with one pool is that pool's. */
async function claimOne(
  session: Session,
  input: AllFlags,
  { pool_address: address, kind }: Row,
  splits: readonly Split[] | undefined,
): Promise<Partial<Row>> {
  try {
    const run = input.signed ? claimSigned : claimHere
    const { data } = await run(session, input, { address, kind, splits })
    const { signature, estimated_quote, lifecycle } = data as {
      signature: string
      estimated_quote: string
      lifecycle: string
    }
    return { signature, estimated_quote, status: lifecycle === 'submitted' ? 'submitted' : 'claimed' }
  } catch (error) {
    return failed(error)
  }
}

function failed(error: unknown): Pick<Row, 'status' | 'error' | 'signature'> {
  if (!(error instanceof ApiError)) throw error
  const { signature } = error.details ?? {}
  return { status: 'failed', error: error.message, signature: typeof signature === 'string' ? signature : null }
}

interface Search {
  kind: FeeClaimKind | undefined
  least: bigint
  payer: string
}

/** Every claim there is to make, of every page; what the list does not tell is asked for pool by pool. */
async function found(session: Session, search: Search): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  let seen = 0
  do {
    const { data, meta } = await session.client.pools.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const pool of data) {
      session.ui.progress('Reading pools')(++seen, 0)
      for (const kind of kindsOf(pool)) {
        if (search.kind !== undefined && kind !== search.kind) continue
        const row = await rowOf(session, pool, kind, search)
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

/** Null where there is nothing to claim. */
async function rowOf(session: Session, pool: Pool, kind: FeeClaimKind, { payer }: Search): Promise<Row | null> {
  const { address: pool_address, symbol } = pool
  const row: Row = {
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
    const { estimated_quote = '0' } = await prepare(
      session,
      { address: pool_address, kind, splits: undefined },
      payer,
      {
        dry_run: true,
      },
    )
    return { ...row, estimated_quote }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'bad_request' && error.message.startsWith(TAKEN)) return null
    return { ...row, ...failed(error) }
  }
}

const countOf = (rows: readonly Row[]) => {
  const pools = new Set(rows.map(({ pool_address }) => pool_address)).size
  return `${pools} pool${pools === 1 ? '' : 's'}`
}
const sumOf = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + BigInt(row.estimated_quote ?? 0), 0n)
const solText = (lamports: string | null) => (lamports === null ? '-' : solOf(BigInt(lamports)))

function outcomeOf(rows: readonly Row[], notes: readonly string[] = []): Outcome {
  const of = (status: Row['status']) => rows.filter((row) => row.status === status)
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
    ...(rows.length === 0 ? { text: 'No pool holds fees to claim.' } : { table: tableOf(rows) }),
    ...(broken.length === 0 ? {} : { text: broken.map(faultLine).join('\n') }),
    notes: [...(rows.length === 0 ? [] : [`${parts.join('; ')}.`]), ...notes],
    exitCode: broken.length === 0 ? EXIT.done : EXIT.failed,
  }
}

/** Amounts in SOL; why one failed has a line of its own below. */
const tableOf = (rows: readonly Row[]) => ({
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

const faultLine = ({ pool_address, kind, error }: Row) => `${pool_address} ${kind}: ${cleaned(error ?? '')}`
