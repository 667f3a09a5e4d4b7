/** Makes the report of a rehearsal: its steps, the cost of the launch, and the balances of all parties. */
import type { PoolRehearsal, RehearsalBook, RehearsalRole } from '../../api/index.ts'
import { REHEARSAL_ROLES } from '../../api/pool-rehearsals.ts'
import type { CopyLanding } from '../../chain/copied-chain.ts'
import { readDammV2Pool } from '../../chain/programs/damm-v2/index.ts'
import { internal } from '../../platform/errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { DBC_POOL_AUTHORITY } from '../../solana/programs.ts'
import { readMint } from '../../solana/token-accounts.ts'
import type { NamedCurve } from '../pools/presets.ts'
import { type BookAmounts, type Books, type BookTerms, booksOf } from './books.ts'
import { curveOnCopy } from './launch-steps.ts'
import { openMarket } from './market-steps.ts'
import type { Rehearsal } from './rehearsal.ts'

export async function rehearsalReport(rehearsal: Rehearsal, { name, preset }: NamedCurve): Promise<PoolRehearsal> {
  const { context, copy, input, launch, steps, landings } = rehearsal
  const isLaunched = landings.some(({ stage, landed }) => stage === 'launch' && landed.err === null)
  const quoteMint = isLaunched && input.type === 'dbc' ? await launchedQuote(rehearsal) : WRAPPED_SOL
  const terms = await bookTerms(rehearsal, quoteMint)
  const books = booksOf(
    landings.map(({ landed }) => landed),
    terms,
  )
  await settleProtocol(rehearsal, books)
  return {
    cluster: context.chain.cluster.label,
    copied_slots: copy.slots(),
    type: input.type,
    name: input.name,
    symbol: input.symbol,
    preset: name,
    creator: input.creator,
    succeeded: steps.every(({ status }) => status !== 'failed'),
    steps,
    cost: launchCost(rehearsal, terms),
    quote: { mint: quoteMint, decimals: await readDecimals(rehearsal, quoteMint) },
    base: { mint: launch.mint, decimals: preset.decimals },
    books: bookRows(rehearsal, books, quoteMint),
  }
}

/** The quote of the launched curve, or SOL if the launch failed before there was one. */
async function launchedQuote(rehearsal: Rehearsal): Promise<string> {
  const [account = null] = await rehearsal.copy.accounts([rehearsal.launch.address])
  return account === null ? WRAPPED_SOL : (await curveOnCopy(rehearsal)).quoteMint
}

async function readDecimals({ copy }: Rehearsal, mint: string): Promise<number> {
  const [account = null] = await copy.accounts([mint])
  const decimals = account === null ? undefined : readMint(account)?.decimals
  if (decimals === undefined) throw internal(`The quote ${mint} is not a mint on the cluster`)
  return decimals
}

/** The party of each wallet, and the roles of accounts that belong to programs. */
async function bookTerms(rehearsal: Rehearsal, quoteMint: string): Promise<BookTerms> {
  const { context, copy, launch, roles, input } = rehearsal
  const wallets = new Map([...roles].map(([address, own]) => [address, mainRole(own)] as const))
  const accounts = new Map<string, RehearsalRole>([
    [launch.tipAccount, 'relay'],
    [DBC_POOL_AUTHORITY, 'protocol'],
  ])
  const [account = null] = await copy.accounts([launch.address])
  if (account === null) return { wallets, accounts, quoteMint, baseMint: launch.mint }
  if (input.type === 'dbc') {
    const { baseVault, quoteVault } = await curveOnCopy(rehearsal)
    for (const vault of [baseVault, quoteVault]) accounts.set(vault, 'curve')
  }
  const market = await readDammV2Pool(context.chain, await openMarket(rehearsal))
  if (market !== null) for (const vault of [market.tokenAVault, market.tokenBVault]) accounts.set(vault, 'pool')
  return { wallets, accounts, quoteMint, baseMint: launch.mint }
}

const mainRole = (roles: readonly RehearsalRole[]): RehearsalRole =>
  REHEARSAL_ROLES.find((role) => roles.includes(role)) ?? 'others'

/**
 * After all claims, the rest in the curve's vaults belongs to the protocol, as does its share of the new pool's fees.
 */
