/** Shows what a command takes from each wallet in all, and refuses it before anything is signed if one cannot pay. */
import type { TransactionForecast } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { failure, nullIfNotFound } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { previewLine } from './preview.ts'

export interface Payment {
  wallet: string
  /** Null for SOL. */
  mint: string | null
  decimals: number | null
  /** In raw units, like the two after it. */
  amount: bigint
  /** What the wallet must have at the start: more than `amount` if a part returns, or rent must stay in it. */
  needed: bigint
  held: bigint
}

export interface Funds {
  payments: readonly Payment[]
  /** Whether all of it is known; null if nothing is. */
  isExact: boolean | null
  /** Why a transaction would fail for another reason than a lack of money; null if none would. */
  fault: { text: string; hint: string | null; err: unknown } | null
}

export const UNKNOWN_FUNDS: Funds = { payments: [], isExact: null, fault: null }

/** The most transactions of one forecast. */
const MOST_IN_FORECAST = 5

/** What any number of transactions take that do not depend on each other, such as those of a list. */
export async function fundsOfEach(session: Session, transactions: readonly string[]): Promise<Funds> {
  const parts: Funds[] = []
  for (let at = 0; at < transactions.length; at += MOST_IN_FORECAST) {
    const part = transactions.slice(at, at + MOST_IN_FORECAST)
    parts.push(await patiently(session, () => forecastFunds(session, part, { before: at, all: transactions.length })))
  }
  return addFunds(parts)
}

/** What the transactions take, run one after another by the API; they are at most five. */
export async function forecastFunds(
  { client, wallet }: Session,
  transactions: readonly string[],
  place = { before: 0, all: transactions.length },
): Promise<Funds> {
  let forecast: TransactionForecast
  try {
    forecast = (await client.transactions.forecast({ transactions: [...transactions] })).data
  } catch (error) {
    // An older API does not know the request.
    if (error instanceof ApiError && error.code === 'not_found') return UNKNOWN_FUNDS
    throw error
  }
  const { payments, exact, failed } = forecast
  return {
    payments: payments.map(({ amount, needed, held, ...whose }) => ({
      ...whose,
      amount: BigInt(amount),
      needed: BigInt(needed),
      held: BigInt(held),
    })),
    isExact: exact,
    fault: failed === null ? null : await explainFault(wallet, transactions, failed, place),
  }
}

async function explainFault(
  wallet: Session['wallet'],
  transactions: readonly string[],
  { index, err, logs }: NonNullable<TransactionForecast['failed']>,
  { before, all }: { before: number; all: number },
): Promise<Funds['fault']> {
  const { program, message, hint } = await wallet.explain(transactions[index] ?? '', err, logs)
  const place = all === 1 ? '' : `transaction ${before + index + 1} of ${all}: `
  return { text: `${place}${program === null ? '' : `${program}: `}${message}`, hint, err }
}

/** Whether all of it would succeed, as far as that is known. */
export const canPay = ({ payments, fault }: Funds): boolean =>
  fault === null && payments.every((payment) => missingOf(payment) === 0n)

const missingOf = ({ needed, held }: Payment) => (needed > held ? needed - held : 0n)

/** The payments as fields of an answer, in raw units. */
export const fundsRecord = ({ payments }: Funds) => ({
  payments: payments.map(({ amount, needed, held, ...whose }) => ({
    ...whose,
    amount: String(amount),
    needed: String(needed),
    held: String(held),
  })),
})

/** The lamports of a wallet; 0 for one that is not on chain. */
export const readLamports = async ({ client }: Pick<Session, 'client'>, address: string): Promise<bigint> =>
  BigInt((await nullIfNotFound(client.accounts.get({ address })))?.data.lamports ?? 0)

/** A payment of SOL that was added up here. */
export const solPayment = (wallet: string, amount: bigint, held: bigint): Payment => ({
  wallet,
  mint: null,
  decimals: null,
  amount,
  needed: amount,
  held,
})

