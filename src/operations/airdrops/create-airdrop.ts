/** Creates an airdrop on chain: its distributor, and its funding in the same transaction, unsigned or signed. */

import { PROPOSED_START_DAYS } from '../../api/airdrop-terms.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildCreation,
  CREATION_UNITS,
  distributorAddress,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import { requireProgram } from '../../chain/programs/required-program.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { entryAt } from '../../merkle/entry-list.ts'
import { readStoredList } from '../../merkle/stored-tree.ts'
import { MAX_AIRDROP_COUNT } from '../../merkle/tree-id.ts'
import { ApiError, badRequest, notFound } from '../../platform/errors.ts'
import { DAY_SECONDS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { RecipientTerms } from '../../solana/recipients.ts'
import { readMint } from '../../solana/token-accounts.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { findTree, lockTree } from '../../store/airdrops/merkle-trees.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { inEitherMode } from '../act.ts'
import { type BuiltTransaction, buildTransaction, signingDraft, trackingOf } from '../building.ts'
import { treeIdOf, withRow } from '../merkle-trees/open-tree.ts'
import { AIRDROP_CREATION } from '../merkle-trees/replaced-tree.ts'
import { type Recipient, recipientFaults, refuseRecipients, requireRecipients } from '../recipients.ts'
import {
  type ChainAirdrop,
  describeUnixTime,
  isOpen,
  type PresentAirdrop,
  readAirdrop,
  reasonsNotToFund,
} from './on-chain.ts'

type CreateAirdropRoute = Api['airdrops']['create']

export async function createAirdrop(
  context: Context,
  input: Input<CreateAirdropRoute>,
): Promise<Result<CreateAirdropRoute>> {
  const plan = async (payer: string) => {
    const { id, built } = await planCreation(context, input, payer)
    return { built, summary: {}, tracked: trackingOf('airdrop', id, ['airdrop.initialized']) }
  }
  const answer = await inEitherMode(context, input, AIRDROP_CREATION, plan, {
    steps: (wallet) => ({
      reserve: (tx) => requireStoredRoot(tx, input),
      // The program creates no airdrop after its start.
      waits: async (seconds) => signingDraft((await planCreation(context, input, wallet, seconds)).built),
    }),
  })
  return answer as Result<CreateAirdropRoute>
}

/** Locks the stored tree, so that it cannot be replaced between its reading and the reservation of the signing. */
async function requireStoredRoot(
  tx: Tx,
  { mint, airdrop_count, merkle_root }: Input<CreateAirdropRoute>,
): Promise<void> {
  storedRootOf({ merkle_root }, await lockTree(tx, treeIdOf(mint, airdrop_count)))
}

// Determines the parameters of a new airdrop, checks them against the stored tree and the chain, and builds the
// transaction.

type CreateAirdropInput = Input<Api['airdrops']['create']>
type StoredTree = Row<'merkle_trees'> | null

/**
 * The start must be later than the landing. The program pays claims before it all the same. The delay exceeds the life
 * of a blockhash, for clusters whose clock lags.
 */
const START_DELAY_S = 300n
/** The same for an airdrop that is proposed, because its members need days to execute it, and the most for any. */
const PROPOSED_START_S = PROPOSED_START_DAYS * DAY_SECONDS
/** Longest vesting, a hundred years, so that a mistyped year is noticed. */
const MOST_VESTING_DAYS = 36_525

interface AirdropCreationPlan {
  id: string
  built: BuiltTransaction
}

/**
 * `waits` are the seconds that people have to approve it, and the start is after them. Throws bad_request naming the field
 * that does not match or the entry that cannot claim, not_found without the mint.
 */
async function planCreation(
  context: Context,
  input: CreateAirdropInput,
  payer: string,
  waits = context.vaultActing === undefined ? 0 : PROPOSED_START_S,
): Promise<AirdropCreationPlan> {
  const { chain, store } = context
  const { mint, airdrop_count: airdropCount } = input
  const id = treeIdOf(mint, airdropCount)
  const tree = await findTree(store.db, id)
  const root = storedRootOf(input, tree)
  const deposit = depositOf(input, id, tree)
  const account = tokenAccountAddress(mint, payer)
  const airdrop = await readAirdrop(chain, id, async () => [mint, account])
  const decimals = airdropMintDecimals(mint, airdrop.accounts.get(mint) ?? null)
  const { startsAt, endsAt } = vestingTimes(input, tree, {
    now: airdrop.now,
    waits: BigInt(Math.min(waits, PROPOSED_START_S)),
  })
  await requireProgram(chain, PROGRAMS.distributor)
  await requireFreeCount(context, airdrop, { payer, root, tree })
  const tokens = airdrop.accounts.get(account) ?? null
  const held = isOpen(tokens) ? tokens : null
  requireDepositTokens(input, { payer, account, held, deposit })
  // Tokens of wallets that cannot claim come back after the clawback time, so `allow_programs` permits them.
  if (tree !== null) await requireClaimants(context, tree, { allowsPrograms: input.allow_programs })
  const creation = {
    mint,
    airdropCount,
    root,
    maxTotal: tree === null ? MAX_U64 : BigInt(tree.total),
    maxNodes: tree === null ? MAX_U64 : BigInt(tree.leaf_count),
    startsAt,
    endsAt,
    clawbackAt: endsAt + BigInt(input.clawback_after_days * DAY_SECONDS),
    decimals,
    deposit,
    opensReceiver: held === null,
  }
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: CREATION_UNITS,
    build: (envelope) => buildCreation({ ...envelope, ...creation }),
  })
  return { id, built }
}

