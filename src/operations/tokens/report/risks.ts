/** Gives a verdict on each risk that wallets and scanners flag: a level, one sentence, and what would close it. */
import type { TokenReport, TokenReportHolders, TokenRisk } from '../../../api/token-report.ts'
import type { OnChainToken } from '../../../chain/programs/tokens/index.ts'
import type { TransferFee } from '../../../solana/token-extensions.ts'
import { relevantPools } from './relevant-pools.ts'
import { bpsOf, percentText } from './shares.ts'

export interface RiskFacts extends Pick<TokenReport, 'holders' | 'pools'> {
  token: OnChainToken
  epoch: bigint
  /** Percent of the supply above which one holder is a risk. */
  holderLimit: number
  /** Raw units in locks that each wallet can have at any time; null if the locks could not be read. */
  atHand: ReadonlyMap<string, bigint> | null
}

type Verdict = Omit<TokenRisk, 'risk'>

/** A fee above this, in hundredths of a percent, is a danger and no mere warning. */
const HIGH_FEE_BPS = 1_000
/** One holder above this is a danger whatever the limit. */
const MAJORITY_BPS = 5_000
/** Withdrawable liquidity below this part does not matter, and above the other one it is a danger. */
const [LITTLE_BPS, MOST_BPS] = [100, 5_000]
const WHOLE_BPS = 10_000
/** `gaps` of the report says what stopped the reading. */
const READ_AGAIN = 'Read the report again, or set rpc-url to a faster node.'
const ok = (finding: string): Verdict => ({ level: 'ok', finding, remedy: null })
const unknown = (finding: string, remedy: string | null = null): Verdict => ({ level: 'unknown', finding, remedy })
const warning = (finding: string, remedy: string | null): Verdict => ({ level: 'warning', finding, remedy })
const danger = (finding: string, remedy: string | null): Verdict => ({ level: 'danger', finding, remedy })

const VERDICTS: Readonly<Record<TokenRisk['risk'], (facts: RiskFacts) => Verdict>> = {
  mint_authority: ({ token: { mintAuthority } }) =>
    mintAuthority === null
      ? ok('Nobody can mint more.')
      : danger(`${mintAuthority} can mint any amount.`, 'Its holder gives the mint authority up.'),
  freeze_authority: ({ token: { freezeAuthority } }) =>
    freezeAuthority === null
      ? ok('Nobody can freeze what holders have.')
      : danger(`${freezeAuthority} can freeze what any holder has.`, 'Its holder gives the freeze authority up.'),
  mutable_metadata: ({ token }) => metadataVerdict(token),
  unlocked_liquidity: ({ pools }) => liquidityVerdict(pools),
  large_holder: (facts) => holderVerdict(facts),
  permanent_delegate: ({ token: { extensions } }) => {
    const delegate = extensions?.permanentDelegate ?? null
    if (delegate === null) return ok('Nobody can move the tokens of others.')
    return danger(
      `${delegate} can move and burn the tokens of every holder.`,
      'The delegate gives its authority up, permanently.',
    )
  },
  transfer_fee: ({ token, epoch }) => feeVerdict(token, epoch),
  transfer_hook: ({ token: { extensions } }) => {
    const hook = extensions?.transferHook ?? null
    const authority = extensions?.authorities.transfer_hook ?? null
    if (hook !== null) {
      const changeable = authority === null ? '' : `, and ${authority} can replace it`
      return danger(
        `The program ${hook} decides on every transfer${changeable}.`,
        authority === null ? null : 'The hook’s authority removes the program, and gives the authority up.',
      )
    }
    if (authority === null) return ok('Transfers call no other program.')
    return warning(`${authority} can make every transfer call a program.`, 'Its holder gives the hook’s authority up.')
  },
  frozen_by_default: ({ token: { extensions, freezeAuthority } }) => {
    const holder = freezeAuthority
    if (extensions?.isFrozenByDefault) {
      return danger(
        `New accounts are frozen${holder === null ? ', and nobody can thaw them' : ` until ${holder} thaws them`}.`,
        holder === null ? null : 'The freeze authority sets the default state to initialized, and is given up.',
      )
    }
    if (extensions?.hasDefaultState && holder !== null) {
      return warning(`${holder} can make new accounts start frozen.`, 'Its holder gives the freeze authority up.')
    }
    return ok('New accounts can be used at once.')
  },
  pausable: ({ token: { extensions } }) => {
    const isPaused = extensions?.isPaused ?? null
    const authority = extensions?.authorities.pause ?? null
    if (isPaused === true) {
      const who = authority === null ? 'nobody can resume them' : `only ${authority} can resume them`
      return danger(
        `All transfers are paused, and ${who}.`,
        authority === null ? null : 'Its holder resumes transfers, and gives the authority up.',
      )
    }
    if (isPaused === null || authority === null) return ok('Nobody can pause transfers.')
    return danger(`${authority} can pause all transfers.`, 'Its holder gives the pause authority up.')
  },
  non_transferable: ({ token: { extensions } }) =>
    extensions === null || extensions.isTransferable
      ? ok('Holders can transfer the token.')
      : danger('Holders can never transfer the token, so they cannot sell it.', null),
}

