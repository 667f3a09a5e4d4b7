/** Amounts: what leaves the wallet, what others gain, and where it arrives. */
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type Holding, type Holdings, isPlain, type Side } from './holdings.ts'
import type { Order, Orders } from './orders.ts'
import type { Destination, Movement, TokenAmount } from './types.ts'

/** They hold the vaults of every pool of DBC and of DAMM v2: the programs' rules decide what leaves them. */
const POOL_AUTHORITIES: ReadonlySet<string> = new Set([
  PROGRAMS.dbc.accounts[0],
  'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC',
])

type Flows = Pick<Movement, 'lamports_out' | 'lamports_to_others' | 'tokens_out' | 'tokens_to_others' | 'destinations'>

/** `fee` is 0 where another pays. */
export function flowsOf(wallet: string, holdings: Holdings, { sent, moved }: Orders, fee: bigint): Flows {
  const losses = new Sums()
  for (const holding of holdings.values()) addLosses(losses, wallet, holding)
  const orders = new Sums()
  orders.add(null, fee)
  const leaving = sent.filter(({ to }) => to === null || !holdings.get(to)?.isSafe)
  for (const { mint, amount } of leaving) orders.add(mint, amount)
  const out = losses.larger(orders)

  const destinations: Destination[] = []
  const others = new Sums()
  const received = receivedBy(moved)
  for (const holding of holdings.values()) {
    for (const gain of gainsOf(holding, received.get(holding.address))) {
      destinations.push(gain)
      if (counts(gain, holdings)) others.add(gain.mint, gain.amount)
    }
  }
  for (const order of moved) {
    if (isPaidIn(order, holdings)) others.add(order.mint, order.amount)
  }
  for (const { to, mint, amount } of leaving) {
    const holding = to === null ? undefined : holdings.get(to)
    const isListed = destinations.some((each) => each.address === to && each.mint === mint)
    if (holding !== undefined && !isListed && (holding.before.account ?? holding.after.account) !== null) {
      destinations.push(destinationOf(holding, mint, amount))
    }
  }
  return {
    lamports_out: out.lamports(),
    lamports_to_others: others.lamports(),
    tokens_out: out.tokens(),
    tokens_to_others: others.tokens(),
    destinations,
  }
}

/** Wrapped SOL counts as lamports. */
class Sums {
  readonly #amounts = new Map<string, bigint>()

  add(mint: string | null, amount: bigint): void {
    const key = mint ?? WRAPPED_SOL
    this.#amounts.set(key, (this.#amounts.get(key) ?? 0n) + amount)
  }

