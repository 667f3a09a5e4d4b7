/** Gives a verdict on each risk that wallets and scanners flag: a level, one sentence, and what would close it. */
import { TOKEN_RISKS, type TokenReport, type TokenReportHolders, type TokenRisk } from '../../../api/token-report.ts'
import type { OnChainToken } from '../../../chain/programs/tokens/index.ts'
import {
  danger,
  MINT_VERDICTS,
  type MintRisk,
  ok,
  percentText,
  unknown,
  usableHolder,
  type Verdict,
  type VerdictTime,
  warning,
} from '../../../solana/token-verdicts.ts'
import type { AtHand } from './lock-facts.ts'
import { freeOutside, relevantPools } from './relevant-pools.ts'
import { bpsOf } from './shares.ts'

export interface RiskFacts extends Pick<TokenReport, 'holders' | 'pools'>, VerdictTime {
  token: OnChainToken
  /** Percent of the supply above which one holder is a risk. */
  holderLimit: number
  /** What each wallet can have of locks soon; null if the locks could not be read. */
  atHand: ReadonlyMap<string, AtHand> | null
}

/** One holder above this is a danger whatever the limit. */
const MAJORITY_BPS = 5_000
/** Withdrawable liquidity below this part does not matter, and above the other one it is a danger. */
const LITTLE_BPS = 100
const MOST_BPS = 5_000
const WHOLE_BPS = 10_000
/** `gaps` of the report says what stopped the reading. */
const READ_AGAIN = 'Read the report again, or set rpc-url to a faster node.'

/** Those that more than the mint decides. */
const VERDICTS: Readonly<
  Record<Exclude<TokenRisk['risk'], MintRisk> | 'freeze_authority', (facts: RiskFacts) => Verdict>
> = {
  freeze_authority: (facts) => freezeVerdict(facts),
  unlocked_liquidity: ({ pools }) => liquidityVerdict(pools),
  large_holder: (facts) => holderVerdict(facts),
}

/** Returns one verdict on each risk, in the order of the API. */
export const tokenRisks = (facts: RiskFacts): TokenRisk[] =>
  TOKEN_RISKS.map((risk) => {
    const own = risk in VERDICTS ? VERDICTS[risk as keyof typeof VERDICTS] : undefined
    return { risk, ...(own?.(facts) ?? MINT_VERDICTS[risk as MintRisk](facts.token, facts)) }
  })

/** A frozen vault is a freeze of everybody: nobody can trade with its pool. */
function freezeVerdict(facts: RiskFacts): Verdict {
  const frozen = facts.pools?.pools.find(({ frozen }) => frozen)
  if (frozen === undefined) return MINT_VERDICTS.freeze_authority(facts.token)
  const holder = usableHolder(facts.token.freezeAuthority)
  return danger(
    `A vault of the pool ${frozen.address} is frozen, so that nobody can trade there${holder === null ? ', for good' : ''}.`,
    holder === null ? null : `${holder} thaws it, and gives the freeze authority up.`,
  )
}

/** What a wallet can soon take out of locks, or as withheld fees, counts as its own. */
function holderVerdict({ holders, holderLimit, atHand, token }: RiskFacts): Verdict {
  if (holders === null) {
    return unknown(
      'The holders could not be read.',
      'Store a snapshot of them (POST /v2/holder-snapshots, `svc airdrops snapshot`), and read the report again.',
    )
  }
  const supply = BigInt(holders.supply)
  const limit = holderLimit * 100
  const inTop = new Map(holders.top.map(({ wallet, share_bps }) => [wallet, share_bps]))
  const ofPrograms = new Map(holders.top.flatMap((each) => (each.kind === 'wallet' ? [] : [[each.wallet, each]])))
  const collector = usableHolder(token.extensions?.authorities.withheld_withdraw)
  const withheld = collector === null ? 0 : bpsOf(BigInt(holders.withheld), supply)
  const [largest] = [
    ...new Set([...inTop.keys(), ...(atHand?.keys() ?? []), ...(collector === null ? [] : [collector])]),
  ]
    .map((wallet) => {
      const own = atHand?.get(wallet)
      const [inLocks, inFees] = [bpsOf(own?.amount ?? 0n, supply), wallet === collector ? withheld : 0]
      return { wallet, inLocks, inFees, by: own?.by ?? null, share: (inTop.get(wallet) ?? 0) + inLocks + inFees }
    })
    .sort((a, b) => b.share - a.share)
  if (largest !== undefined && largest.share > limit) {
    const { wallet, inLocks, inFees, by, share } = largest
    const when = by === null ? 'at any time' : `by ${by.slice(0, 10)}`
    const parts = [
      ...(inLocks > 0 ? [`${percentText(inLocks)} are in locks that pay it ${when}`] : []),
      ...(inFees > 0 ? [`${percentText(inFees)} are withheld transfer fees that it can withdraw`] : []),
    ]
    const which = parts.length === 0 ? '' : `, of which ${parts.join(', and ')}`
    const finding = `${wallet} holds ${percentText(Math.min(share, WHOLE_BPS))} of the supply${which}${programText(ofPrograms.get(wallet))}.`
    const remedy =
      inFees > inLocks
        ? 'It withdraws the fees and burns them, and gives the authority up.'
        : 'It locks its tokens, or spreads them.'
    return share > MAJORITY_BPS ? danger(finding, remedy) : warning(finding, remedy)
  }
  const partOf = (kind: string) => holders.parts.find((part) => part.kind === kind)?.share_bps ?? 0
  if (atHand === null && partOf('lock_escrow') > limit) {
    return unknown(`Locks hold ${percentText(partOf('lock_escrow'))} of the supply, and could not be read.`)
  }
  if (partOf('distributor_vault') > limit) {
    const share = percentText(partOf('distributor_vault'))
    return unknown(`Distributors hold ${share} of the supply, and the chain does not show for whom.`)
  }
  if (partOf('raise_vault') > limit) {
    const share = percentText(partOf('raise_vault'))
    return unknown(`Raises hold ${share} of the supply, for their buyers, or for their creator if they fail.`)
  }
  return ok(
    largest === undefined
      ? 'No wallet holds any of it.'
      : `The largest holder has ${percentText(largest.share)} of the supply.`,
  )
}

