/** `svc fees claim --all`: claims from every pool that holds fees, one after another; failures are reported and left for the next run. */
import { type Beneficiary, FEE_CLAIM_KINDS, type FeeClaimKind, type Split } from '../../src/api/fee-claims.ts'
import type { Pool } from '../../src/api/pools.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { LAMPORTS_PER_SIGNATURE } from '../../src/solana/fees.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { failedRow, oneByOne, runList } from '../lists/run.ts'
import { approverField, programsField } from '../signing/flags.ts'
import { addFunds, type Funds, forecastFunds, readLamports, repeatFunds, solPayment } from '../signing/funds.ts'
import { signerAddress } from '../signing/platform-wallet.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { EXIT } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { amountTexts, type ClaimRunFlags, claimFees, prepareClaim, type ShownAmounts } from './one-claim.ts'

type ClaimAllFlags = ClaimRunFlags & {
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
  const least = input.min === undefined ? 0n : rawUnits(input.min, LAMPORT_DECIMALS, '--min')
  const kind = splits === undefined ? input.kind : 'dbc'
  const payer = await signerAddress(session, input)
  // A creator's positions in its pools belong to the wallet that signs.
  const owner = input.owner ?? (input.as === 'creator' ? payer : undefined)
  const rows = await claimableFees(session, { kind, beneficiary: input.as, owner, least, payer, only: onlyOf(input) })
  const { squads } = input
  const plan = { splits, payer, owner }
  const proposals = squads === undefined ? null : await tryProposals(session, input, squads, { rows, ...plan })
  const open = rows.filter(({ status }) => status === 'to claim')
  const verb = squads === undefined ? 'Claim' : 'Propose to claim'
  const question = `${verb} ${kind === 'surplus' ? 'the surplus' : 'fees'} of ${countOf(open)}, ${solOf(sumOf(open))} SOL together`
  return runList(session, input, {
    question,
    isOpen: open.length > 0,
    async preview() {
      if (input.dry_run) return null
      const width = Math.max(...open.map(({ kind }) => kind.length))
      return {
        lines: open.map((row) => `  ${row.pool_address}  ${row.kind.padEnd(width)}  ${amountsOf(row)}`),
        funds: proposals ?? (await claimsFunds(session, input, { rows: open, ...plan })),
        payer: squads?.member ?? payer,
      }
    },
    work: () =>
      oneByOne(session, open, {
        nameOf: (row) => `${row.pool_address}  ${row.kind}`,
        async work(quiet, row) {
          rows.push(...(await claimParts(quiet, { ...input, owner }, row, splits)))
          return {}
        },
      }),
    outcome: (notes) => claimsOutcome(rows, notes),
  })
}

const onlyOf = ({ signed, squads }: ClaimAllFlags) =>
  signed ? 'the platform wallet' : squads === undefined ? null : 'the vault'

interface ClaimPlan {
  rows: readonly ClaimRow[]
  splits: readonly Split[] | undefined
  payer: string
  owner: string | undefined
}

/** Builds each proposal without storing it: marks what waits in an open one, and returns what the others cost the member. */
async function tryProposals(
  session: Session,
  input: ClaimAllFlags,
  squads: ActingVault,
  { rows, splits, payer, owner }: ClaimPlan,
): Promise<Funds> {
  const funds: Funds[] = []
  for (const row of rows.filter(({ status }) => status === 'to claim')) {
    const { pool_address: address, kind } = row
    const claim = { address, kind, beneficiary: input.as, owner: kind === 'damm_v2' ? owner : undefined, splits }
    const fields = { dry_run: true, ...approverField({ squads }), ...programsField(input) } as const
    try {
      const { proposal } = await prepareClaim(session, claim, payer, fields)
      if (proposal !== undefined) funds.push(await forecastFunds(session, proposal.transactions))
    } catch (error) {
      // Any other failure is that of its row, and the others continue.
      const open = openProposalIn(error)
      if (open !== null) Object.assign(row, { status: 'waits', proposal: open })
      else if (!(error instanceof ApiError)) throw error
    }
  }
  return addFunds(funds)
}