  larger(other: Sums): Sums {
    const sums = new Sums()
    for (const key of new Set([...this.#amounts.keys(), ...other.#amounts.keys()])) {
      const [a, b] = [this.#amounts.get(key) ?? 0n, other.#amounts.get(key) ?? 0n]
      sums.add(key, a > b ? a : b)
    }
    return sums
  }

  of(mint: string | null): bigint {
    return this.#amounts.get(mint ?? WRAPPED_SOL) ?? 0n
  }

  mints(): string[] {
    return [...this.#amounts.keys()]
  }

  lamports(): bigint {
    const amount = this.of(WRAPPED_SOL)
    return amount > 0n ? amount : 0n
  }

  tokens(): TokenAmount[] {
    return [...this.#amounts].flatMap(([mint, amount]) =>
      mint === WRAPPED_SOL || amount <= 0n ? [] : { mint, amount },
    )
  }
}

/** A loss counts in full, a gain only where nobody but the wallet can take it again. */
function addLosses(losses: Sums, wallet: string, holding: Holding): void {
  const { address, before, after, offsets, isSafe } = holding
  const lost = restOf(before) - restOf(after)
  if (address === wallet) losses.add(null, lost)
  else if (offsets.length > 0 && lost > 0n) losses.add(null, lost)
  const mints = new Set([before, after].flatMap(({ token }) => (token?.owner === wallet ? token.mint : [])))
  for (const mint of mints) {
    const [old, now] = [before, after].map(({ token }) =>
      token?.owner === wallet && token.mint === mint ? token.amount : 0n,
    ) as [bigint, bigint]
    if (old > now || isSafe) losses.add(mint, old - now)
  }
}

const isNative = ({ token }: Side) => token?.mint === WRAPPED_SOL
/** Lamports that are not the tokens of a wrapped-SOL account. */
const restOf = (side: Side): bigint => (side.account?.lamports ?? 0n) - (isNative(side) ? side.token!.amount : 0n)

/** What instructions move into each account, however it goes on from there. */
function receivedBy(moved: readonly Order[]): ReadonlyMap<string, Sums> {
  const received = new Map<string, Sums>()
  for (const { to, mint, amount } of moved) {
    if (to === null) continue
    const sums = received.get(to) ?? new Sums()
    received.set(to, sums)
    sums.add(mint, amount)
  }
  return received
}

/** The balance alone could be that of another moment than the run's: a gain is at least what instructions move there. */
function gainsOf(holding: Holding, received: Sums | undefined): Destination[] {
  if (holding.isSafe) return []
  const gains = [...balanceGains(holding)]
  for (const key of received?.mints() ?? []) {
    const mint = key === WRAPPED_SOL ? null : key
    const same = gains.filter((gain) => (gain.mint ?? WRAPPED_SOL) === key)
    const missing = received!.of(key) - same.reduce((sum, { amount }) => sum + amount, 0n)
    if (missing <= 0n) continue
    if (same.length > 0) same[0]!.amount += missing
    else gains.push(destinationOf(holding, mint, missing))
  }
  return gains
}

function* balanceGains(holding: Holding): Iterable<Destination> {
  const { before, after } = holding
  if (after.account === null) return
  const sameOwner = before.token?.owner === after.token?.owner && before.token?.mint === after.token?.mint
  const tokens = after.token === null ? 0n : after.token.amount - (sameOwner ? before.token!.amount : 0n)
  if (tokens > 0n) yield destinationOf(holding, after.token!.mint, tokens)
  const lamports = after.account.lamports - (before.account?.lamports ?? 0n)
  const rest = isNative(after) && tokens > 0n ? lamports - tokens : lamports
  if (rest > 0n) yield destinationOf(holding, null, rest)
}

function destinationOf(holding: Holding, mint: string | null, amount: bigint): Destination {
  const { address, before, after, openings } = holding
  const { account, token } = after.account === null ? before : after
  // One that opens and ends on the way is told by how it was opened.
  const opened = account === null ? openings.at(-1) : undefined
  return {
    address,
    owner: token?.owner ?? opened?.owner ?? null,
    mint,
    amount,
    program: account?.owner ?? opened?.program ?? SYSTEM_PROGRAM,
    others: [token?.closeAuthority, token?.delegate].filter((key) => typeof key === 'string'),
    created: before.account === null,
    space: account?.data.length ?? 0,
  }
}

/** Rent in the accounts of programs leaves the wallet, but is nobody's gain. */
function counts({ owner, mint, program }: Destination, holdings: Holdings): boolean {
  return isPlain(program) && !(owner !== null && POOL_AUTHORITIES.has(owner)) && !isNewMint(mint, holdings)
}

/** Tokens that come into the vaults of pools: a stranger's position may be what they are put in for. */
function isPaidIn({ from, to, mint }: Order, holdings: Holdings): boolean {
  const isVault = (address: string | null) =>
    address !== null && [...(holdings.get(address)?.owners ?? [])].some((owner) => POOL_AUTHORITIES.has(owner))
  return mint !== null && isVault(to) && !isVault(from) && !isNewMint(mint, holdings)
}

const isNewMint = (mint: string | null, holdings: Holdings): boolean =>
  mint !== null && holdings.get(mint)?.before.account === null