/** Returns one verdict on each risk, in the order of the API. */
export function tokenRisks(facts: RiskFacts): TokenRisk[] {
  return (Object.keys(VERDICTS) as TokenRisk['risk'][]).map((risk) => ({ risk, ...VERDICTS[risk](facts) }))
}

function metadataVerdict({ metadata, metadataElsewhere, metadataPointerAuthority }: OnChainToken): Verdict {
  if (metadataElsewhere !== null) {
    return unknown(`Its metadata is in the account ${metadataElsewhere}, which is not read.`)
  }
  if (metadata?.isMutable) {
    const who = metadata.updateAuthority ?? 'The update authority'
    return warning(`${who} can change name, symbol and link.`, 'Its holder gives the metadata authority up.')
  }
  if (metadataPointerAuthority !== null) {
    return warning(
      `${metadataPointerAuthority} can point the mint at other metadata.`,
      'Its holder gives the pointer’s authority up.',
    )
  }
  return ok(metadata === null ? 'The token has no metadata.' : 'Nobody can change name, symbol and link.')
}

function feeVerdict({ extensions }: OnChainToken, epoch: bigint): Verdict {
  const fee = extensions?.transferFee ?? null
  if (extensions === null || fee === null) return ok('Transfers cost no fee of the token.')
  const { now, next } = feesAt(fee, epoch)
  const authority = extensions.authorities.transfer_fee_config ?? null
  const highest = Math.max(now.basisPoints, next?.basisPoints ?? 0)
  const raise =
    authority === null ? null : 'The fee’s authority sets it to 0, waits for it, and gives the authority up.'
  const coming = next === null ? '' : `, and ${percentText(next.basisPoints)} from epoch ${next.epoch} on`
  const changeable = authority === null ? '' : `; ${authority} can change it`
  const finding = `Each transfer costs ${percentText(now.basisPoints)} of its amount${coming}${changeable}.`
  if (highest > HIGH_FEE_BPS) return danger(finding, raise)
  if (highest > 0) return warning(finding, raise)
  return authority === null
    ? ok('Transfers cost no fee of the token, and nobody can raise it.')
    : warning(finding, raise)
}

/** The fee of an epoch, and the one that replaces it later. */
export function feesAt(
  { older, newer }: { older: TransferFee; newer: TransferFee },
  epoch: bigint,
): { now: TransferFee; next: TransferFee | null } {
  return epoch >= newer.epoch ? { now: newer, next: null } : { now: older, next: newer }
}

/** What a wallet can take out of locks at any time counts as its own. */
function holderVerdict({ holders, holderLimit, atHand, token: { supply } }: RiskFacts): Verdict {
  if (holders === null) {
    return unknown(
      'The holders could not be read.',
      'Store a snapshot of them (POST /v2/holder-snapshots, `svc airdrops snapshot`), and read the report again.',
    )
  }
  const limit = holderLimit * 100
  const inTop = new Map(holders.top.map(({ wallet, share_bps }) => [wallet, share_bps]))
  const ofPrograms = new Map(holders.top.flatMap((each) => (each.kind === 'wallet' ? [] : [[each.wallet, each]])))
  const [largest] = [...new Set([...inTop.keys(), ...(atHand?.keys() ?? [])])]
    .map((wallet) => {
      const inLocks = bpsOf(atHand?.get(wallet) ?? 0n, supply)
      return { wallet, inLocks, share: (inTop.get(wallet) ?? 0) + inLocks }
    })
    .sort((a, b) => b.share - a.share)
  if (largest !== undefined && largest.share > limit) {
    const { wallet, inLocks, share } = largest
    const withLocks = inLocks > 0 ? `, of which ${percentText(inLocks)} are in locks that pay it at any time` : ''
    const finding = `${wallet} holds ${percentText(share)} of the supply${withLocks}${programText(ofPrograms.get(wallet))}.`
    const remedy = 'It locks its tokens, or spreads them.'
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
  return ok(
    relevant.length === pools.pools.length
      ? 'Nobody can withdraw the liquidity of its pools on Meteora; liquidity elsewhere is not counted.'
      : `Nobody can withdraw the liquidity of its ${relevant.length === 1 ? 'largest pool' : `${relevant.length} largest pools`}; smaller ones are not judged.`,
  )
}
