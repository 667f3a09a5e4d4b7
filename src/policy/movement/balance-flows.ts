/** Computes the amounts that leave the wallet or that others gain, and their receivers. */
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { DAMM_V2 } from '../../solana/programs/damm-v2.ts'
import { PRESALE } from '../../solana/programs/presale.ts'
import { DAMM_V2_POOL_AUTHORITY, DBC_POOL_AUTHORITY } from '../../solana/programs.ts'
import type { InstructedTransfer, InstructionEffects } from './instruction-effects.ts'
import type { Destination, Movement, TokenAmount } from './movement.ts'
import { type AccountSnapshot, isPlainProgram, type TouchedAccount, type TouchedAccounts } from './touched-accounts.ts'

/** Owners of the vaults of every DBC and DAMM v2 pool. The rules of the programs decide what leaves the vaults. */
const POOL_AUTHORITIES: ReadonlySet<string> = new Set([DBC_POOL_AUTHORITY, DAMM_V2_POOL_AUTHORITY])

type BalanceFlows = Pick<
  Movement,
  'lamports_out' | 'lamports_to_others' | 'tokens_out' | 'tokens_to_others' | 'destinations'
>

/** `fee` is in lamports, and is 0 when another account pays. */
export function balanceFlows(
  wallet: string,
  accounts: TouchedAccounts,
  { outgoing, transfers }: InstructionEffects,
  fee: bigint,
): BalanceFlows {
  // Money in an account that only the wallet can empty has not left it.
  const leaving = outgoing.filter(({ to }) => to === null || !accounts.get(to)?.isSafe)
  const instructed = new AmountsByMint()
  instructed.add(null, fee)
  for (const { mint, amount } of leaving) instructed.add(mint, amount)
  const out = lossesOf(wallet, accounts).larger(instructed)

  const gains = gainsOf(accounts, transfers)
  const others = new AmountsByMint()
  for (const gain of gains) {
    if (isGainOfOthers(gain, accounts)) others.add(gain.mint, gain.amount)
  }
  for (const transfer of transfers) {
    if (isPaidIntoPool(transfer, accounts)) others.add(transfer.mint, transfer.amount)
  }
  const received = [...gains, ...passedThrough(leaving, gains, accounts)]
  return {
    lamports_out: out.lamports(),
    lamports_to_others: others.lamports(),
    tokens_out: out.tokens(),
    tokens_to_others: others.tokens(),
    destinations: ofRaises(wallet, accounts, ofMints(accounts, received)),
  }
}

/** What goes into the vaults of a raise goes to buyers for the creator's money, or to its creator. */
function ofRaises(wallet: string, accounts: TouchedAccounts, destinations: readonly Destination[]): Destination[] {
  const creators = new Map<string, string>()
  for (const { after } of accounts.values()) {
    const raise = PRESALE.decode('presale', after.account)
    if (raise === null || raise.owner === wallet) continue
    creators.set(raise.base_token_vault, raise.owner).set(raise.quote_token_vault, raise.owner)
  }
  return destinations.map((each) => ({ ...each, owner: creators.get(each.address) ?? each.owner }))
}

/**
 * The rent of a new mint goes to whoever can close it: of SPL Token nobody, and of the NFT of a position its holder.
 * What the wallet alone can take is left out.
 */
function ofMints(accounts: TouchedAccounts, destinations: readonly Destination[]): Destination[] {
  const all = [...accounts.values()]
  const opened = all.filter(({ before }) => before.account === null)
  const nfts = new Set(opened.map(({ after }) => DAMM_V2.decode('position', after.account)?.nft_mint))
  return destinations.flatMap((each) => {
    const { address, mint, amount, program, created, minimum } = each
    const isMint = accounts.get(address)?.after.mint != null
    if (mint !== null || !created || amount > minimum || !isMint) return each
    if (program === TOKEN_PROGRAM) return []
    const holder = all.find(({ after: { token } }) => token?.mint === address && token.amount > 0n)
    if (holder === undefined || !nfts.has(address)) return each
    const { owner, others } = destinationOf(holder, mint, amount)
    return holder.isSafe ? [] : { ...each, owner, others }
  })
}

