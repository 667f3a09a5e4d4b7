/** Reads everything that the chain shows about a token, whoever created it, with a verdict on each known risk. */
import type { Api } from '../../../api/index.ts'
import type { Input, Result } from '../../../api/route.ts'
import type { TokenReport } from '../../../api/token-report.ts'
import { unpaidLocksOfMint } from '../../../chain/programs/jupiter-lock/index.ts'
import {
  namedExtensions,
  type OnChainToken,
  readTokenAtTime,
  tokenStatus,
} from '../../../chain/programs/tokens/index.ts'
import type { Context } from '../../../context.ts'
import { isoSeconds } from '../../../solana/lock-schedule.ts'
import { feesAt } from '../../../solana/token-verdicts.ts'
import { cleanLabel } from '../labels.ts'
import { REPORT_BUDGETS, withinBudget } from './budget.ts'
import { type Gaps, readOrNoteGap } from './gaps.ts'
import { holderFacts } from './holder-facts.ts'
import { atHandIn, lockFacts } from './lock-facts.ts'
import { poolFacts } from './pool-facts.ts'
import { tokenRisks } from './risks.ts'

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
