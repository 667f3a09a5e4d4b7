/** Reads everything that the chain shows about a token, whoever created it, with a verdict on each known risk. */
import type { Api } from '../../../api/index.ts'
import type { Input, Result } from '../../../api/route.ts'
import type { TokenReport, TokenReportHolders } from '../../../api/token-report.ts'
import { type OwnerKind, ownerKinds } from '../../../chain/holders/owner-kinds.ts'
import { type HoldersAtSlot, readHolders } from '../../../chain/holders/read-holders.ts'
import { unpaidLocksOfMint } from '../../../chain/programs/jupiter-lock/index.ts'
import {
  namedExtensions,
  type OnChainToken,
  readTokenAtTime,
  tokenStatus,
} from '../../../chain/programs/tokens/index.ts'
import type { Context } from '../../../context.ts'
import { HOLDER_KINDS, type HolderKind } from '../../../merkle/allocation/holder-kinds.ts'
import { holderAddress, holderAt } from '../../../merkle/allocation/holder-rows.ts'
import { Overtaken } from '../../../platform/errors.ts'
import { turnsOf } from '../../../platform/timing.ts'
import { addressOf } from '../../../solana/addresses.ts'
import { isoSeconds } from '../../../solana/lock-schedule.ts'
import { feesAt } from '../../../solana/token-verdicts.ts'
import { type HolderSnapshotRow, pageHolderSnapshots } from '../../../store/resources/holder-snapshots.ts'
import { openHolderPiece } from '../../holder-snapshots.ts'
import { cleanLabel } from '../labels.ts'
import { type Gaps, REPORT_BUDGETS, type ReportChain, readOrNoteGap, withinBudget } from './budget.ts'
import { atHandIn, lockFacts } from './lock-facts.ts'
import { poolFacts } from './pool-facts.ts'
import { tokenRisks } from './risks.ts'
import { bpsOf } from './shares.ts'

type TokenReportRoute = Api['tokens']['report']

/** Most characters of the texts that a creator chose. */
const MOST_NAME = 32
const MOST_SYMBOL = 10
const MOST_URI = 200

/** Throws not_found without a mint, and internal_error if the node does not show it. Other faults are gaps. */
export async function getTokenReport(
  context: Context,
  { mint, holder_limit }: Input<TokenReportRoute>,
  budgets = REPORT_BUDGETS,
): Promise<Result<TokenReportRoute>> {
  const { chain } = context
  const { slot, token, at } = await readTokenAtTime(chain, mint)
  const gaps: Gaps = []
  const [forLocks, forPools] = [
    withinBudget(chain, 'The locks', budgets.locks),
    withinBudget(chain, 'The pools', budgets.pools),
  ]
  const [holders, found, pools] = await Promise.all([
    holderFacts(context, withinBudget(chain, 'The holders', budgets.holders), mint, gaps),
    readOrNoteGap(gaps, 'locks', () => unpaidLocksOfMint(forLocks, mint, slot)),
    readOrNoteGap(gaps, 'pools', () => poolFacts(forPools, mint, { slot, at }, gaps)),
  ])
  return {
    mint,
    slot,
    at: isoSeconds(BigInt(at.unixSeconds)),
    status: tokenStatus(token),
    token_program: token.tokenProgram,
    decimals: token.decimals,
    supply: String(token.supply),
    metadata: metadataFacts(token),
    authorities: authorityFacts(token),
    ...(await extensionFacts(token, at.epoch)),
    holders,
    locks: found && lockFacts(found, at),
    pools,
    risks: tokenRisks({
      token,
      epoch: at.epoch,
      unixSeconds: BigInt(at.unixSeconds),
      holders,
      pools,
      holderLimit: holder_limit,
      atHand: found && atHandIn(found, at),
    }),
    gaps: gaps.sort((a, b) => (a.part < b.part ? -1 : 1)),
  }
}

function metadataFacts({ metadata }: OnChainToken): TokenReport['metadata'] {
  if (metadata === null) return null
  return {
    name: cleanLabel(metadata.name, MOST_NAME),
    symbol: cleanLabel(metadata.symbol, MOST_SYMBOL),
    uri: cleanLabel(metadata.uri, MOST_URI),
    source: metadata.source,
    is_mutable: metadata.isMutable,
    update_authority: metadata.updateAuthority,
  }
}

function authorityFacts({
  mintAuthority,
  freezeAuthority,
  metadata,
  extensions,
}: OnChainToken): TokenReport['authorities'] {
  return [
    { type: 'mint', holder: mintAuthority },
    { type: 'freeze', holder: freezeAuthority },
    ...(metadata === null ? [] : [{ type: 'metadata', holder: metadata.isMutable ? metadata.updateAuthority : null }]),
    ...Object.entries(extensions?.authorities ?? {}).map(([type, holder]) => ({ type, holder: holder ?? null })),
  ]
}

async function extensionFacts(
  { extensions }: OnChainToken,
  epoch: bigint,
): Promise<
  Pick<
    TokenReport,
    | 'extensions'
    | 'transfer_fee'
    | 'transfer_hook'
    | 'permanent_delegate'
    | 'frozen_by_default'
    | 'paused'
    | 'transferable'
  >
> {
  return {
    extensions: await namedExtensions({ extensions }),
    transfer_fee: feeFacts(extensions, epoch),
    transfer_hook: extensions?.transferHook ?? null,
    permanent_delegate: extensions?.permanentDelegate ?? null,
    frozen_by_default: extensions?.isFrozenByDefault ?? false,
    paused: extensions?.isPaused ?? null,
    transferable: extensions?.isTransferable ?? true,
  }
}