/** The open proposal that makes the API refuse another one; null for any other error. */
function openProposalIn(error: unknown): string | null {
  const { reason, proposal } = error instanceof ApiError ? (error.details ?? {}) : {}
  return reason === 'proposal_open' ? String(proposal) : null
}

/** The network fees of all claims. What one needs for a moment, such as rent, it returns or the next one has again. */
async function claimsFunds(session: Session, { as }: ClaimAllFlags, of: ClaimPlan): Promise<Funds> {
  const { rows, splits, payer } = of
  const [first] = rows
  if (first === undefined) return { payments: [], isExact: true, fault: null }
  const { pool_address: address, kind } = first
  const owner = kind === 'damm_v2' ? of.owner : undefined
  const claim = { address, kind, beneficiary: as, owner, splits }
  const fee = await prepareClaim(session, claim, payer, { dry_run: true }).then(
    async ({ transaction }) => BigInt((await session.wallet.describe(transaction)).fee),
    (error: unknown) => {
      // Its row says why; the others continue.
      if (error instanceof ApiError) return LAMPORTS_PER_SIGNATURE
      throw error
    },
  )
  const held = await readLamports(session, payer)
  return repeatFunds({ payments: [solPayment(payer, fee, held)], isExact: true, fault: null }, rows.length)
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
    const { proposal } = data as { proposal?: string }
    // The rest of its positions is claimed once this one is executed.
    if (proposal !== undefined) return { status: 'proposed', proposal, remaining: 0 }
    const claimed = data as { signature: string; estimated_quote?: string; lifecycle: string }
    const { signature, estimated_quote = '0', lifecycle } = claimed
    const remaining = Number((data as { remaining_positions?: number }).remaining_positions ?? 0)
    return { signature, estimated_quote, status: lifecycle === 'submitted' ? 'submitted' : 'claimed', remaining }
  } catch (error) {
    const open = openProposalIn(error)
    if (open !== null) return { status: 'waits', proposal: open, remaining: 0 }
    return { ...failedRow(error), remaining: 0 }
  }
}

const countOf = (rows: readonly ClaimRow[]) =>
  counted(new Set(rows.map(({ pool_address }) => pool_address)).size, 'pool')
const sumOf = (rows: readonly ClaimRow[]) => rows.reduce((sum, row) => sum + solIn(row), 0n)
const amountsOf = ({ amounts, estimated_quote }: ClaimRow): string =>
  estimated_quote === null ? '-' : amountTexts({ ...amounts, estimated_quote }).join(', ')

function claimsOutcome(rows: readonly ClaimRow[], notes: readonly string[]): CommandOutcome {
  const of = (status: ClaimRow['status']) => rows.filter((row) => row.status === status)
  const [open, claimed, submitted, broken] = [of('to claim'), of('claimed'), of('submitted'), of('failed')]
  const [proposed, waiting] = [of('proposed'), of('waits')]
  const parts = [
    ...(open.length === 0 ? [] : [`${open.length} to claim, ${solOf(sumOf(open))} SOL`]),
    ...(claimed.length === 0 ? [] : [`${claimed.length} claimed, ${solOf(sumOf(claimed))} SOL`]),
    ...(submitted.length === 0 ? [] : [`${submitted.length} submitted and not waited for: svc tx watch SIGNATURE`]),
    ...(proposed.length === 0 ? [] : [`${proposed.length} proposed, ${solOf(sumOf(proposed))} SOL`]),
    ...(waiting.length === 0 ? [] : [`${waiting.length} in an open proposal: run it again once it is executed`]),
    ...(broken.length === 0 ? [] : [`${broken.length} failed: run it again for what is still there`]),
  ]
  const hasProposals = rows.some((row) => row.proposal !== undefined)
  const columns = [
    ...(['pool', 'kind', 'amount', 'signature', 'status', 'error'] as const),
    ...(hasProposals ? ['proposal'] : []),
  ]
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
      rows: rows.map((row) => [
        ...[row.pool_address, row.kind, row.estimated_quote, row.signature, row.status, row.error],
        ...(hasProposals ? [row.proposal ?? null] : []),
      ]),
    },
    ...(rows.length === 0 ? { text: 'No pool holds fees to claim.' } : { table: claimsTable(rows) }),
    ...(broken.length === 0 ? {} : { text: broken.map(failureLine).join('\n') }),
    notes: [
      ...(rows.length === 0 ? [] : [`${parts.join('; ')}.`]),
      ...proposed.map(({ proposal }) => `Members approve it: \`svc proposals approve ${proposal}\``),
      ...notes,
    ],
    exitCode: broken.length === 0 ? EXIT.done : EXIT.failed,
  }
}