function gainsOf(accounts: TouchedAccounts, transfers: readonly InstructedTransfer[]): Destination[] {
  const received = receivedAmounts(transfers)
  return [...accounts.values()].flatMap((touched) => accountGains(touched, received.get(touched.address)))
}

/** Returns receivers of the wallet's transfers that gain nothing themselves, each once per mint. */
function passedThrough(
  leaving: readonly InstructedTransfer[],
  gains: readonly Destination[],
  accounts: TouchedAccounts,
): Destination[] {
  const passed: Destination[] = []
  for (const { to, mint, amount } of leaving) {
    const touched = to === null ? undefined : accounts.get(to)
    const isListed = [...gains, ...passed].some((each) => each.address === to && each.mint === mint)
    if (touched === undefined || isListed || (touched.before.account ?? touched.after.account) === null) continue
    passed.push(destinationOf(touched, mint, amount))
  }
  return passed
}

/** A loss counts in full, and a gain only if no one else can take it back. */
function lossesOf(wallet: string, accounts: TouchedAccounts): AmountsByMint {
  const losses = new AmountsByMint()
  for (const touched of accounts.values()) {
    addLamportLoss(losses, wallet, touched)
    addTokenLosses(losses, wallet, touched)
  }
  return losses
}

function addLamportLoss(losses: AmountsByMint, wallet: string, touched: TouchedAccount): void {
  const { address, before, after, offsets } = touched
  const lost = unwrappedLamports(before) - unwrappedLamports(after)
  if (address === wallet || (offsets.length > 0 && lost > 0n)) losses.add(null, lost)
}

function addTokenLosses(losses: AmountsByMint, wallet: string, { before, after, isSafe }: TouchedAccount): void {
  const mints = new Set([before, after].flatMap(({ token }) => (token?.owner === wallet ? token.mint : [])))
  const amountIn = ({ token }: AccountSnapshot, mint: string) =>
    token?.owner === wallet && token.mint === mint ? token.amount : 0n
  for (const mint of mints) {
    const [old, now] = [amountIn(before, mint), amountIn(after, mint)]
    if (old > now || isSafe) losses.add(mint, old - now)
  }
}

/** Lamports of the account without its wrapped SOL. */
function unwrappedLamports(snapshot: AccountSnapshot): bigint {
  const { account, token } = snapshot
  return (account?.lamports ?? 0n) - (token !== null && isWrappedSol(snapshot) ? token.amount : 0n)
}

/** Rent in accounts of programs leaves the wallet, but no wallet gains it. */
function isGainOfOthers({ owner, mint, program }: Destination, accounts: TouchedAccounts): boolean {
  return isPlainProgram(program) && !(owner !== null && POOL_AUTHORITIES.has(owner)) && !isNewMint(mint, accounts)
}

/** Whether tokens go into the vault of a pool. They may pay for another wallet's position. */
function isPaidIntoPool({ from, to, mint }: InstructedTransfer, accounts: TouchedAccounts): boolean {
  const isVault = (address: string | null) =>
    address !== null && [...(accounts.get(address)?.owners ?? [])].some((owner) => POOL_AUTHORITIES.has(owner))
  return mint !== null && isVault(to) && !isVault(from) && !isNewMint(mint, accounts)
}

const isNewMint = (mint: string | null, accounts: TouchedAccounts): boolean =>
  mint !== null && accounts.get(mint)?.before.account === null

// Computes the gains of each account that may not belong to the wallet alone, from its balance and from the
// instructions.

/** Sums what instructions move into each account, including amounts that later leave it again. */
function receivedAmounts(transfers: readonly InstructedTransfer[]): ReadonlyMap<string, AmountsByMint> {
  const received = new Map<string, AmountsByMint>()
  for (const { to, mint, amount } of transfers) {
    if (to === null) continue
    const sums = received.get(to) ?? new AmountsByMint()
    received.set(to, sums)
    sums.add(mint, amount)
  }
  return received
}