/** What a part takes that is repeated. */
export const repeatFunds = (part: Funds, count: number): Funds => addFunds(Array.from({ length: count }, () => part))

/** What several parts of a command take together, one after another. */
export function addFunds(parts: readonly Funds[]): Funds {
  const sums = new Map<string, { payment: Payment; spare: bigint }>()
  for (const payment of parts.flatMap(({ payments }) => payments)) {
    const { wallet, mint, amount, needed } = payment
    const key = `${wallet} ${mint}`
    const known = sums.get(key) ?? { payment: { ...payment, amount: 0n }, spare: 0n }
    const spare = needed - amount > known.spare ? needed - amount : known.spare
    sums.set(key, { payment: { ...known.payment, amount: known.payment.amount + amount }, spare })
  }
  return {
    payments: [...sums.values()].map(({ payment, spare }) => ({ ...payment, needed: payment.amount + spare })),
    isExact: parts.some(({ isExact }) => isExact === null) ? null : parts.every(({ isExact }) => isExact),
    fault: parts.find(({ fault }) => fault !== null)?.fault ?? null,
  }
}

/** The lines of a preview: `total  0.52 SOL (you have 0.02)`. */
export function totalLines({ payments, isExact, fault }: Funds, own: string): string[] {
  if (isExact === null) return [previewLine('total', 'not known: the API could not run it')]
  const lines = payments.map((payment) => {
    const { wallet, amount, held } = payment
    const whose =
      wallet === own ? `(you have ${amountOf(payment, held)})` : `from ${wallet} (has ${amountOf(payment, held)})`
    return `${isExact ? '' : 'at least '}${amountOf(payment, amount)} ${unitOf(payment)} ${whose}`
  })
  const rest = isExact ? [] : ['the rest is not known: `svc localnet pull` fetches the programs for it']
  return [
    ...[...lines, ...rest].map((line, i) => previewLine(i === 0 ? 'total' : '', line)),
    ...(fault === null ? [] : [previewLine('failed', printable(fault.text))]),
    ...payments
      .filter((payment) => missingOf(payment) > 0n)
      .map((payment, i) => {
        const missing = `${amountOf(payment, missingOf(payment))} ${unitOf(payment)}`
        return previewLine(i === 0 ? 'missing' : '', `${missing} in ${payment.wallet}`)
      }),
  ]
}

/** Throws a failure that says how much is missing, and how to get it. */
export function requireFunds({ payments, fault }: Funds, cluster: string | null): void {
  if (fault !== null) {
    throw failure(`it would fail, so nothing was sent: ${printable(fault.text)}`, {
      next: fault.hint ?? '--dry-run shows the simulation again; `svc localnet pull` fetches newer programs for it',
      details: { err: fault.err },
    })
  }
  const short = payments.find((payment) => missingOf(payment) > 0n)
  if (short === undefined) return
  const { wallet, mint, needed, held } = short
  const missing = missingOf(short)
  const unit = unitOf(short)
  throw failure(
    `${wallet} has ${amountOf(short, held)} ${unit}, and ${amountOf(short, needed)} ${unit} is needed: nothing was signed or sent`,
    {
      next:
        mint === null && cluster === 'embedded'
          ? `\`svc localnet airdrop ${wallet} ${wholeSol(missing)}\``
          : `send ${amountOf(short, missing)} ${unit} to ${wallet}`,
      details: { wallet, mint, needed: String(needed), held: String(held) },
    },
  )
}

/** Whole SOL, rounded up, as a command takes it. */
const wholeSol = (lamports: bigint) => String((lamports + 999_999_999n) / 1_000_000_000n)

const amountOf = ({ mint, decimals }: Payment, raw: bigint) =>
  groupedDecimalOf(raw, mint === null ? LAMPORT_DECIMALS : (decimals ?? 0))

const unitOf = ({ mint, decimals }: Payment) =>
  mint === null ? 'SOL' : `${decimals === null ? 'raw units ' : ''}of ${mint}`
