/** Makes the postings of a transaction from the balances before and after it, divided into named parts. */
import type { LedgerKind, LedgerParty } from '../../api/ledger-names.ts'
import type { AccountBalances, ExecutedBalances } from '../../chain/reads/executed-balances.ts'
import { executionOrder } from '../../chain/reads/history.ts'
import { TIP_ACCOUNTS } from '../../solana/bundles.ts'
import { SOL_DECIMALS } from '../../solana/constants.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeInstruction } from '../../solana/instructions.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { actsIn, isChargeable, type KnownAddresses, type LedgerAct } from './acts.ts'
import { NETWORK, type Parties, partiesIn } from './parties.ts'
import { type RaiseMove, raiseMovesIn } from './raise-moves.ts'

/** SOL as a token. Wrapped SOL counts as SOL, because it is the lamports of its token accounts. */
export const SOL = ''

export interface Posting {
  account: string
  owner: string
  token: string
  decimals: number
  /** Raw units with a sign; never 0. */
  amount: bigint
  /** The account's balance after the transaction; null if it is not an account of the transaction. */
  balanceAfter: bigint | null
  kind: LedgerKind
  detail: string | null
  party: LedgerParty
  counterparty: string | null
  pool: string | null
}

/** The part of each account's change in one token that is not posted yet, without the network fee. */
type Rests = Map<string, bigint>
type Naming = Pick<Posting, 'kind' | 'detail' | 'pool'>

interface Frame {
  executed: ExecutedBalances
  known: KnownAddresses
  acts: readonly LedgerAct[]
  raises: readonly RaiseMove[]
  parties: Parties
  /** Whether payments to the platform may be its fee. */
  isChargeable: boolean
  flows: SystemFlows
  accounts: ReadonlyMap<string, AccountBalances>
  postings: Posting[]
}

type SupplyKind = 'mint' | 'burn' | 'withheld'

const LAMPORTS = { token: SOL, decimals: SOL_DECIMALS } as const
const UNNAMED = { detail: null, pool: null } as const

/**
 * The postings of each token add up to zero, and those of each account to its change on chain. Known parts (fee, rent,
 * payments between wallets) are posted first, and the rest of each change under the act of the transaction.
 */
export function postingsOf(executed: ExecutedBalances, known: KnownAddresses): Posting[] {
  const message = executionOrder(executed)
  const tokenOwners = new Map(
    executed.accounts.flatMap(({ address, holdings: [held] }) => (held ? [[address, held.owner]] : [])),
  )
  const acts = executed.isFailed ? [] : actsIn(message, { ...known, tokenOwners })
  const flows = systemFlowsIn(executed.isFailed ? { ...message, instructions: [] } : message)
  const raises = executed.isFailed ? [] : raiseMovesIn(message)
  const parties = partiesIn(executed, message, { acts, raises, known })
  const accounts = new Map(executed.accounts.map((each) => [each.address, each]))
  const charged = { isChargeable: isChargeable(message, acts, known), flows }
  const frame: Frame = { executed, known, acts, raises, parties, ...charged, accounts, postings: [] }
  postLamports(frame)
  postTokens(frame)
  return apportioned(frame)
}

function postLamports(frame: Frame): void {
  const { executed, flows } = frame
  const rests: Rests = new Map(executed.accounts.map(({ address, before, after }) => [address, after - before]))
  const payer = executed.accounts[0]?.address ?? NETWORK
  moveLamports(frame, rests, { from: payer, to: NETWORK, amount: executed.fee }, { kind: 'network_fee', ...UNNAMED })
  rests.delete(NETWORK)
  postRaises(frame, rests, { ...LAMPORTS, mint: WRAPPED_SOL })
  const opened = new Set<string>()
  for (const account of executed.accounts) {
    const { address, before, after } = account
    const isMade = flows.opened.has(address) || account.holdings.length > 0
    if (before === 0n && after > 0n && isMade) {
      opened.add(address)
      const naming = { ...namingOf(frame, address, SOL), kind: 'rent_paid' } as const
      const amount = after - wrapped(account, 'after')
      const from = lenderOf(frame, flows.opened.get(address) ?? payer, amount)
      moveLamports(frame, rests, { from, to: address, amount }, naming)
    }
    if (before > 0n && after === 0n && isClosed(frame, account)) {
      const amount = before - wrapped(account, 'before')
      const naming = { ...namingOf(frame, address, SOL), kind: 'rent_returned' } as const
      moveLamports(frame, rests, { from: address, to: receiverOf(frame, address, rests), amount }, naming)
    }
    const receiver = flows.withdrawn.get(address)
    if (receiver !== undefined && after > 0n) {
      const naming = { ...namingOf(frame, address, SOL), kind: 'rent_returned' } as const
      moveLamports(frame, rests, { from: address, to: receiver, amount: before - after }, naming)
    }
  }
  for (const { source, destination, lamports } of flows.transfers) {
    if (opened.has(destination) || !isPayment(frame, source, destination)) continue
    const naming = paymentNaming(frame, source, destination)
    moveLamports(frame, rests, { from: source, to: destination, amount: lamports }, naming)
  }
  postRests(frame, rests, LAMPORTS)
}

