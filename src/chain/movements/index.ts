/** What a transaction would really move out of a wallet: read from a run of it, never from what it claims to do. */
import { internal } from '../../errors.ts'
import { addressOf } from '../../solana/addresses.ts'
import { feeOf } from '../../solana/fees.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import type { Chain } from '../connection.ts'
import { explainTransactionError } from '../errors/index.ts'
import { accountAfter, runWithAccounts } from '../runs.ts'
import { lifetimeOf, namesIn } from '../transactions.ts'
import { authorityChanges, closings, delegations } from './control.ts'
import { flowsOf } from './flows.ts'
import { type Holdings, holdingsOf, nonceAuthority } from './holdings.ts'
import { type Instruction, innerInstructions, inOrder, ownInstructions } from './invocations.ts'
import { openingsIn } from './openings.ts'
import { ordersOf } from './orders.ts'
import { withoutReleased } from './releases.ts'
import { settled } from './settled.ts'
import type { Movement } from './types.ts'

export type { AuthorityChange, Closing, Delegation, Destination, Invocation, Movement, TokenAmount } from './types.ts'

/** The wallet itself may be paying other transactions: it holds still for a slot at least. */
const MOST_RUNS = 6
const CONFIDENTIAL_TRANSFER = 5
const TOKEN_EXTENSIONS = 166

export interface MovementOptions {
  /** Asset of Metaplex Core that the transaction may release: losing its freeze authority is then no loss of the wallet. */
  release?: string | undefined
}

/**
 * Runs the very message, with its own blockhash and without asking for signatures. A failed run is a movement with
 * `err`. Throws bad_request where the node refuses to run it, internal_error where the node fails.
 */
export async function readMovement(
  chain: Chain,
  transaction: DecodedTransaction,
  wallet: string,
  { release }: MovementOptions = {},
): Promise<Movement> {
  const { VersionedTransaction } = await import('@solana/web3.js')
  const { message, raw } = transaction
  const connection = await chain.connection()
  const feePayer = message.keys[0]!
  const [fee, { addresses, loaded, before, run, stable }] = await Promise.all([
    feePayer === wallet ? feeFor(chain, transaction) : 0n,
    runWithAccounts(connection, VersionedTransaction.deserialize(raw), message, {
      replaceRecentBlockhash: false,
      innerInstructions: true,
      settle: (addresses, before, again, isLast) => settled(wallet, addresses, before, again, isLast),
      mostRuns: MOST_RUNS,
    }),
  ])
  const { err, accounts } = run.value
  const logs = run.value.logs ?? []
  const own = ownInstructions(message, [...message.keys, ...loaded.writable, ...loaded.readonly])
  const common = {
    wallet,
    slot: run.context.slot,
    signers: message.keys.slice(0, message.signers),
    fee_payer: feePayer,
    fee,
  }
  if (err !== null) {
    const error = explainTransactionError(err, { logs, ...namesIn(message) })
    return { ...common, ...NOTHING, err: error, logs, stable, programs: invocations(own, wallet) }
  }
  if (accounts?.length !== addresses.length) {
    throw internal('The RPC node ran the transaction but does not show what it changes')
  }
  const after = addresses.map((_, i) => accountAfter(accounts[i] ?? null))
  const inner = innerInstructions(run.value.innerInstructions)
  const all = [...own, ...(inner ?? [])]
  const touched = holdingsOf(wallet, addresses, before, after, openingsIn(all))
  const holdings = release === undefined ? touched : await withoutReleased(wallet, release, message, touched)
  const orders = ordersOf(wallet, inOrder(own, inner ?? []), holdings)
  const flows = flowsOf(wallet, holdings, orders, fee)
  const unread = [
    ...(inner === null ? [{ where: 'the RPC node', reason: 'does not show inner instructions' }] : []),
    ...orders.unread,
    ...hiddenIn(wallet, holdings),
    ...lastingBy(transaction, wallet, holdings),
  ]
  return {
    ...common,
    err: null,
    logs: [],
    stable: stable && unread.length === 0,
    unread,
    programs: invocations(all, wallet),
    ...flows,
    authority_changes: authorityChanges(wallet, holdings, orders),
    delegates: delegations(wallet, holdings),
    closes: closings(wallet, holdings, orders, flows.destinations),
  }
}

const NOTHING = {
  unread: [],
  lamports_out: 0n,
  lamports_to_others: 0n,
  tokens_out: [],
  tokens_to_others: [],
  destinations: [],
  authority_changes: [],
  delegates: [],
  closes: [],
} satisfies Partial<Movement>

const invocations = (instructions: readonly Instruction[], wallet: string) =>
  instructions.map(({ program, depth, where, accounts }) => ({
    program,
    depth,
    where,
    wallet: accounts.includes(wallet),
  }))

/** The larger of the node's answer and of the rules that are known: neither alone can hide a priority fee. */
async function feeFor(chain: Chain, { message, messageBytes }: DecodedTransaction): Promise<bigint> {
  const known = feeOf(message)
  const params = [Buffer.from(messageBytes).toString('base64'), { commitment: 'confirmed' }]
  const answer = await chain.call<{ value?: unknown }>('getFeeForMessage', params).catch(() => null)
  const said = answer?.value
  const fee = typeof said === 'bigint' || Number.isSafeInteger(said) ? BigInt(said as number | bigint) : 0n
  return fee > known ? fee : known
}

/** Balances of a confidential transfer are encrypted: what leaves cannot be told. */
function hiddenIn(wallet: string, holdings: Holdings): Movement['unread'] {
  return [...holdings.values()].flatMap(({ address, before, after, isOwnToken }) => {
    if (!isOwnToken || address === wallet) return []
    const [old, now] = [before.account?.data, after.account?.data]
    if (old !== undefined && now !== undefined && Buffer.from(old).equals(now)) return []
    const isHidden = [old, now].some((data) => data !== undefined && hasExtension(data, CONFIDENTIAL_TRANSFER))
    return isHidden ? [{ where: address, reason: 'has a confidential balance, which cannot be read' }] : []
  })
}

/** What cannot be walked to its end counts as having it. */
function hasExtension(data: Uint8Array, type: number): boolean {
  if (data.length < TOKEN_EXTENSIONS) return false
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let at = TOKEN_EXTENSIONS
  while (at + 4 <= data.length) {
    const found = view.getUint16(at, true)
    if (found === 0) return false
    if (found === type) return true
    at += 4 + view.getUint16(at + 2, true)
  }
  return at > data.length
}

/** By a stranger's durable nonce the signature would hold for as long as the stranger likes. */
function lastingBy({ message }: DecodedTransaction, wallet: string, holdings: Holdings): Movement['unread'] {
  const { nonceAccount } = lifetimeOf(message)
  if (nonceAccount === null) return []
  const account = holdings.get(nonceAccount)?.before.account ?? null
  if (nonceAuthority(account) === wallet) return []
  const authority = account === null || account.data.length < 40 ? 'somebody' : addressOf(account.data.subarray(8, 40))
  return [{ where: nonceAccount, reason: `a durable nonce of ${authority} keeps the transaction from expiring` }]
}
