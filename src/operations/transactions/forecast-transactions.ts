/** Finds what a series of transactions costs before the first of them is signed or sent. */
import type { Api, TransactionForecast } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { explainTransactionError } from '../../chain/errors/index.ts'
import { readRentRate } from '../../chain/reads/rpc-reads.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { ownPayments, payersOf, rehearseInSeries, type SeriesRehearsal } from '../../chain/sending/series-rehearsal.ts'
import { simulateDecoded } from '../../chain/sending/simulations.ts'
import { decodeTransaction, namesIn } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { NativeModuleFault } from '../../platform/native-modules.ts'
import type { Movement } from '../../policy/movement/movement.ts'
import { tokenText } from '../../solana/amounts.ts'
import { memoryBytes } from '../../solana/guards.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'

type ForecastTransactionsRoute = Api['transactions']['forecast']
type Services = Pick<Context, 'chain' | 'config' | 'log'>

export async function forecastTransactions(
  context: Context,
  { transactions }: Input<ForecastTransactionsRoute>,
): Promise<Result<ForecastTransactionsRoute>> {
  const { movements: _, ...forecast } = await forecastDecoded(
    context,
    transactions.map((transaction, i) => decodeTransaction(transaction, `transactions.${i}`)),
  )
  return forecast
}

async function forecastDecoded(
  { chain, config }: Pick<Services, 'chain' | 'config'>,
  transactions: readonly DecodedTransaction[],
  policyWallet?: string,
): Promise<TransactionForecast & Pick<SeriesRehearsal, 'movements'>> {
  const rehearsed = await rehearseInSeries(chain, config.programsDir, transactions, policyWallet).catch(
    (error: unknown) => {
      // The runtime of the embedded chain has no binary for every platform.
      if (error instanceof NativeModuleFault) return null
      throw error
    },
  )
  return rehearsed === null
    ? { ...(await knownPart(chain, transactions)), movements: [] }
    : { exact: true, ...rehearsed }
}

/** The part that is known without the programs: all of the first transaction, and the fees and transfers of the others. */
async function knownPart(
  chain: Services['chain'],
  transactions: readonly DecodedTransaction[],
): Promise<TransactionForecast> {
  const addresses = [...new Set(transactions.flatMap(({ message }) => message.keys))]
  const read = await accountsAt(chain, addresses)
  const accounts = new Map(addresses.map((address, i) => [address, read[i] ?? null]))
  const [first] = transactions
  const run = first === undefined ? null : await simulateDecoded(chain, first)
  const changes = run?.err === null ? run.balance_changes : null
  const paid = (transaction: DecodedTransaction, wallet: string) => {
    if (transaction !== first || changes === null) return ownPayments(transaction, wallet)
    return -BigInt(changes.find(({ address, mint }) => address === wallet && mint === null)?.change ?? 0)
  }
  const payments = payersOf(transactions, accounts).map((wallet) => {
    const amount = transactions.reduce((sum, transaction) => sum + paid(transaction, wallet), 0n)
    const held = `${accounts.get(wallet)?.lamports ?? 0n}`
    return { wallet, mint: null, decimals: null, amount: `${amount}`, needed: `${amount}`, held }
  })
  const isShort = payments.some(({ needed, held }) => BigInt(needed) > BigInt(held))
  const failed = run === null || run.err === null || isShort ? null : { index: 0, err: run.err, logs: run.logs }
  return {
    exact: changes !== null && transactions.length === 1,
    failed,
    payments: failed === null ? payments.filter(({ amount }) => BigInt(amount) > 0n) : [],
  }
}

/**
 * Throws bad_request if a wallet cannot pay for all of the transactions, or if one of them would fail, so that nobody
 * pays for a part of them. Returns what each of several moves out of the platform wallet; nothing if that is not known.
 */
export async function requireAllPaid(
  services: Services,
  transactions: readonly Uint8Array[],
  { wallet: policyWallet, param, isGuarded }: { wallet: string; param: string; isGuarded: boolean },
): Promise<Movement[]> {
  const decoded = transactions.map((bytes) => decodeTransaction(Buffer.from(bytes).toString('base64')))
  const { failed, payments, exact, movements } = await forecastDecoded(
    services,
    decoded,
    // A single one is checked against the policy when it is signed.
    decoded.length > 1 ? policyWallet : undefined,
  )
  const message = failed === null ? undefined : decoded[failed.index]?.message
  if (failed !== null && message !== undefined) {
    const { message: why, hint } = explainTransactionError(failed.err, { logs: failed.logs, ...namesIn(message) })
    throw badRequest(
      `Transaction ${failed.index + 1} of ${decoded.length} would fail, so nothing was signed: ${why}${hint === null ? '' : ` (${hint})`}`,
      { param, details: { ...failed, reason: 'would_fail' } },
    )
  }
  const lent = isGuarded ? await lentIn(services.chain, movements) : 0n
  const withLent = payments.map((each) =>
    each.wallet === policyWallet && each.mint === null ? { ...each, needed: `${BigInt(each.needed) + lent}` } : each,
  )
  const short = withLent.find(({ needed, held }) => BigInt(needed) > BigInt(held))
  if (short === undefined) {
    // The wallet has what is known to be needed.
    if (!exact) services.log.warn({ payments }, 'signs without the whole cost: a program is not in the program cache')
    return movements
  }
  const { wallet, mint, needed, held } = short
  const shown = (amount: bigint) => tokenText(mint, amount)
  const [has, needs] = [BigInt(held), BigInt(needed)]
  const all = decoded.length === 1 ? 'the transaction needs' : `all ${decoded.length} transactions need`
  const loan = lent > 0n && wallet === policyWallet && mint === null ? ', of which its guards return a part' : ''
  throw badRequest(
    `${wallet} has ${shown(has)}, and ${all} ${exact ? '' : 'at least '}${shown(needs)}${loan}: nothing was signed. Send it ${shown(needs - has)}`,
    { param, details: { ...short, reason: 'insufficient_funds' } },
  )
}

/** The wallet itself has a guard, also if a transaction fails before its movement is known. */
const LEAST_MEMORY_BYTES = 8

/** Lamports with which the guards of each transaction are built: twice what the fee payer lends them. */
async function lentIn(chain: Services['chain'], movements: readonly Movement[]): Promise<bigint> {
  const rentFor = await readRentRate(chain)
  const bytes = movements.map(({ guards }) => memoryBytes(guards.needed))
  return 2n * rentFor(Math.max(LEAST_MEMORY_BYTES, ...bytes))
}