function moveLamports(
  frame: Frame,
  rests: Rests,
  { from, to, amount }: { from: string; to: string; amount: bigint },
  naming: Naming,
): void {
  if (amount > 0n && from !== to) moveRest(frame, rests, { from, to, amount }, { ...LAMPORTS, ...naming })
}

/** Posts one part of two accounts' changes and subtracts it from what is left to post. */
function moveRest(
  frame: Frame,
  rests: Rests,
  { from, to, amount }: { from: string; to: string; amount: bigint },
  of: Naming & Pick<Posting, 'token' | 'decimals'>,
): void {
  post(frame, { ...of, account: from, amount: -amount, counterparty: frame.parties.ownerOf(to) })
  post(frame, { ...of, account: to, amount, counterparty: frame.parties.ownerOf(from) })
  rests.set(from, (rests.get(from) ?? 0n) + amount)
  rests.set(to, (rests.get(to) ?? 0n) - amount)
}

/**
 * Returns who paid an account's rent. If the payer's balance is unchanged, it is the wallet that gave the payer
 * exactly that amount.
 */
function lenderOf({ accounts, flows }: Frame, payer: string, amount: bigint): string {
  const account = accounts.get(payer)
  if (account === undefined || account.before !== account.after) return payer
  const loan = flows.transfers.find(({ destination, lamports }) => destination === payer && lamports === amount)
  return loan?.source ?? payer
}

const wrapped = ({ holdings }: AccountBalances, side: 'before' | 'after'): bigint =>
  holdings.find(({ mint }) => mint === WRAPPED_SOL)?.[side] ?? 0n

/** Whether the account was closed. A wallet that pays out all it has does not count. */
function isClosed({ executed, flows }: Frame, { address, holdings }: AccountBalances): boolean {
  if (flows.closed.has(address) || holdings.length > 0) return true
  const isSigner = executed.message.keys.indexOf(address) < executed.message.signers
  return !isSigner && !flows.transfers.some(({ source }) => source === address)
}

/** Returns who received the lamports. If no instruction names the receiver, it is the account that gained the most. */
function receiverOf({ flows, parties }: Frame, account: string, rests: Rests): string {
  const named = flows.closed.get(account)
  if (named !== undefined && (rests.get(named) ?? 0n) !== 0n) return named
  const gains = [...rests].filter(([other, rest]) => rest > 0n && parties.poolOf(other) === null)
  const [first] = gains.sort(([, one], [, other]) => (other > one ? 1 : other < one ? -1 : 0))
  return first?.[0] ?? named ?? account
}

/**
 * Whether a transfer is a payment: both wallets end with another balance, except a claimer that passes on its whole
 * claim. Wrapping SOL and paying into a pool are not payments.
 */
function isPayment({ parties, accounts, acts }: Frame, source: string, destination: string): boolean {
  const isChanged = (address: string) => {
    const account = accounts.get(address)
    return account !== undefined && account.before !== account.after
  }
  const isHeld = [source, destination].some(
    (account) => parties.poolOf(account) !== null || acts.some(({ holder }) => holder === account),
  )
  const isOwn = parties.ownerOf(source) === parties.ownerOf(destination)
  const isClaimer = acts.some(({ kind, actor }) => kind === 'claim' && actor === source)
  return (isChanged(source) || isClaimer) && isChanged(destination) && !isHeld && !isOwn
}