/** The table for a terminal, with amounts in SOL and tokens; each failure has its own line below. */
const claimsTable = (rows: readonly ClaimRow[]) => ({
  columns: [
    ...['pool', 'symbol', 'kind', 'amount', 'status'],
    rows.some(({ proposal }) => proposal !== undefined) ? 'proposal' : 'signature',
  ],
  rows: rows.map((row) => [
    ...[row.pool_address, row.symbol, row.kind, amountsOf(row), row.status],
    row.proposal ?? row.signature,
  ]),
})

const failureLine = ({ pool_address, kind, error }: ClaimRow) => `${pool_address} ${kind}: ${printable(error ?? '')}`

// Finds what `svc fees claim --all` can claim: every kind of every pool that may hold something for a party.

interface ClaimRow {
  pool_address: string
  symbol: string | null
  kind: FeeClaimKind
  /** The estimated amount in raw units of the quote; null if it is unknown. */
  estimated_quote: string | null
  /** The amounts of the API's answer; empty if the list of pools has them. */
  amounts: Partial<ShownAmounts>
  signature: string | null
  status: 'to claim' | 'claimed' | 'submitted' | 'proposed' | 'waits' | 'failed'
  /** The proposal to a multisig that claims it; absent without one. */
  proposal?: string
  error: string | null
}

interface ClaimSearch {
  kind: FeeClaimKind | undefined
  beneficiary: Beneficiary | undefined
  owner: string | undefined
  /** Least lamports that are worth a claim. */
  least: bigint
  payer: string
  /** Who claims only what is paid to itself, in words; null for a keypair, whose claims of others fail. */
  only: 'the platform wallet' | 'the vault' | null
}

/** The API's reasons for a claim that holds nothing: never, not any more, or not yet. */
const EMPTY_REASONS: readonly unknown[] = ['nothing_to_claim', 'withdrawn', 'too_early']

/** Every possible claim of every page of pools; amounts that the list does not contain are requested pool by pool. */
export async function claimableFees(session: Session, search: ClaimSearch): Promise<ClaimRow[]> {
  const { kind, beneficiary, payer, least } = search
  const rows: ClaimRow[] = []
  // A creator's earnings are paid only to its own wallet.
  const filter = beneficiary === 'creator' ? { creator: payer } : {}
  let read = 0
  let foreign = 0
  for await (const { data } of pagesOf((paging) => session.client.pools.list({ ...paging, ...filter }))) {
    for (const pool of data) {
      session.ui.progress('Reading pools')(++read, 0)
      if (search.only !== null && beneficiary !== 'creator' && isForeignPartner(pool, payer)) {
        foreign++
        continue
      }
      for (const each of kindsOf(pool, beneficiary)) {
        if (kind !== undefined && each !== kind) continue
        const row = await readClaimRow(session, pool, each, search)
        if (row !== null && (row.status === 'failed' || solIn(row) >= least)) rows.push(row)
      }
    }
  }
  if (foreign > 0) {
    const which = foreign === 1 ? '1 pool pays another partner' : `${foreign} pools pay other partners`
    const flag = search.only === 'the vault' ? '--squads' : '--signed'
    session.ui.note(`${which} than ${search.only}: claim with the keypair of the partner, without ${flag}`)
  }
  return rows
}

/** Whether the partner of a curve is another wallet; false if the chain could not be read. */
function isForeignPartner({ type, state }: Pool, payer: string): boolean {
  const { feeClaimer } = fieldsOf(fieldsOf(state).config)
  return type === 'dbc' && typeof feeClaimer === 'string' && feeClaimer !== payer
}

