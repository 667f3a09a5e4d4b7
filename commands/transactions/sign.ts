/** `svc tx sign`: shows what a transaction does, and adds the signature of a local keypair; sends nothing. */
import { paths } from '../../src/api/paths.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { contentOutcome } from '../signing/content.ts'
import { KEYPAIR } from '../signing/flags.ts'
import { secondsLeft, secondsLeftText } from '../signing/lifetime.ts'
import { describeWithTables } from '../signing/lookup-tables.ts'
import { partialOutcome } from '../signing/partial-outcome.ts'
import { placeOf } from '../signing/signatures.ts'
import { readTransactions, type TransactionInput } from '../signing/transaction-input.ts'
import type { SignedTransaction } from '../signing/wallet.ts'
import { Problem, usage } from '../ui/problem.ts'
import { refreshed } from './refresh.ts'

/** Fewer seconds than these do not suffice to sign and send a build, so it gets a fresh blockhash before. */
const LEAST_SECONDS_LEFT = 10
/** With fewer seconds, a person at a device would have to hurry. */
const LEAST_SECONDS_AT_A_DEVICE = 25

export const sign = verb({
  about: 'Add your signature to a transaction; nothing is sent',
  details:
    'First shows what the transaction does, as far as its bytes say, the accounts of its lookup tables as the API reads them now (with --offline as TABLE[place]), how many seconds it can still be sent, and asks you on a terminal. Without a terminal, clusters where a mistake costs money need --yes. `svc tx simulate` tries it. Of a build with several transactions, it signs those that need your keypair. A build that says when it expires gets a fresh blockhash in time, if nobody else has signed it and the API can be reached; nothing else in it changes. Guards cannot be added here: ask whoever builds it for them (`svc help signing`).',
  calls: [paths.transactions.refresh, paths.service.cluster, paths.accounts.get],
  args: { transaction: required(text('The transaction in base64, @FILE that holds it, or - for standard input')) },
  flags: { keypair: KEYPAIR, offline: toggle('Make no request: an expired build is refused') },
  examples: ['svc tx sign @transaction.txt -k cold.json > signed.txt', 'svc tx sign @built.json --json > signed.json'],
  async run({ transaction, keypair, offline }, session) {
    const { wallet, clock } = session
    const given = await readTransactions(transaction)
    if (!given.isSeries) {
      await confirmContent(session, given, { offline })
      const input = await inTime(session, given, { offline, keypair })
      const signed = [await wallet.sign(input.transactions[0] ?? '', { keypair })]
      return partialOutcome(input, signed, { now: clock.now() })
    }
    const address = await wallet.address(keypair)
    await confirmContent(session, given, { offline })
    const input = await inTime(session, given, { offline, keypair })
    const partial: SignedTransaction[] = []
    let count = 0
    for (const [i, one] of input.transactions.entries()) {
      const { signers } = await wallet.decode(one)
      const isSigner = signers.some((signer) => signer.address === address)
      count += isSigner ? 1 : 0
      const place = placeOf(i, input.transactions.length)
      partial.push(await wallet.sign(one, isSigner ? { keypair, place } : { own: false }))
    }
    if (count > 0) return partialOutcome(input, partial, { now: clock.now() })
    throw usage(`${address} is not a signer of these transactions`, {
      param: '--keypair',
      next: 'give the keypair of one of them with -k FILE',
    })
  },
})

/** There is no request to compare them with, so a person must agree to what their bytes say. */
async function confirmContent(
  session: Session,
  { transactions, expires_at }: TransactionInput,
  { offline }: { offline: boolean },
): Promise<void> {
  const { ui, wallet, clock } = session
  if (!ui.attended) await refuseUnconfirmable(session, await session.cluster())
  const untried = 'not made: svc tx simulate makes one'
  const left = secondsLeft(expires_at, clock.now())
  for (const transaction of transactions) {
    const { content, taken } = offline
      ? { content: await wallet.describe(transaction), taken: [] }
      : await describeWithTables(session, transaction)
    const { text = '' } = await contentOutcome(content, {
      taken,
      trial: null,
      state: null,
      lastValid: undefined,
      left,
      untried,
    })
    await ui.preview(text.split('\n'))
  }
  const question = transactions.length === 1 ? 'Sign it' : `Sign these ${transactions.length}`
  const time = left === undefined || left <= 0 ? '' : ` (it can be sent ${secondsLeftText(left)})`
  if (ui.interactive) await ui.confirm(`${question}${time}?`)
}

/** Returns the build, with a fresh blockhash if the present one expires too soon. Throws if it cannot get one. */
async function inTime(
  session: Session,
  input: TransactionInput,
  { offline, keypair }: { offline: boolean; keypair: string | undefined },
): Promise<TransactionInput> {
  const left = secondsLeft(input.expires_at, session.clock.now())
  const isDevice = await session.wallet.isDevice(keypair)
  if (left === undefined || left >= (isDevice ? LEAST_SECONDS_AT_A_DEVICE : LEAST_SECONDS_LEFT)) return input
  const isEnough = left >= LEAST_SECONDS_LEFT
  const why =
    left > 0 ? `the build can be sent only ${secondsLeftText(left)}` : `the blockhash ${secondsLeftText(left)}`
  const stale = (reason: string) =>
    new Problem('bad_request', `${why}, and the build gets no fresh one: ${reason}. Nothing was signed`, {
      next: 'give the build to `svc tx refresh` where svc reaches the API, and sign what that prints',
    })
  if (offline && isEnough) return input
  if (offline) throw stale('--offline makes no request')
  try {
    const { fresh, landed } = await refreshed(session, input)
    for (const signature of landed) session.ui.warn(`${signature} has landed already, and is left out`)
    session.ui.warn(`${why}: the build has a fresh blockhash, and nothing else has changed`)
    return fresh
  } catch (error) {
    if (error instanceof ApiError && isEnough) return input
    throw error instanceof ApiError ? stale(error.message) : error
  }
}