function paymentNaming({ acts, known, parties, isChargeable }: Frame, source: string, destination: string): Naming {
  const payer = parties.ownerOf(source)
  const receiver = parties.ownerOf(destination)
  if ((TIP_ACCOUNTS as readonly string[]).includes(receiver)) return { kind: 'relay_tip', ...UNNAMED }
  const claim = acts.find(({ kind, actor }) => kind === 'claim' && actor === payer)
  const isShare = claim !== undefined && (claim.recipients.includes(receiver) || !known.platform.has(receiver))
  if (isShare) return { kind: 'split_share', detail: claim.detail, pool: claim.pool }
  const pool = acts.length === 1 ? (acts[0]?.pool ?? null) : null
  if (known.platform.has(receiver) && isChargeable) return { kind: 'platform_fee', detail: null, pool }
  return { kind: 'transfer', detail: null, pool }
}

function postTokens(frame: Frame): void {
  const byMint = new Map<string, { decimals: number; rests: Rests }>()
  for (const { address, holdings } of frame.executed.accounts) {
    for (const { mint, decimals, before, after } of holdings) {
      if (mint === WRAPPED_SOL || before === after) continue
      const of = byMint.get(mint) ?? { decimals, rests: new Map() }
      of.rests.set(address, after - before)
      byMint.set(mint, of)
    }
  }
  for (const [mint, { decimals, rests }] of byMint) {
    const sum = [...rests.values()].reduce((total, each) => total + each, 0n)
    postRaises(frame, rests, { token: mint, decimals, mint })
    postShares(frame, rests, { token: mint, decimals })
    const made: SupplyKind = sum > 0n ? 'mint' : frame.flows.burned.has(mint) ? 'burn' : 'withheld'
    postRests(frame, rests, { token: mint, decimals }, sum === 0n ? undefined : made)
    if (sum === 0n) continue
    const naming = { ...namingOf(frame, mint, mint), kind: made } as const
    const counterparty = frame.parties.ownerOf(extreme(rests, sum > 0n) ?? mint)
    post(frame, { token: mint, decimals, ...naming, account: mint, amount: -sum, counterparty })
  }
}

/**
 * Posts shares of a claim in a token: the claimer passed on what a recipient gained. The claimer's own balance may be
 * unchanged.
 */
function postShares(frame: Frame, rests: Rests, of: Pick<Posting, 'token' | 'decimals'>): void {
  const { acts, parties, executed } = frame
  const holders = executed.accounts.filter(({ holdings }) => holdings.some(({ mint }) => mint === of.token))
  for (const act of acts.filter(({ kind, recipients }) => kind === 'claim' && recipients.length > 0)) {
    const from = holders.find(({ address }) => parties.ownerOf(address) === act.actor)?.address
    if (from === undefined) continue
    const naming = { kind: 'split_share', detail: act.detail, pool: act.pool } as const
    for (const [account, amount] of rests) {
      const owner = parties.ownerOf(account)
      const isShare = act.recipients.includes(owner) || act.recipients.includes(account)
      if (isShare && owner !== act.actor && amount > 0n)
        moveRest(frame, rests, { from, to: account, amount }, { ...of, ...naming })
    }
  }
}

/** Posts the rest of each account's change. `made` is its name if a supply changed without an act. */
function postRests(frame: Frame, rests: Rests, of: Pick<Posting, 'token' | 'decimals'>, made?: SupplyKind): void {
  for (const [account, amount] of rests) {
    if (amount === 0n) continue
    const act = actOf(frame, account, of.token)
    const naming = act ? namingOf(frame, account, of.token) : ({ kind: made ?? 'transfer', ...UNNAMED } as const)
    const other = extreme(rests, amount < 0n)
    const fallback = other === null ? (made === undefined ? null : of.token) : frame.parties.ownerOf(other)
    const counterparty = act ? (counterpartyOf(frame, act, account) ?? fallback) : fallback
    const parts = claimParts(frame, account, amount)
    if (parts === null) post(frame, { ...of, ...naming, account, amount, counterparty })
    else for (const part of parts) post(frame, { ...of, ...part, account })
  }
}

