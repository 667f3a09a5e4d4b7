/** Rehearses transactions one after another in memory, on the accounts of the cluster: what they cost, before the first is sent. */
import type { TransactionForecast } from '../../api/index.ts'
import type { RehearsalChain } from '../../localnet/rehearsal-chain.ts'
import { feePayerOf, movementOf } from '../../policy/movement/compute-movement.ts'
import type { Movement } from '../../policy/movement/movement.ts'
import { readRentSysvar } from '../../solana/cluster-settings.ts'
import type { Execution } from '../../solana/execution.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import { decodeInstruction } from '../../solana/instructions.ts'
import { type DecodedTransaction, isWritable, keyAt } from '../../solana/messages.ts'
import { CLOCK_SYSVAR, RENT_SYSVAR, RUNTIME_OWNERS, SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { RentRate } from '../../solana/rent.ts'
import { readMint, readTokenAccount, TOKEN_ACCOUNT_SIZE, TOKEN_AMOUNT_OFFSET } from '../../solana/token-accounts.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { chainTimeOf } from '../reads/chain-clock.ts'
import type { MaybeAccount } from '../reads/node-reads.ts'
import { accountsAt } from './runs.ts'

export type SeriesRehearsal = Pick<TransactionForecast, 'failed' | 'payments'> & {
  /** What each transaction moves out of the policy's wallet; empty without one, and if any transaction fails. */
  movements: Movement[]
}

/** Most bytes of accounts that are copied into memory for one rehearsal. */
const MOST_BYTES = 16 * 1024 * 1024
/** What a wallet is given for the second run: more than it can spend, and little enough to fit into 64 bits. */
const AMPLE = 2n ** 62n

interface Series {
  transactions: readonly DecodedTransaction[]
  /** The accounts of the cluster by their addresses. */
  accounts: ReadonlyMap<string, MaybeAccount>
  programsDir: string
  /** Signers that pay something: fees, transfers, or the rent of accounts. */
  wallets: readonly string[]
  /** The wallet whose policy is asked about each transaction. */
  policyWallet: string | undefined
}

/**
 * Null if the transactions cannot be run here: a program is not in the program cache, an account is in a lookup table,
 * or the accounts are too large. Throws internal_error when the node fails.
 */
export async function rehearseInSeries(
  node: NodeCalls,
  programsDir: string,
  transactions: readonly DecodedTransaction[],
  policyWallet?: string,
): Promise<SeriesRehearsal | null> {
  if (transactions.some(({ message }) => message.lookups.length > 0)) return null
  const addresses = new Set([CLOCK_SYSVAR, RENT_SYSVAR, ...transactions.flatMap(({ message }) => message.keys)])
  const read = await accountsAt(node, [...addresses])
  const accounts = new Map([...addresses].map((address, i) => [address, read[i] ?? null]))
  if (read.reduce((sum, account) => sum + (account?.data.length ?? 0), 0) > MOST_BYTES) return null

  const series = { transactions, accounts, programsDir, wallets: payersOf(transactions, accounts), policyWallet }
  const own = await runSeries(series, { isAmple: false })
  if (own === null) return null
  // The wallets have enough, even if one spends its last lamport.
  if (own.failed === null) return { ...own, payments: own.payments.map(withoutLack) }
  // With ample money, a failure has another cause than a lack of it.
  const ample = await runSeries(series, { isAmple: true })
  if (ample === null) return null
  const { payments } = ample
  // If no lack is known, the failure itself says more.
  const isShort = payments.some(({ needed, held }) => BigInt(needed) > BigInt(held))
  return ample.failed === null && isShort
    ? { failed: null, payments, movements: [] }
    : { failed: ample.failed ?? own.failed, payments: [], movements: [] }
}

/** Addresses of the signers that may lose something; keys that a build has generated are on no chain yet. */
export function payersOf(transactions: readonly DecodedTransaction[], accounts: Series['accounts']): string[] {
  const sources = transactions.flatMap(({ message }) => systemPayments(message).map(({ source }) => source))
  return [
    ...new Set(
      transactions.flatMap(({ message }) =>
        message.keys
          .slice(0, message.signers)
          .filter((key, i) => i === 0 || sources.includes(key) || (accounts.get(key) ?? null) !== null),
      ),
    ),
  ]
}

/** The lamports that a message says it takes from a wallet: its fee, and what its System instructions send. */
export function ownPayments({ message }: DecodedTransaction, wallet: string): bigint {
  const fee = keyAt(message, 0) === wallet ? feeOfMessage(message) : 0n
  return systemPayments(message).reduce((sum, { source, lamports }) => (source === wallet ? sum + lamports : sum), fee)
}

function systemPayments(message: DecodedTransaction['message']): { source: string; lamports: bigint }[] {
  return message.instructions.flatMap(({ programIdIndex, accounts, data }) => {
    const keys = [...accounts].map((index) => message.keys[index] ?? '')
    const decoded = decodeInstruction(keyAt(message, programIdIndex), keys, data)
    if (decoded?.program !== 'system') return []
    const { instruction } = decoded
    return 'source' in instruction && 'lamports' in instruction ? [instruction] : []
  })
}

/** Lamports that a wallet must have at the start, by its address: more than it pays, if a part of them returns. */
type Needs = ReadonlyMap<string, bigint>

async function runSeries(
  { transactions, accounts, programsDir, wallets, policyWallet }: Series,
  { isAmple }: { isAmple: boolean },
): Promise<SeriesRehearsal | null> {
  const chain = await openCopy(accounts, programsDir)
  const before = new Map<string, MaybeAccount>()
  for (const [address, account] of accounts) {
    if (account?.executable && !chain.account(address)?.executable) return null
    if (account !== null && (account.executable || RUNTIME_OWNERS.has(account.owner))) continue
    const given = isAmple ? enriched(address, account, wallets) : account
    before.set(address, given)
    if (given !== null || chain.account(address) !== null) chain.set(address, given)
  }
  const paidBy = (wallet: string) => (before.get(wallet)?.lamports ?? 0n) - (chain.account(wallet)?.lamports ?? 0n)
  // A wallet keeps its own rent, and that of the wrapped SOL which is open while it buys.
  const spare = chain.minimumBalance(0) + chain.minimumBalance(TOKEN_ACCOUNT_SIZE)
  const needs = new Map<string, bigint>()
  const need = (wallet: string, lamports: bigint) =>
    needs.set(wallet, largest(needs.get(wallet) ?? 0n, lamports + spare))
  const movements: Movement[] = []
  for (const [index, transaction] of transactions.entries()) {
    for (const wallet of wallets) need(wallet, paidBy(wallet) + ownPayments(transaction, wallet))
    const { keys } = transaction.message
    const state = () => keys.map((address) => chain.account(address))
    const from = policyWallet === undefined ? [] : state()
    const run = chain.run(transaction.raw)
    if (run.err !== null) return { failed: { index, err: run.err, logs: run.logs }, payments: [], movements: [] }
    for (const wallet of wallets) need(wallet, paidBy(wallet))
    if (policyWallet !== undefined) {
      const minimumOf: RentRate = (bytes) => chain.minimumBalance(bytes)
      movements.push(await movementIn(transaction, policyWallet, { before: from, after: state(), run, minimumOf }))
    }
  }
  return { failed: null, movements, payments: paymentsOf(chain, { accounts, before, wallets, needs }) }
}

interface RunEffects {
  /** The accounts of the message, in its order. */
  before: MaybeAccount[]
  after: MaybeAccount[]
  run: Execution
  minimumOf: RentRate
}

/** The movement of one run, as `readMovement` reads it from a node's simulation. */
async function movementIn(
  { message }: DecodedTransaction,
  wallet: string,
  { before, after, run, minimumOf }: RunEffects,
): Promise<Movement> {
  const { encodeInnerInstructions } = await import('../../localnet/rpc/transaction-encoding.ts')
  const { keys } = message
  const fee = feePayerOf(message) === wallet ? feeOfMessage(message) : 0n
  const written = keys.map((_, i) => i).filter((i) => isWritable(message, 0, i))
  const at = <T>(all: readonly T[]) => written.map((i) => all[i] as T)
  return movementOf(
    { wallet, message, keys, slot: 0, fee, stable: true },
    {
      addresses: at(keys),
      before: at(before),
      after: at(after),
      release: null,
      minimumOf,
      inner: encodeInnerInstructions(run.innerInstructions, keys, true),
    },
  )
}

/** Opens a chain in memory with the clock and the rent among the accounts. */
export async function openCopy(accounts: Series['accounts'], programsDir: string): Promise<RehearsalChain> {
  const { openRehearsalChain } = await import('../../localnet/rehearsal-chain.ts')
  const [clock = null, rent = null] = [accounts.get(CLOCK_SYSVAR), accounts.get(RENT_SYSVAR)]
  const { unixSeconds } = await chainTimeOf(clock)
  const settings = rent === null ? {} : { rent: readRentSysvar(rent.data) }
  return openRehearsalChain({ programsDir, now: unixSeconds * 1000, ...settings })
}

const largest = (a: bigint, b: bigint) => (a > b ? a : b)

/** The account with ample lamports or tokens, if it is that of a payer. */
function enriched(address: string, account: MaybeAccount, wallets: readonly string[]): MaybeAccount {
  if (wallets.includes(address)) {
    const empty = { owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }
    return { ...(account ?? empty), lamports: largest(account?.lamports ?? 0n, AMPLE) }
  }
  const token = account && readTokenAccount(account)
  if (account === null || !token || !wallets.includes(token.owner) || token.mint === WRAPPED_SOL) return account
  const data = Buffer.from(account.data)
  data.writeBigUInt64LE(largest(token.amount, AMPLE), TOKEN_AMOUNT_OFFSET)
  return { ...account, data }
}

type Payment = TransactionForecast['payments'][number]

function paymentsOf(
  chain: Pick<RehearsalChain, 'account'>,
  {
    accounts,
    before,
    wallets,
    needs,
  }: Pick<Series, 'accounts' | 'wallets'> & { before: Series['accounts']; needs: Needs },
): Payment[] {
  const payments = new Map<string, { wallet: string; mint: string | null; amount: bigint; held: bigint }>()
  const add = (wallet: string, mint: string | null, amount: bigint, held: bigint) => {
    const key = `${wallet} ${mint}`
    const known = payments.get(key) ?? { wallet, mint, amount: 0n, held: 0n }
    payments.set(key, { ...known, amount: known.amount + amount, held: known.held + held })
  }
  for (const [address, account] of accounts) {
    const [from, to] = [before.get(address) ?? null, chain.account(address)]
    if (wallets.includes(address)) {
      add(address, null, (from?.lamports ?? 0n) - (to?.lamports ?? 0n), account?.lamports ?? 0n)
    }
    const [held, old, now] = [account, from, to].map((each) => each && readTokenAccount(each))
    if (!held || !old || !wallets.includes(held.owner)) continue
    add(held.owner, held.mint, old.amount - (now?.amount ?? 0n), held.amount)
  }
  return [...payments.values()].flatMap(({ amount, held, wallet, mint }) => {
    const account = mint === null ? null : (accounts.get(mint) ?? null)
    const decimals = account === null ? null : (readMint(account)?.decimals ?? null)
    const needed = mint === null ? (needs.get(wallet) ?? amount) : amount
    // A wallet that gains in the end may still have to pay first.
    if (amount <= 0n && needed <= held) return []
    return [{ wallet, mint, decimals, amount: `${largest(0n, amount)}`, needed: `${needed}`, held: `${held}` }]
  })
}

/** The rehearsal succeeded, so the wallet has enough: `needed` includes a reserve that this run did not use. */
const withoutLack = ({ needed, held, ...payment }: Payment): Payment => ({
  ...payment,
  needed: BigInt(needed) > BigInt(held) ? held : needed,
  held,
})