async function settleProtocol(rehearsal: Rehearsal, books: Books): Promise<void> {
  const { context, steps, input } = rehearsal
  const isMigrated = steps.some(
    ({ stage, status, label }) => stage === 'migration' && status === 'done' && label === 'migration',
  )
  const areClaimed = steps.every(({ stage, status }) => stage !== 'claim' || status !== 'failed')
  if (isMigrated && areClaimed) move(books, 'curve', 'protocol', books.get('curve') ?? NOTHING)
  if (!isMigrated && input.type === 'dbc') return
  const market = await readDammV2Pool(context.chain, await openMarket(rehearsal))
  if (market === null) return
  const { protocolAFee, protocolBFee } = market.raw
  const [base, quote] = [BigInt(String(protocolAFee ?? 0)), BigInt(String(protocolBFee ?? 0))]
  const isSol = market.tokenBMint === WRAPPED_SOL
  move(books, 'pool', 'protocol', { base, sol: isSol ? quote : 0n, quote: isSol ? 0n : quote })
}

const NOTHING: BookAmounts = { sol: 0n, quote: 0n, base: 0n }

function move(books: Books, from: RehearsalRole, to: RehearsalRole, amounts: BookAmounts): void {
  const [giver, taker] = [from, to].map((party) => books.get(party) ?? { party, address: null, ...NOTHING })
  if (giver === undefined || taker === undefined) return
  const { sol, quote, base } = amounts
  books.set(to, { ...taker, sol: taker.sol + sol, quote: taker.quote + quote, base: taker.base + base })
  books.set(from, { ...giver, sol: giver.sol - sol, quote: giver.quote - quote, base: giver.base - base })
}

function bookRows({ roles }: Rehearsal, books: Books, quoteMint: string): RehearsalBook[] {
  const rows = [...books.values()].filter(({ sol, quote, base }) => sol !== 0n || quote !== 0n || base !== 0n)
  rows.sort((a, b) => REHEARSAL_ROLES.indexOf(a.party) - REHEARSAL_ROLES.indexOf(b.party))
  return rows.map(({ party, address, sol, quote, base }) => ({
    party,
    roles: (address === null ? undefined : roles.get(address)) ?? [party],
    address,
    sol: String(sol),
    quote: quoteMint === WRAPPED_SOL ? null : String(quote),
    base: String(base),
  }))
}

/** The cost of the launch alone to its creator and payer. */
function launchCost({ landings, roles }: Rehearsal, terms: BookTerms): PoolRehearsal['cost'] {
  const launched = landings.flatMap(({ stage, landed }) => (stage === 'launch' ? [landed] : []))
  const books = booksOf(launched, terms)
  const paying = [...books.values()].filter(
    ({ address }) => address !== null && roles.get(address)?.some((role) => role === 'creator' || role === 'payer'),
  )
  const lamports = (role: RehearsalRole) => books.get(role)?.sol ?? 0n
  const own = new Set(paying.map(({ address }) => address))
  const pool = { sol: lamports('curve') + lamports('pool'), quote: books.get('curve')?.quote ?? 0n }
  return {
    total: String(-paying.reduce((sum, { sol }) => sum + sol, 0n)),
    network_fees: String(lamports('network')),
    tip: String(lamports('relay')),
    first_buy: String(terms.quoteMint === WRAPPED_SOL ? pool.sol : pool.quote),
    rent: String(lamports('accounts')),
    rent_returning: String(returningRent(launched, own)),
  }
}

/** The rent of the token accounts that the launch leaves open for the payers. */
function returningRent(launched: readonly CopyLanding[], own: ReadonlySet<string | null>) {
  const rent = new Map<string, bigint>()
  for (const { accountKeys, postBalances, postTokenBalances, preTokenBalances } of launched) {
    for (const { accountIndex, owner, mint, amount } of postTokenBalances) {
      const isNew = !preTokenBalances.some((before) => before.accountIndex === accountIndex)
      const account = accountKeys[accountIndex] ?? ''
      if (!own.has(owner) || (!isNew && !rent.has(account))) continue
      rent.set(account, (postBalances[accountIndex] ?? 0n) - (mint === WRAPPED_SOL ? amount : 0n))
    }
  }
  return [...rent.values()].reduce((sum, lamports) => sum + lamports, 0n)
}