/** Posts what moved between vaults of raises and wallets, so that the rest of a settlement is what went into the pool. */
function postRaises(
  frame: Frame,
  rests: Rests,
  { mint, ...of }: Pick<Posting, 'token' | 'decimals'> & { mint: string },
): void {
  const { accounts, parties, raises } = frame
  const isVault = (account: string) =>
    parties.partyOf(account) === 'raise' && accounts.get(account)?.holdings.some((held) => held.mint === mint) === true
  for (const { raise, detail, from, to, amount, wallet } of raises) {
    const isPaid = isVault(to)
    if (isPaid === isVault(from) || amount === 0n) continue
    const vault = isPaid ? to : from
    const other = isPaid ? from : to
    // SOL that is wrapped or unwrapped around the act is that of the wallet.
    const account = of.token !== SOL || wallet === null || (rests.get(other) ?? 0n) !== 0n ? other : wallet
    const change = isPaid ? amount : -amount
    const naming = { ...of, kind: 'raise', detail, pool: null } as const
    post(frame, { ...naming, account: vault, amount: change, counterparty: parties.ownerOf(account) })
    post(frame, { ...naming, account, amount: -change, counterparty: raise })
    rests.set(vault, (rests.get(vault) ?? 0n) - change)
    rests.set(account, (rests.get(account) ?? 0n) + change)
  }
}

/** Divides the change of one vault among several claims, if they explain all of it; else returns null. */
function claimParts(
  { acts, parties }: Frame,
  account: string,
  amount: bigint,
): (Naming & Pick<Posting, 'amount' | 'counterparty'>)[] | null {
  const pool = parties.poolOf(account)
  const claims = acts.filter((act) => act.kind === 'claim' && act.pool === pool && act.taken.has(account))
  if (pool === null || claims.length < 2) return null
  const parts = claims.map(({ kind, detail, actor, taken }) => {
    return { kind, detail, pool, counterparty: actor, amount: -(taken.get(account) ?? 0n) }
  })
  const isAll = parts.reduce((sum, part) => sum + part.amount, 0n) === amount
  return isAll ? parts.filter((part) => part.amount !== 0n) : null
}

/** Returns the account that gained the most, or lost the most. */
function extreme(rests: Rests, isGain: boolean): string | null {
  let found: string | null = null
  for (const [account, rest] of rests) {
    const most = found === null ? 0n : (rests.get(found) ?? 0n)
    if (isGain ? rest > most : rest < most) found = account
  }
  return found
}

/** Returns the act of a change: the act of its pool, else of its owner, else the first. */
function actOf({ acts, parties }: Frame, account: string, token: string): LedgerAct | undefined {
  const pool = parties.poolOf(account)
  const owner = parties.ownerOf(account)
  const own = acts.filter((act) => (pool === null ? act.actor === owner || act.holder === owner : act.pool === pool))
  const among = own.length > 0 ? own : acts
  // In a launch with its first buy the base token belongs to the launch, and the payment to the trade.
  const launch = among.find(({ kind }) => kind === 'launch')
  const trade = among.find(({ kind }) => kind === 'trade')
  if (launch !== undefined && trade !== undefined) return token === launch.mint ? launch : trade
  return among[0]
}

function namingOf(frame: Frame, account: string, token: string): Naming {
  const act = actOf(frame, account, token)
  return act === undefined ? { kind: 'other', ...UNNAMED } : { kind: act.kind, detail: act.detail, pool: act.pool }
}

function counterpartyOf({ parties }: Frame, act: LedgerAct, account: string): string | null {
  const isHeld = parties.poolOf(account) !== null || parties.ownerOf(account) === act.holder
  const other = isHeld ? act.actor : (act.pool ?? act.holder)
  return other === parties.ownerOf(account) ? null : other
}

function post(frame: Frame, posting: Omit<Posting, 'owner' | 'party' | 'balanceAfter'>): void {
  const { parties, accounts, postings } = frame
  const { account, token } = posting
  const balances = accounts.get(account)
  const held = token === SOL ? balances?.after : balances?.holdings.find(({ mint }) => mint === token)?.after
  // The mint's own posting represents the supply, for which there is no balance.
  const balanceAfter = held ?? null
  postings.push({ ...posting, owner: parties.ownerOf(account), party: parties.partyOf(account), balanceAfter })
}