/**
 * Returns the start and the end of the vesting in Unix seconds. Without locked amounts they are a formality of the
 * program. Throws bad_request naming the field.
 */
function vestingTimes(
  { starts_at, ends_at }: CreateAirdropInput,
  tree: StoredTree,
  { now, waits }: { now: bigint; waits: bigint },
): { startsAt: bigint; endsAt: bigint } {
  const soonest = now + START_DELAY_S
  const usual = waits > START_DELAY_S ? now + waits : soonest
  const refuse = (param: string, message: string) => badRequest(`${param}: ${message}`, { param })
  if (ends_at === undefined) {
    if (tree === null || tree.total_locked === '0') return { startsAt: usual, endsAt: usual + 1n }
    throw refuse(
      'ends_at',
      `the stored tree ${tree.id} has locked amounts, so send the time when the last of them has vested`,
    )
  }
  if (tree?.total_locked === '0') {
    const list = 'store a list whose entries have amount_locked'
    throw refuse(
      'ends_at',
      `no amount of the stored tree ${tree.id} is locked, so nothing vests: leave it out, or ${list}`,
    )
  }
  const startsAt = starts_at === undefined ? usual : unixSecondsOf(starts_at)
  const endsAt = unixSecondsOf(ends_at)
  if (startsAt < soonest) {
    const earliest = describeUnixTime(soonest)
    throw refuse('starts_at', `must be ${earliest} or later, because the program accepts only a start in the future`)
  }
  if (endsAt <= startsAt) {
    const own = starts_at === undefined ? '; send starts_at for another start' : ''
    throw refuse('ends_at', `must be after the start, ${describeUnixTime(startsAt)}${own}`)
  }
  if (endsAt - startsAt > BigInt(MOST_VESTING_DAYS * DAY_SECONDS)) {
    throw refuse('ends_at', `must be at most ${MOST_VESTING_DAYS} days after the start`)
  }
  return { startsAt, endsAt }
}

const unixSecondsOf = (time: string): bigint => BigInt(Math.floor(Date.parse(time) / SECOND_MS))

/** Returns the root in hex. Throws bad_request if the stored tree has another one. */
function storedRootOf({ merkle_root }: Pick<CreateAirdropInput, 'merkle_root'>, tree: StoredTree): string {
  const root = merkle_root.replace(/^0x/i, '').toLowerCase()
  if (tree === null || tree.root === root) return root
  throw badRequest(
    `merkle_root: the stored tree ${tree.id} has the root ${tree.root}, not ${root}: send that one, or store the other list under another airdrop_count`,
    { param: 'merkle_root', details: { stored_root: tree.root, merkle_root: root } },
  )
}

/** Returns the raw units that go into the vault. */
function depositOf({ fund, fund_amount }: CreateAirdropInput, id: string, tree: StoredTree): bigint {
  const total = tree === null ? null : BigInt(tree.total)
  if (total !== null && total > MAX_U64) {
    throw badRequest(
      `The amounts of the stored tree ${id} sum to ${total}, more than a vault can hold (${MAX_U64}): split the list into several trees`,
      { param: 'airdrop_count', details: { total: String(total) } },
    )
  }
  if (fund === false) return 0n
  if (fund_amount === undefined) {
    if (total !== null) return total
    if (fund !== true) return 0n
    throw badRequest(
      `fund: no tree is stored as ${id}, so its total is unknown: send fund_amount, or store the tree first`,
      { param: 'fund' },
    )
  }
  const amount = BigInt(fund_amount)
  if (total === null || amount <= total) return amount
  throw badRequest(
    `fund_amount: ${amount} is more than the ${total} that the stored tree ${id} can pay out: the excess could only be withdrawn after the clawback time`,
    { param: 'fund_amount', details: { total: String(total) } },
  )
}