/** Not every program is read, so such a holder is neither proven to be one person nor to be many. */
function programText(holder: TokenReportHolders['top'][number] | undefined): string {
  if (holder === undefined) return ''
  const what = holder.program === null ? 'an address of a program' : `held by the program ${holder.program}`
  return `; it is ${what}, such as a multisig or a pool that is not read`
}

function liquidityVerdict(pools: TokenReport['pools']): Verdict {
  if (pools === null)
    return unknown('The pools could not be read.', 'Set rpc-url to a node that lists the accounts of programs.')
  const relevant = relevantPools(pools.pools, BigInt(pools.base_amount))
  if (relevant.length === 0) {
    return unknown('Neither Meteora DBC nor DAMM v2 has a pool of it; liquidity elsewhere is not counted.')
  }
  const freeIn = ({ unlocked_bps }: (typeof relevant)[number]) => unlocked_bps ?? 0
  const worst = relevant.reduce((a, b) => (freeIn(b) > freeIn(a) ? b : a))
  const unread = relevant.find(
    ({ unlocked_bps, locked_bps }) => unlocked_bps === null && locked_bps <= WHOLE_BPS - LITTLE_BPS,
  )
  if (unread !== undefined && freeIn(worst) < MOST_BPS) {
    return unknown(`It was not read who can withdraw the liquidity of ${unread.address}.`, READ_AGAIN)
  }
  const outside = freeOutside(pools.pools, relevant)
  if (outside !== null && outside.bps > freeIn(worst) && outside.bps >= LITTLE_BPS) {
    const part = `${percentText(outside.bps)} of the ${outside.of} in all pools`
    const finding = `The owners of smaller pools, such as ${outside.address}, can withdraw ${part}.`
    const remedy = 'They lock their positions for good.'
    return outside.bps >= MOST_BPS ? danger(finding, remedy) : warning(finding, remedy)
  }
  if (freeIn(worst) >= LITTLE_BPS) {
    const finding = `Its owners can withdraw ${percentText(freeIn(worst))} of the liquidity of ${worst.address}.`
    const remedy = 'They lock their positions for good.'
    return freeIn(worst) >= MOST_BPS ? danger(finding, remedy) : warning(finding, remedy)
  }
  const vesting = relevant.find(({ vesting_bps }) => (vesting_bps ?? 0) >= LITTLE_BPS)
  if (vesting !== undefined) {
    return warning(
      `A schedule unlocks ${percentText(vesting.vesting_bps ?? 0)} of the liquidity of ${vesting.address} later.`,
      'Its owners lock their positions for good.',
    )
  }
  const curve = relevant.find(({ migrated_locked_bps: later }) => later !== null && later <= WHOLE_BPS - LITTLE_BPS)
  if (curve !== undefined) {
    return warning(
      `The curve ${curve.address} holds the liquidity, and its migration locks ${percentText(curve.migrated_locked_bps ?? 0)} for good.`,
      null,
    )
  }
  // Anybody can open pools that hold more of the token than the one in which it is traded.
  if (pools.found > pools.pools.length) {
    return unknown(
      `Nobody can withdraw the liquidity of the ${pools.pools.length} pools with most of it, and ${pools.found - pools.pools.length} more were not read.`,
    )
  }
  if (outside?.isStrange) {
    return unknown(
      `The owners of ${outside.address} can withdraw its liquidity, and what its quote ${outside.quoteMint} is worth is not known.`,
    )
  }
  return ok(
    relevant.length === pools.pools.length
      ? 'Nobody can withdraw the liquidity of its pools on Meteora; liquidity elsewhere is not counted.'
      : `Nobody can withdraw the liquidity of its ${relevant.length === 1 ? 'largest pool' : `${relevant.length} largest pools`}; all others together hold less than 1 %.`,
  )
}
