/** Computes the amounts that leave the wallet or that others gain, and their receivers. */
import { DAMM_V2_POOL_AUTHORITY, DBC_POOL_AUTHORITY } from '../../solana/programs.ts'
import { accountGains, destinationOf, isWrappedSol, receivedAmounts } from './account-gains.ts'
import { AmountsByMint } from './amounts-by-mint.ts'
import type { InstructedTransfer, InstructionEffects } from './instruction-effects.ts'
import type { Destination, Movement } from './movement.ts'
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
  return {
    lamports_out: out.lamports(),
    lamports_to_others: others.lamports(),
    tokens_out: out.tokens(),
    tokens_to_others: others.tokens(),
    destinations: [...gains, ...passedThrough(leaving, gains, accounts)],
  }
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
