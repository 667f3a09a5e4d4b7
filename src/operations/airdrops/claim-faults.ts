/** Determines why a wallet cannot claim now, as reason and message. Building a claim and listing a wallet's airdrops both use them. */
import { PROPOSED_START_DAYS } from '../../api/airdrop-terms.ts'
import type { ClaimFaultReason } from '../../api/airdrops.ts'
import type { ClaimStatus, Distributor } from '../../chain/programs/merkle-distributor/index.ts'
import type { TokenAccountState } from '../../chain/sending/balance-changes.ts'
import type { Context } from '../../context.ts'
import { DAY_SECONDS } from '../../platform/timing.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { groupedDecimalOf } from '../../solana/amounts.ts'
import { keyFault } from '../../solana/bare-addresses.ts'
import { readTokenLabels } from '../tokens/labels.ts'
import type { ClaimPayment } from './claim-payment.ts'
import { describeUnixTime, isoOfUnixTime } from './on-chain.ts'

/**
 * A start at most this far ahead may be a formality. The time exceeds the margin of any tool and the lag of any node.
 */
const FORMAL_WITHIN_S = 3_600n
/** The same for an airdrop that has waited for a multisig or for approvers: its start leaves the people days. */
const PROPOSED_WITHIN_S = FORMAL_WITHIN_S + BigInt(PROPOSED_START_DAYS * DAY_SECONDS)

interface ClaimQuestion {
  id: string
  claimer: string
  /** What a claim would pay now. */
  payment: ClaimPayment
  /** Whether amounts vest, so that start and end are a real schedule. */
  vests: boolean
  /** Root of the stored tree in hex, or null when amount and proof were given and checked against the distributor. */
  root: string | null
  address: string
  distributor: Distributor | null
  /** Address of the platform wallet; null without one. */
  platform: string | null
  vaultAddress: string
  vault: TokenAccountState | null
  /** Reasons as sentences, empty when there is none. */
  reasonsNotToFund: readonly string[]
  /** Claim status of the wallet, or null before it has claimed. */
  status: ClaimStatus | null
  /** Token account of the claimer for this mint, or null when none is open. */
  account: TokenAccountState | null
  /** Time of the chain in Unix seconds. */
  now: bigint
  /** Writes raw units for people; without it they are called raw units. */
  shown?: (raw: bigint) => string
}

const rawUnits = (raw: bigint) => `${groupedDecimalOf(raw, 0)} raw units`

interface ClaimFault {
  reason: ClaimFaultReason
  message: string
  param: string
  /** Figures as digit strings, and addresses. */
  details: Record<string, unknown>
}

/** Returns the first fault that prevents the claim, or null. */
export function claimFault(question: ClaimQuestion): ClaimFault | null {
  const { id, distributor, root } = question
  if (distributor === null) {
    const message = `The airdrop ${id} is not on chain yet: initialize it first (POST /v2/airdrops, \`svc airdrops init ${id}\`)`
    return { reason: 'not_initialized', message, param: 'id', details: {} }
  }
  if (root !== null && root !== distributor.root) {
    const message = `The distributor of the airdrop ${id} on chain has the root ${distributor.root}, made by ${distributor.admin}, and the stored tree has ${root}: it is another airdrop, and wallets of this tree cannot claim from it`
    return {
      reason: 'other_root',
      message,
      param: 'id',
      details: { root: distributor.root, stored_root: root, admin: distributor.admin },
    }
  }
  const present = { ...question, distributor }
  for (const check of CLAIM_CHECKS) {
    const fault = check(present)
    if (fault !== null) return fault
  }
  return null
}

type ClaimCheck = (question: ClaimQuestion & { distributor: Distributor }) => ClaimFault | null

const CLAIM_CHECKS: readonly ClaimCheck[] = [
  alreadyClaimed,
  vaultClawedBack,
  nothingVested,
  notStarted,
  capReached,
  vaultFrozen,
  unfunded,
  accountUnusable,
]

function alreadyClaimed({ id, claimer, status, shown = rawUnits }: ClaimQuestion): ClaimFault | null {
  if (status === null || status.lockedWithdrawn < status.locked) return null
  const claimed = status.unlocked + status.lockedWithdrawn
  const rule = status.locked === 0n ? 'a wallet claims once' : 'all that was locked has vested and is claimed'
  const message = `${claimer} has claimed ${shown(claimed)} from the airdrop ${id} already: ${rule}`
  return { reason: 'already_claimed', message, param: 'claimer', details: { claimed: String(claimed) } }
}

/** A first claim that pays nothing yet would only cost the rent of its record. */
function nothingVested({
  id,
  claimer,
  payment,
  status,
  shown = rawUnits,
}: Parameters<ClaimCheck>[0]): ClaimFault | null {
  const { unlocked, vested, nextVestingAt } = payment
  if (unlocked + vested > 0n || nextVestingAt === null) return null
  const when = describeUnixTime(nextVestingAt)
  const claimed = status === null ? 0n : status.unlocked + status.lockedWithdrawn
  const before = status === null ? '' : ` (${shown(claimed)} were claimed before)`
  const message = `Nothing of the airdrop ${id} can be claimed by ${claimer} now${before}: the next tokens vest at ${when}`
  return {
    reason: 'nothing_vested',
    message,
    param: 'claimer',
    details: { next_vesting_at: isoOfUnixTime(nextVestingAt), claimed: String(claimed) },
  }
}