/** Splits what one wallet claimed at once from several pools, or of several kinds, by what left each source. */
function apportioned({ acts, postings, parties }: Frame): Posting[] {
  const claims = acts.filter(({ kind, pool }) => kind === 'claim' && pool !== null)
  if (claims.length < 2) return postings
  const isOwn = (posting: Posting, { actor }: LedgerAct) =>
    posting.kind === 'claim' && posting.owner === actor && parties.poolOf(posting.account) === null
  return postings.flatMap((posting) => {
    const own = claims.filter((act) => isOwn(posting, act))
    const all = postings.filter((each) => each.token === posting.token && own.some((act) => isOwn(each, act)))
    if (own.length < 2 || all.length > 1) return [posting]
    const parts = own.map(({ pool, detail, actor }) => {
      const gone = postings.filter(
        (each) =>
          each.kind === 'claim' &&
          each.token === posting.token &&
          each.pool === pool &&
          each.detail === detail &&
          each.party === 'pool' &&
          each.counterparty === actor,
      )
      const amount = gone.reduce((sum, each) => sum - each.amount, 0n)
      return { ...posting, pool, detail, counterparty: pool, amount }
    })
    // An amount that no claim explains stays with the first.
    const [first, ...others] = parts
    if (first === undefined) return [posting]
    const rest = posting.amount - others.reduce((sum, { amount }) => sum + amount, 0n)
    return [{ ...first, amount: rest }, ...others].filter(({ amount }) => amount !== 0n)
  })
}

// Reads from executed instructions who paid lamports to whom, which accounts were opened, and who received the
// lamports of closed ones.

interface LamportTransfer {
  source: string
  destination: string
  lamports: bigint
}

interface SystemFlows {
  transfers: LamportTransfer[]
  /** The payer of each opened account, if known. */
  opened: ReadonlyMap<string, string | null>
  /** Receivers of the lamports of closed token accounts. */
  closed: ReadonlyMap<string, string>
  /** Receivers of what token accounts and mints held beyond their rent minimum. */
  withdrawn: ReadonlyMap<string, string>
  /** Mints whose tokens were burned. */
  burned: ReadonlySet<string>
}

/**
 * The instructions of `message` include the calls between programs. All were executed, because the transaction did not
 * fail.
 */
function systemFlowsIn({ keys, instructions }: DecodedMessage): SystemFlows {
  const transfers: LamportTransfer[] = []
  const opened = new Map<string, string | null>()
  const closed = new Map<string, string>()
  const withdrawn = new Map<string, string>()
  const burned = new Set<string>()
  for (const { programIdIndex, accounts, data } of instructions) {
    const named = Array.from(accounts, (index) => keys[index] ?? '')
    const decoded = decodeInstruction(keys[programIdIndex] ?? '', named, data)
    if (decoded?.program === 'system') {
      const { instruction } = decoded
      if (instruction.type === 'transfer' || instruction.type === 'transferWithSeed') transfers.push(instruction)
      if (instruction.type === 'createAccount' || instruction.type === 'createAccountWithSeed') {
        opened.set(instruction.newAccount, instruction.source)
      }
      if (instruction.type === 'allocate' || instruction.type === 'assign') {
        opened.set(instruction.account, opened.get(instruction.account) ?? payerFor(transfers, instruction.account))
      }
    }
    if (decoded?.program === 'token') {
      const { instruction } = decoded
      if (instruction.type === 'closeAccount') closed.set(instruction.account, instruction.destination)
      if (instruction.type === 'withdrawExcessLamports') withdrawn.set(instruction.source, instruction.destination)
      if (instruction.type === 'burn' || instruction.type === 'burnChecked') burned.add(instruction.mint)
    }
  }
  return { transfers, opened, closed, withdrawn, burned }
}

/** For an account that may already hold lamports, rent is paid by a transfer before the allocation. */
const payerFor = (transfers: readonly LamportTransfer[], account: string): string | null =>
  transfers.findLast(({ destination }) => destination === account)?.source ?? null