/** The balance may be from another moment than the simulation, so a gain is at least what instructions move there. */
function accountGains(touched: TouchedAccount, received: AmountsByMint = new AmountsByMint()): Destination[] {
  if (touched.isSafe) return []
  const gains = [...balanceGains(touched)]
  for (const key of received.mints()) {
    const mint = key === WRAPPED_SOL ? null : key
    const same = gains.filter((gain) => (gain.mint ?? WRAPPED_SOL) === key)
    const missing = received.of(key) - same.reduce((sum, { amount }) => sum + amount, 0n)
    if (missing <= 0n) continue
    const [first] = same
    if (first === undefined) gains.push(destinationOf(touched, mint, missing))
    else first.amount += missing
  }
  return gains
}

function* balanceGains(touched: TouchedAccount): Iterable<Destination> {
  const { before, after } = touched
  if (after.account === null) return
  const tokens = after.token === null ? 0n : after.token.amount - tokensBefore(touched)
  if (after.token !== null && tokens > 0n) yield destinationOf(touched, after.token.mint, tokens)
  const lamports = after.account.lamports - (before.account?.lamports ?? 0n)
  const rest = isWrappedSol(after) && tokens > 0n ? lamports - tokens : lamports
  if (rest > 0n) yield destinationOf(touched, null, rest)
}

/** Tokens that the account held before, or 0 when it had another owner or mint. */
function tokensBefore({ before: { token: old }, after: { token: now } }: TouchedAccount): bigint {
  return old !== null && old.owner === now?.owner && old.mint === now.mint ? old.amount : 0n
}

const isWrappedSol = ({ token }: AccountSnapshot): boolean => token?.mint === WRAPPED_SOL

function destinationOf(touched: TouchedAccount, mint: string | null, amount: bigint): Destination {
  const { address, before, after, openings } = touched
  const { account, token } = after.account === null ? before : after
  // An account that is opened and closed within the transaction is visible only by its opening.
  const opened = account === null ? openings.at(-1) : undefined
  return {
    address,
    owner: token?.owner ?? opened?.owner ?? null,
    mint,
    amount,
    program: account?.owner ?? opened?.program ?? SYSTEM_PROGRAM,
    others: [token?.closeAuthority, token?.delegate].filter((key) => typeof key === 'string'),
    created: before.account === null,
    minimum: touched.minimum,
  }
}

/** Amounts by mint. The mint is null for lamports. */
class AmountsByMint {
  readonly #amounts = new Map<string, bigint>()

  add(mint: string | null, amount: bigint): void {
    const key = mint ?? WRAPPED_SOL
    this.#amounts.set(key, (this.#amounts.get(key) ?? 0n) + amount)
  }

  of(mint: string | null): bigint {
    return this.#amounts.get(mint ?? WRAPPED_SOL) ?? 0n
  }

  /** The mints in the order in which they were first added. Lamports are listed under the mint of wrapped SOL. */
  mints(): string[] {
    return [...this.#amounts.keys()]
  }

  /** Returns the larger amount of each mint. */
  larger(other: AmountsByMint): AmountsByMint {
    const sums = new AmountsByMint()
    for (const key of new Set([...this.mints(), ...other.mints()])) {
      const [a, b] = [this.of(key), other.of(key)]
      sums.add(key, a > b ? a : b)
    }
    return sums
  }

  /** Returns the lamports, at least 0. */
  lamports(): bigint {
    const amount = this.of(null)
    return amount > 0n ? amount : 0n
  }

  /** Returns the token amounts above zero. */
  tokens(): TokenAmount[] {
    return [...this.#amounts].flatMap(([mint, amount]) =>
      mint === WRAPPED_SOL || amount <= 0n ? [] : { mint, amount },
    )
  }
}