function vaultClawedBack({ id, distributor }: Parameters<ClaimCheck>[0]): ClaimFault | null {
  if (!distributor.isClawedBack) return null
  const message = `The vault of the airdrop ${id} was withdrawn after its clawback time, ${describeUnixTime(distributor.clawbackAt)}: it can no longer be claimed`
  return { reason: 'clawed_back', message, param: 'id', details: { clawback_receiver: distributor.clawbackReceiver } }
}

/**
 * Unlocked amounts are paid even before the start. If nothing vests, the start is only the creator's intent. The
 * program requires a start of every new distributor, so a start within the hour directly followed by the end is not a
 * real schedule. An admin without a key is the vault of a multisig; what the platform wallet makes may have waited too.
 */
function notStarted({ id, distributor, now, vests, platform }: Parameters<ClaimCheck>[0]): ClaimFault | null {
  if (vests) return null
  const { startsAt, endsAt, admin } = distributor
  const hasWaited = admin === platform || keyFault(addressBytes(admin)) !== null
  const within = hasWaited ? PROPOSED_WITHIN_S : FORMAL_WITHIN_S
  const isFormal = endsAt - startsAt <= 1n && startsAt - now <= within
  if (startsAt <= now || isFormal) return null
  const message = `The airdrop ${id} has not started: it starts at ${describeUnixTime(startsAt)}`
  return { reason: 'not_started', message, param: 'id', details: { seconds_left: String(startsAt - now) } }
}

function capReached({
  id,
  payment,
  distributor,
  status,
  shown = rawUnits,
}: Parameters<ClaimCheck>[0]): ClaimFault | null {
  const amount = payment.unlocked + payment.vested
  const { claimedNodes, maxNodes, claimedTotal, maxTotal } = distributor
  if ((status !== null || claimedNodes < maxNodes) && claimedTotal + amount <= maxTotal) return null
  const message = `The airdrop ${id} has paid out ${shown(claimedTotal)} of at most ${shown(maxTotal)} to ${claimedNodes} of at most ${maxNodes} wallets: ${shown(amount)} more is beyond its caps`
  const details = { claimed: String(claimedTotal), max_total: String(maxTotal), max_claims: String(maxNodes) }
  return { reason: 'cap_reached', message, param: 'id', details }
}

function vaultFrozen({ id, vaultAddress, vault }: Parameters<ClaimCheck>[0]): ClaimFault | null {
  if (vault?.state !== 'frozen') return null
  const message = `The vault ${vaultAddress} of the airdrop ${id} is frozen: the freeze authority of ${vault.mint} has to thaw it first`
  return { reason: 'vault_frozen', message, param: 'id', details: { vault: vaultAddress } }
}

/** The message suggests funding only if unclaimed tokens return to the admin. */
function unfunded({ shown = rawUnits, ...question }: Parameters<ClaimCheck>[0]) {
  const { id, payment, vaultAddress, vault, distributor, reasonsNotToFund } = question
  const amount = payment.unlocked + payment.vested
  const vaultBalance = vault?.amount ?? 0n
  if (vaultBalance >= amount) return null
  const short = `The vault of the airdrop ${id} holds ${shown(vaultBalance)}, less than the ${shown(amount)} to claim`
  const message =
    reasonsNotToFund.length === 0
      ? `${short}: it has to be funded first (${vaultAddress})`
      : `${short}. ${reasonsNotToFund.join('. ')}`
  const details = {
    vault: vaultAddress,
    vault_balance: String(vaultBalance),
    amount: String(amount),
    clawback_receiver: distributor.clawbackReceiver,
  }
  return { reason: 'unfunded' as const, message, param: 'id', details }
}

function accountUnusable({ claimer, account }: Parameters<ClaimCheck>[0]): ClaimFault | null {
  if (account === null || (account.owner === claimer && account.state !== 'frozen')) return null
  const why = account.owner === claimer ? 'is frozen' : `belongs to ${account.owner}`
  const message = `The token account of ${claimer} for ${account.mint} ${why}: it cannot receive anything`
  return { reason: 'account_unusable', message, param: 'claimer', details: { owner: account.owner } }
}

/** The same fault with its amounts in whole tokens, if the mint can be read; one more call to the node. */
export async function claimFaultInTokens(
  chain: Context['chain'],
  mint: string,
  question: ClaimQuestion,
): Promise<ClaimFault | null> {
  const fault = claimFault(question)
  if (fault === null) return null
  const label = await readTokenLabels(chain, [mint]).then(
    (labels) => labels.get(mint),
    () => null,
  )
  if (!label) return fault
  const unit = label.symbol ?? `of ${mint}`
  return claimFault({ ...question, shown: (raw) => `${groupedDecimalOf(raw, label.decimals)} ${unit}` })
}