/** Throws not_found without a mint, bad_request for one that the program does not support. */
function airdropMintDecimals(mint: string, account: ChainAccount | null): number {
  const state = account === null ? null : readMint(account)
  if (state === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  if (account?.owner === TOKEN_PROGRAM) return state.decimals
  throw badRequest(
    `mint: ${mint} is a Token-2022 mint, and the merkle distributor supports only mints of the original token program (SPL Token)`,
    { param: 'mint', details: { token_program: account?.owner } },
  )
}

interface Funding {
  payer: string
  account: string
  held: ChainAccount | null
  deposit: bigint
}

/** Unclaimed tokens return to this account, so it must be the payer's own even when nothing is deposited. */
function requireDepositTokens({ mint, mode }: CreateAirdropInput, { payer, account, held, deposit }: Funding): void {
  const param = mode === 'signed' ? 'mode' : 'payer'
  const who = mode === 'signed' ? `The platform wallet ${payer}` : `The payer ${payer}`
  const state = held === null ? null : decodeTokenAccount(held)
  const details = { account, mint, have: String(state?.amount ?? 0n), need: String(deposit) }
  if (held !== null && state?.owner !== payer) {
    const owner = state === null ? 'is not a token account' : `belongs to ${state.owner}`
    throw badRequest(`The token account ${account} of ${payer} ${owner}: pay with another wallet`, { param, details })
  }
  if (deposit === 0n) return
  if ((state?.amount ?? 0n) < deposit) {
    throw badRequest(
      `${who} has ${details.have} of ${mint} in its token account ${account}, and the deposit is ${deposit}: send it the tokens first, deposit another amount (fund_amount), or fund the vault later (fund: false, \`svc airdrops init --unfunded\`)`,
      { param, details },
    )
  }
  if (state?.state === 'frozen') {
    throw badRequest(
      `The token account ${account} of ${payer} is frozen: the freeze authority of ${mint} has to thaw it first`,
      { param, details },
    )
  }
}

// Checks that the wallets of a stored list can claim, before its airdrop is created on chain and funded.

type Chain = Context['chain']

interface CheckedList {
  at: number
  /** Rejects with bad_request if one of them cannot claim. */
  outcome: Promise<void>
}

/**
 * A list of 50,000 takes 500 calls to the node, and a key without any scope can request the check. So each root is
 * read at most once in ten minutes. Only outcomes are cached, because a list may have as many faults as entries.
 */
const checkedLists = new WeakMap<Chain, Map<string, CheckedList>>()
const KEPT_MS = 10 * MINUTE_MS
const MOST_KEPT = 10_000

/**
 * Throws bad_request naming the first entry that is not a wallet (with programs: that Squads owns), and the number of such entries; not_found without
 * the leaves.
 */
async function requireClaimants(context: Context, tree: Row<'merkle_trees'>, terms: RecipientTerms): Promise<void> {
  const { chain, clock } = context
  const lists = checkedLists.get(chain) ?? new Map<string, CheckedList>()
  checkedLists.set(chain, lists)
  const name = `${tree.root} ${terms.allowsPrograms}`
  const known = lists.get(name)
  if (known !== undefined && clock.now() - known.at < KEPT_MS) return known.outcome
  const checked = { at: clock.now(), outcome: check(context, tree, terms) }
  // The oldest is first, because an outcome that is read again moves to the end.
  lists.delete(name)
  const [oldest] = lists.size >= MOST_KEPT ? lists.keys() : []
  if (oldest !== undefined) lists.delete(oldest)
  lists.set(name, checked)
  checked.outcome.catch((error) => {
    const isRefused = error instanceof ApiError && error.code === 'bad_request'
    if (!isRefused && lists.get(name) === checked) lists.delete(name)
  })
  return checked.outcome
}

async function check(context: Context, tree: Row<'merkle_trees'>, { allowsPrograms }: RecipientTerms): Promise<void> {
  const list = await withRow(context, tree, ({ head, read }) => readStoredList(head, read))
  const claimants = Array.from({ length: list.count }, (_, i): Recipient => {
    return { param: `entries.${i}.wallet`, wallet: entryAt(list, i).wallet }
  })
  if (!allowsPrograms) return requireRecipients(context, claimants, { allowsPrograms })
  // Whoever allows programs may mean any address but an account of Squads, for which nobody could ever claim.
  const faults = await recipientFaults(context, claimants, { allowsPrograms })
  const lost = faults.filter(({ reason }) => reason === 'multisig' || reason === 'squads_account')
  refuseRecipients(lost, claimants.length)
}

/** Number of counts examined for a free one. Each takes two accounts of a call. */
const COUNTS_PER_SEARCH = 50

interface AirdropMaker {
  payer: string
  /** Root in hex. */
  root: string
  /** The stored tree, or null without one. */
  tree: Pick<Row<'merkle_trees'>, 'leaf_count' | 'total'> | null
}

/**
 * Resolves if neither the distributor's address nor its vault's has an account. Otherwise throws bad_request with the
 * owner and the remedy.
 */
async function requireFreeCount(context: Context, airdrop: ChainAirdrop, maker: AirdropMaker): Promise<void> {
  const { mint, airdropCount, vaultAddress, distributor, hasVault } = airdrop
  if (distributor === null && !hasVault) return
  const next = await nextFreeCount(context, airdrop)
  const way = next === null ? 'use another airdrop_count' : `use airdrop_count ${next}`
  if (distributor !== null) throw await countTakenError({ ...airdrop, distributor }, maker, next, way)
  throw badRequest(
    `airdrop_count ${airdropCount} of ${mint} cannot be used, because somebody has already opened its vault ${vaultAddress}, and the program accepts only a new one: ${way}`,
    {
      param: 'airdrop_count',
      details: { reason: 'vault_exists', vault: vaultAddress, next_airdrop_count: next },
    },
  )
}

/**
 * A distributor with the same root is the payer's own only if unclaimed tokens return to the payer and it pays out the
 * whole tree. Otherwise somebody could copy a published root and get the funding of others after the clawback time.
 */
async function countTakenError(
  airdrop: PresentAirdrop,
  { payer, root, tree }: AirdropMaker,
  next: number | null,
  way: string,
): Promise<ApiError> {
  const { id, mint, airdropCount, address, vaultAddress, vault, distributor } = airdrop
  const { admin, clawbackReceiver } = distributor
  const isSame = distributor.root === root
  const against =
    admin === payer
      ? await reasonsNotToFund(mint, distributor, tree)
      : [`Unclaimed tokens go to ${clawbackReceiver}, not back to ${payer}`]
  const isOwn = isSame && against.length === 0
  const held = String(vault?.amount ?? 0n)
  const details = {
    reason: isOwn ? 'already_initialized' : 'taken',
    distributor: address,
    root: distributor.root,
    admin,
    clawback_receiver: clawbackReceiver,
    vault: vaultAddress,
    vault_balance: held,
    next_airdrop_count: next,
  }
  const made = `airdrop_count ${airdropCount} of ${mint} is taken: ${admin} made the distributor ${address} there`
  const message = isOwn
    ? `The airdrop ${id} is on chain already: ${admin} made its distributor ${address} with this root, and its vault holds ${held}. Continue with it, or ${way} for another one`
    : isSame
      ? `${made} with the same root. ${against.join('. ')}. Do not fund it: ${way}`
      : `${made}, with the root ${distributor.root}. Anyone can take a number: ${way}`
  return badRequest(message, { param: 'airdrop_count', details })
}

/** Returns the first later count with nothing on chain and no stored tree, or null when none is near. */
async function nextFreeCount({ chain, store }: Context, { mint, airdropCount }: ChainAirdrop): Promise<number | null> {
  const most = Math.min(COUNTS_PER_SEARCH, MAX_AIRDROP_COUNT - airdropCount)
  const counts = Array.from({ length: most }, (_, i) => airdropCount + 1 + i)
  const distributors = counts.map((count) => distributorAddress({ mint, airdropCount: count }))
  const vaults = distributors.map((each) => tokenAccountAddress(mint, each))
  const accounts = await accountsAt(chain, [...distributors, ...vaults])
  for (const [i, count] of counts.entries()) {
    if (isOpen(accounts[i] ?? null) || isOpen(accounts[most + i] ?? null)) continue
    const stored = await findTree(store.db, treeIdOf(mint, count))
    if (stored === null) return count
  }
  return null
}
