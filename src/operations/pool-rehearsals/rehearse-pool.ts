/** Rehearses a launch and all later steps on a copy of the cluster in memory. Nothing is signed, sent or stored. */
import { BENEFICIARIES_OF, type Beneficiary, type FeeClaimKind } from '../../api/fee-claims.ts'
import type { Api, PoolRehearsal, RehearsalBook, RehearsalRole } from '../../api/index.ts'
import { REHEARSAL_ROLES } from '../../api/pool-rehearsals.ts'
import type { Input, Result } from '../../api/route.ts'
import { type CopyLanding, copyChain } from '../../chain/copied-chain.ts'
import { readDammV2Pool } from '../../chain/programs/damm-v2/index.ts'
import { requireProgram } from '../../chain/programs/required-program.ts'
import type { Context } from '../../context.ts'
import { internal, Overloaded } from '../../platform/errors.ts'
import { rejectLate } from '../../platform/timing.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { DBC_POOL_AUTHORITY, PROGRAMS, type Program } from '../../solana/programs.ts'
import { readMint } from '../../solana/token-accounts.ts'
import { planClaim } from '../fee-claims/plan-claim.ts'
import { platformWallet } from '../platform-wallet.ts'
import { prepareLaunch } from '../pools/create-pool.ts'
import { launchImage } from '../pools/launch-terms.ts'
import { curveNamed, type NamedCurve } from '../pools/presets.ts'
import { requireFreeTicker } from '../pools/tickers.ts'
import { curveOnCopy, launchSteps } from './launch-steps.ts'
import { migrationSteps, openMarket, tradeSteps } from './market-steps.ts'
import { openRehearsal, type Rehearsal, StoppedRehearsal } from './rehearsal.ts'

type RehearsePoolRoute = Api['pools']['rehearse']
type RehearsalInput = Input<RehearsePoolRoute>

/** A rehearsal takes a second or two. A longer one is waiting for a node. */
const TIME_LIMIT_MS = 60_000
/** Most waiting rehearsals. One runs at a time, because its thread takes tens of megabytes. */
const MAX_WAITING = 4
const BUSY_RETRY_SECONDS = 10

const tookTooLong = () =>
  internal(`The rehearsal was ended after ${TIME_LIMIT_MS / 1000} seconds: the RPC node answers slowly`)

let lastRehearsal: Promise<unknown> = Promise.resolve()
let waitingRehearsals = 0

export async function rehearsePool(context: Context, input: RehearsalInput): Promise<Result<RehearsePoolRoute>> {
  if (waitingRehearsals > MAX_WAITING) {
    throw new Overloaded(
      `${waitingRehearsals} rehearsals are waiting, and only one runs at a time: try again later`,
      BUSY_RETRY_SECONDS,
    )
  }
  waitingRehearsals++
  const before = lastRehearsal
  // A rehearsal that waits forever must not block the others.
  const own = before.then(() => {
    const late = new AbortController()
    const end = () => {
      const error = tookTooLong()
      late.abort(error)
      return error
    }
    return rejectLate(TIME_LIMIT_MS, rehearseAlone(context, input, late.signal), end)
  })
  lastRehearsal = own.catch(() => undefined)
  try {
    return await own
  } finally {
    waitingRehearsals--
  }
}

async function rehearseAlone(
  context: Context,
  input: RehearsalInput,
  late: AbortSignal,
): Promise<Result<RehearsePoolRoute>> {
  const signal = AbortSignal.any([context.ending, late])
  // Checks that need no copy come before the copy is made.
  await launchImage(input, context.config)
  await requireFreeTicker(context, input)
  const programs: Program[] = [PROGRAMS.tokenMetadata, PROGRAMS.dammV2, ...(input.type === 'dbc' ? [PROGRAMS.dbc] : [])]
  for (const program of programs) await requireProgram(context.chain, program)
  const named = await curveNamed(context.config, input.preset)
  if (input.type === 'dbc' && named.preset.locked_vesting !== undefined) programs.push(PROGRAMS.lock)
  const copy = await copyChain({ source: context.chain, config: context.config, programs, signal })
  try {
    const onCopy: Context = { ...context, chain: copy.chain, dryRun: true }
    const { launch } = await prepareLaunch(onCopy, input)
    const rehearsal = await openRehearsal(onCopy, copy, { input, launch })
    await runThrough(rehearsal, named)
    return await rehearsalReport(rehearsal, named)
  } finally {
    copy.close()
  }
}

/** Runs step by step. If a step that later steps need fails, the rehearsal ends and the report says so. */
async function runThrough(rehearsal: Rehearsal, named: NamedCurve): Promise<void> {
  try {
    await launchSteps(rehearsal)
    await claimSteps(rehearsal, ['dbc'])
    await migrationSteps(rehearsal)
    await tradeSteps(rehearsal, named.curve.thresholdLamports)
    await claimSteps(rehearsal, ['surplus', 'migration_fee', 'leftover', 'pool_creation_fee', 'damm_v2'])
    await rehearsal.advancePast(named.preset)
    await claimSteps(rehearsal, ['vesting'])
  } catch (error) {
    if (!(error instanceof StoppedRehearsal)) throw error
  }
}

// Rehearses the claims of partner and creator, with the same plans as the requests.