/** Lamports that a claim pays. Tokens and other quotes are not counted. */
function solIn({ estimated_quote, amounts }: Pick<ClaimRow, 'estimated_quote' | 'amounts'>): bigint {
  const { quote_mint = WRAPPED_SOL, estimated_lamports = '0' } = amounts
  return (quote_mint === WRAPPED_SOL ? BigInt(estimated_quote ?? 0) : 0n) + BigInt(estimated_lamports)
}

type RawState = Record<string, unknown>

/** The kinds that may hold something, by the state in the list; the API is asked about each. */
function kindsOf(pool: Pool, beneficiary: Beneficiary = 'partner'): readonly FeeClaimKind[] {
  const { type, status } = pool
  if (status === 'pending' || status === 'failed') return []
  if (type === 'damm_v2') return ['damm_v2']
  const metrics = fieldsOf(pool.fee_metrics)
  const raw = fieldsOf(pool.state)
  const [held, config] = [fieldsOf(fieldsOf(raw.pool).poolState), fieldsOf(raw.config)]
  const isCreator = beneficiary === 'creator'
  const has = (value: unknown) => value !== undefined && value !== null && String(value) !== '0'
  // The record may lag behind the chain.
  const isMigrated = status === 'migrated' || has(held.isMigrated)
  const isFull = isMigrated || status === 'migration_triggered' || has(held.migrationProgress)
  const vesting = fieldsOf(config.lockedVestingConfig)
  const possible: Record<FeeClaimKind, boolean> = {
    // If the chain could not be read, the row says so.
    dbc: pool.fee_metrics === null || !isCreator || has(held.creatorQuoteFee) || has(held.creatorBaseFee),
    damm_v2: false,
    surplus: isCreator
      ? isFull && !has(held.isCreatorWithdrawSurplus) && has(config.creatorTradingFeePercentage)
      : metrics.surplus_status === 'available',
    migration_fee: isFull && has(config.migrationFeePercentage),
    leftover: !isCreator && isMigrated && has(config.fixedTokenSupplyFlag) && !has(held.isWithdrawLeftover),
    pool_creation_fee: !isCreator && has(config.poolCreationFee),
    vesting: isCreator && isMigrated && (has(vesting.cliffUnlockAmount) || has(vesting.amountPerPeriod)),
  }
  return FEE_CLAIM_KINDS.filter((kind) => possible[kind])
}

const fieldsOf = (value: unknown): RawState => (typeof value === 'object' && value !== null ? (value as RawState) : {})

/** The row of one claim; null if there is nothing to claim. */
async function readClaimRow(
  session: Session,
  pool: Pool,
  kind: FeeClaimKind,
  { beneficiary, owner, payer }: ClaimSearch,
): Promise<ClaimRow | null> {
  const { address, symbol } = pool
  const row: ClaimRow = {
    pool_address: address,
    symbol,
    kind,
    estimated_quote: null,
    amounts: {},
    signature: null,
    status: 'to claim',
    error: null,
  }
  if (pool.type === 'dbc' && pool.fee_metrics === null) {
    return { ...row, status: 'failed', error: 'the chain could not be read' }
  }
  // Most pools hold only fees in SOL, which the list has.
  const metrics = fieldsOf(pool.fee_metrics)
  if (kind === 'dbc' && beneficiary !== 'creator' && (pool.quote_mint ?? WRAPPED_SOL) === WRAPPED_SOL) {
    const [fee, base] = [metrics.partner_quote_fee ?? '0', metrics.partner_base_fee ?? '0'].map(String)
    if (base === '0') return fee === '0' ? null : { ...row, estimated_quote: fee ?? '0' }
  }
  try {
    const claim = { address, kind, beneficiary, owner: kind === 'damm_v2' ? owner : undefined, splits: undefined }
    const amounts = await prepareClaim(session, claim, payer, { dry_run: true })
    return { ...row, estimated_quote: amounts.estimated_quote ?? '0', amounts }
  } catch (error) {
    if (error instanceof ApiError && EMPTY_REASONS.includes(error.details?.reason)) return null
    return { ...row, ...failedRow(error) }
  }
}