function feeFacts(extensions: OnChainToken['extensions'], epoch: bigint): TokenReport['transfer_fee'] {
  if (extensions === null || extensions.transferFee === null) return null
  const { now, next } = feesAt(extensions.transferFee, epoch)
  const shown = (fee: typeof now) => ({ basis_points: fee.basisPoints, maximum_fee: String(fee.maximumFee) })
  return {
    ...shown(now),
    next: next && { ...shown(next), from_epoch: String(next.epoch) },
    withheld_in_mint: String(extensions.withheldInMint),
  }
}

/** Most token accounts of a reading for a report. A snapshot takes a million of them. */
const LIMITS = { accounts: 50_000, milliseconds: 20_000 }
const TRIES = 2
/** Readings at once, because each strains the node. */
const MOST_READINGS = 4
const TOP = 10
const TURN_MS = 8
/** A person or an organization can sell what these hold. Vaults, locks and burn addresses cannot. */
const HOLDING: readonly HolderKind[] = ['wallet', 'pda', 'program']

let readings = 0

/** Returns null if the node shows no holders and no snapshot is stored; the gaps then say why. */
async function holderFacts(
  context: Context,
  chain: ReportChain,
  mint: string,
  gaps: Gaps,
): Promise<TokenReport['holders']> {
  const [snapshot] = (await pageHolderSnapshots(context.store.db, { address: mint, limit: 1 })).rows
  if (snapshot !== undefined && snapshot.accounts > LIMITS.accounts) return fromSnapshot(context, snapshot)
  const read = await readOrNoteGap(gaps, 'holders', () => fromChain(chain, mint))
  if (read !== null || snapshot === undefined) return read
  return fromSnapshot(context, snapshot)
}

async function fromChain(chain: ReportChain, mint: string): Promise<TokenReportHolders> {
  if (readings >= MOST_READINGS) {
    throw new Overtaken(`The holders of ${readings} tokens are being read, which is the most at once: try again soon`)
  }
  readings++
  try {
    const read = await readHolders(chain, { mint }, { allowConfidential: true, limits: LIMITS, tries: TRIES })
    const { owners, slot } = read
    const nextTurn = turnsOf(TURN_MS)
    const kinds = await ownerKinds(chain, addressesOf(read), { owners: 'off_curve', minSlot: slot, nextTurn })
    const sums = new HolderSums()
    for (const [i, { kind, program }] of (kinds as OwnerKind[]).entries())
      sums.add(owners.at(i).owner, owners.at(i).amount, kind, program)
    return {
      source: 'chain',
      snapshot_id: null,
      slot,
      accounts: read.accounts,
      ...sums.record(read.supply),
      withheld: String(read.withheld),
      confidential: String(read.confidential),
    }
  } finally {
    readings--
  }
}

function* addressesOf({ owners }: HoldersAtSlot): Generator<Uint8Array> {
  for (let i = 0; i < owners.count; i++) yield owners.at(i).owner
}

async function fromSnapshot(context: Context, row: HolderSnapshotRow): Promise<TokenReportHolders> {
  const sums = new HolderSums()
  const nextTurn = turnsOf(TURN_MS)
  for (let n = 0; n < row.pieces; n++) {
    const rows = await openHolderPiece(context, row.id, n)
    for (let i = 0; i < rows.count; i++) {
      const { amount, kind } = holderAt(rows, i)
      sums.add(holderAddress(rows, i), amount, kind)
    }
    await nextTurn()
  }
  return {
    source: 'snapshot',
    snapshot_id: row.id,
    slot: row.slot,
    accounts: row.accounts,
    ...sums.record(BigInt(row.supply)),
    withheld: row.withheld,
    confidential: row.confidential,
  }
}

interface Holder {
  wallet: string
  kind: HolderKind
  amount: bigint
  program: string | null
}

/** The sums by kind, and the largest holders so far. */
class HolderSums {
  readonly #kinds = new Map<HolderKind, { addresses: number; amount: bigint }>()
  #top: Holder[] = []

  add(owner: Uint8Array, amount: bigint, kind: HolderKind, program: string | null = null): void {
    const { addresses, amount: sum } = this.#kinds.get(kind) ?? { addresses: 0, amount: 0n }
    this.#kinds.set(kind, { addresses: addresses + 1, amount: sum + amount })
    const least = this.#top.length < TOP ? -1n : (this.#top.at(-1)?.amount ?? -1n)
    if (!HOLDING.includes(kind) || amount <= least) return
    this.#top.push({ wallet: addressOf(owner), kind, amount, program })
    this.#top.sort((a, b) => (a.amount === b.amount ? (a.wallet < b.wallet ? -1 : 1) : a.amount > b.amount ? -1 : 1))
    this.#top = this.#top.slice(0, TOP)
  }

  record(supply: bigint): Pick<TokenReportHolders, 'supply' | 'holders' | 'parts' | 'top' | 'top_share_bps'> {
    const shown = (amount: bigint) => ({ amount: String(amount), share_bps: bpsOf(amount, supply) })
    return {
      supply: String(supply),
      holders: HOLDING.reduce((count, kind) => count + (this.#kinds.get(kind)?.addresses ?? 0), 0),
      parts: HOLDER_KINDS.flatMap((kind) => {
        const part = this.#kinds.get(kind)
        return part === undefined ? [] : [{ kind, addresses: part.addresses, ...shown(part.amount) }]
      }),
      top: this.#top.map(({ wallet, kind, amount, program }) => ({ wallet, kind, program, ...shown(amount) })),
      top_share_bps: bpsOf(
        this.#top.reduce((sum, { amount }) => sum + amount, 0n),
        supply,
      ),
    }
  }
}