const KIND_LABELS: Readonly<Record<FeeClaimKind, string>> = {
  dbc: 'trading fees',
  surplus: 'surplus',
  migration_fee: 'migration fee',
  leftover: 'leftover',
  pool_creation_fee: 'pool creation fee',
  damm_v2: 'fees of positions',
  vesting: 'vested tokens',
}

/** Each beneficiary pays for its own claim. */
async function claimSteps(rehearsal: Rehearsal, kinds: readonly FeeClaimKind[]): Promise<void> {
  const { context, input, launch } = rehearsal
  for (const kind of kinds) {
    if (input.type === 'damm_v2' && kind !== 'damm_v2') continue
    const payers = new Set<string>()
    for (const beneficiary of BENEFICIARIES_OF[kind]) {
      const payer = await resolveClaimer(rehearsal, beneficiary)
      // A wallet that is both has already claimed all of its positions.
      if (kind === 'damm_v2' && payers.has(payer)) continue
      payers.add(payer)
      const label = `${beneficiary} claims ${KIND_LABELS[kind]}`
      await rehearsal.run(
        { stage: 'claim', label, claim: { kind, beneficiary } },
        async () =>
          (await planClaim(context, { address: launch.address, kind, beneficiary, splits: undefined }, payer)).built,
      )
    }
  }
}

async function resolveClaimer(rehearsal: Rehearsal, beneficiary: Beneficiary): Promise<string> {
  const { context, input } = rehearsal
  if (beneficiary === 'creator') return input.creator
  return input.type === 'damm_v2' ? platformWallet(context) : (await curveOnCopy(rehearsal)).feeClaimer
}

// Makes the report of a rehearsal: its steps, the cost of the launch, and the balances of all parties.

async function rehearsalReport(rehearsal: Rehearsal, { name, preset }: NamedCurve): Promise<PoolRehearsal> {
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

// Keeps the balances of a rehearsal: what each party gained or lost by its transactions, in SOL, quote and token.

interface BookAmounts {
  sol: bigint
  quote: bigint
  base: bigint
}

interface BookTerms {
  /** The parties by the addresses of their wallets. */
  wallets: ReadonlyMap<string, RehearsalRole>
  /** The role of a token account whose owner is not a party, and of an account that is not a token account. */
  accounts: ReadonlyMap<string, RehearsalRole>
  quoteMint: string
  baseMint: string
}

/** A party's key: the address of a wallet, or a role. */
type Books = Map<string, { party: RehearsalRole; address: string | null } & BookAmounts>

/**
 * Adds up the changes of every account. Lamports of a token account that are not wrapped SOL are rent and count for
 * `accounts`. Each column, with `network` and `supply`, adds up to zero.
 */
function booksOf(landed: readonly CopyLanding[], terms: BookTerms): Books {
  const books: Books = new Map()
  const { wallets, accounts, quoteMint, baseMint } = terms
  const add = (address: string | null, role: RehearsalRole, column: keyof BookAmounts, amount: bigint) => {
    if (amount === 0n) return
    const key = address ?? role
    const book = books.get(key) ?? { party: role, address, sol: 0n, quote: 0n, base: 0n }
    book[column] += amount
    books.set(key, book)
  }
  const addTo = (wallet: string, account: string, column: keyof BookAmounts, amount: bigint) => {
    const role = wallets.get(wallet)
    if (role !== undefined) add(wallet, role, column, amount)
    else add(null, accounts.get(account) ?? accounts.get(wallet) ?? 'others', column, amount)
  }
  for (const transaction of landed) {
    add(null, 'network', 'sol', transaction.fee)
    const tokens = tokenChanges(transaction)
    for (const { account, owner, mint, change } of tokens) {
      if (mint === WRAPPED_SOL) addTo(owner, account, 'sol', change)
      else if (mint === quoteMint) addTo(owner, account, 'quote', change)
      else if (mint === baseMint) {
        addTo(owner, account, 'base', change)
        add(null, 'supply', 'base', -change)
      }
    }
    for (const [i, account] of transaction.accountKeys.entries()) {
      const wrapped = tokens.find((token) => token.account === account && token.mint === WRAPPED_SOL)?.change ?? 0n
      const change = (transaction.postBalances[i] ?? 0n) - (transaction.preBalances[i] ?? 0n) - wrapped
      const role = wallets.get(account)
      if (role !== undefined) add(account, role, 'sol', change)
      else
        add(
          null,
          tokens.some((token) => token.account === account) ? 'accounts' : (accounts.get(account) ?? 'accounts'),
          'sol',
          change,
        )
    }
  }
  return books
}

interface TokenChange {
  account: string
  owner: string
  mint: string
  change: bigint
}

/** Returns the changes of a transaction's token accounts, by mint and owner. */
function tokenChanges({ accountKeys, preTokenBalances, postTokenBalances }: CopyLanding): TokenChange[] {
  const changes = new Map<string, TokenChange>()
  const count = (balances: CopyLanding['preTokenBalances'], sign: bigint) => {
    for (const { accountIndex, owner, mint, amount } of balances) {
      const account = accountKeys[accountIndex] ?? ''
      const key = `${account} ${mint} ${owner}`
      const known = changes.get(key) ?? { account, owner, mint, change: 0n }
      changes.set(key, { ...known, change: known.change + sign * amount })
    }
  }
  count(preTokenBalances, -1n)
  count(postTokenBalances, 1n)
  return [...changes.values()]
}
