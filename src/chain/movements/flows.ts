/** Amounts: what leaves the wallet, what others gain, and where it arrives. */
import { PROGRAMS } from '../programs.ts'
import { type Holding, type Holdings, isPlain, NATIVE_MINT, type Side } from './holdings.ts'
import type { Order } from './orders.ts'
import type { Destination, Movement, TokenAmount } from './types.ts'

/** They hold the vaults of every pool of DBC and of DAMM v2: the programs' rules decide what leaves them. */
const POOL_AUTHORITIES: ReadonlySet<string> = new Set([
  PROGRAMS.dbc.accounts[0],
  'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC',
])

type Flows = Pick<Movement, 'lamports_out' | 'lamports_to_others' | 'tokens_out' | 'tokens_to_others' | 'destinations'>

/** `fee` is 0 where another pays. */
export function flowsOf(wallet: string, holdings: Holdings, sent: readonly Order[], fee: bigint): Flows {
  const losses = new Sums()
  for (const holding of holdings.values()) addLosses(losses, wallet, holding)
  const orders = new Sums()
  orders.add(null, fee)
  const leaving = sent.filter(({ to }) => to === null || !holdings.get(to)?.isSafe)
  for (const { mint, amount } of leaving) orders.add(mint, amount)
  const out = losses.larger(orders)

  const destinations: Destination[] = []
  const others = new Sums()
  for (const holding of holdings.values()) {
    for (const gain of gainsOf(holding)) {
      destinations.push(gain)
      if (counts(gain, holdings)) others.add(gain.mint, gain.amount)
    }
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
    const key = mint ?? NATIVE_MINT
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

  lamports(): bigint {
    const amount = this.#amounts.get(NATIVE_MINT) ?? 0n
    return amount > 0n ? amount : 0n
  }

  tokens(): TokenAmount[] {
    return [...this.#amounts].flatMap(([mint, amount]) =>
      mint === NATIVE_MINT || amount <= 0n ? [] : { mint, amount },
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

const isNative = ({ token }: Side) => token?.mint === NATIVE_MINT
/** Lamports that are not the tokens of a wrapped-SOL account. */
const restOf = (side: Side): bigint => (side.account?.lamports ?? 0n) - (isNative(side) ? side.token!.amount : 0n)

function* gainsOf(holding: Holding): Iterable<Destination> {
  const { before, after, isSafe } = holding
  if (isSafe || after.account === null) return
  const sameOwner = before.token?.owner === after.token?.owner && before.token?.mint === after.token?.mint
  const tokens = after.token === null ? 0n : after.token.amount - (sameOwner ? before.token!.amount : 0n)
  if (tokens > 0n) yield destinationOf(holding, after.token!.mint, tokens)
  const lamports = after.account.lamports - (before.account?.lamports ?? 0n)
  const rest = isNative(after) && tokens > 0n ? lamports - tokens : lamports
  if (rest > 0n) yield destinationOf(holding, null, rest)
}

function destinationOf({ address, before, after }: Holding, mint: string | null, amount: bigint): Destination {
  const { account, token } = after.account === null ? before : after
  return {
    address,
    owner: token?.owner ?? null,
    mint,
    amount,
    program: account!.owner,
    others: [token?.closeAuthority, token?.delegate].filter((key) => typeof key === 'string'),
    created: before.account === null,
    space: account!.data.length,
  }
}

/** Rent in the accounts of programs leaves the wallet, but is nobody's gain. */
function counts({ owner, mint, program }: Destination, holdings: Holdings): boolean {
  if (!isPlain(program) || (owner !== null && POOL_AUTHORITIES.has(owner))) return false
  const minted = mint === null ? undefined : holdings.get(mint)
  return minted === undefined || minted.before.account !== null
}
