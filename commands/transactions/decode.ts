/** `svc tx decode`: what is in a transaction, how long it can land, and what a trial run of it changes. */
import { paths } from '../../src/api/paths.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { addressNames } from '../signing/address-names.ts'
import { contentOutcome, type Findings } from '../signing/content.ts'
import { clusterState, secondsLeft } from '../signing/lifetime.ts'
import { describeWithTables } from '../signing/lookup-tables.ts'
import { readTransaction } from '../signing/transaction-input.ts'

const OFFLINE = 'not requested: --offline'

export const decode = verb({
  about: 'Show what a transaction does, who has signed it, and how long it can land',
  details:
    'Names, roles and amounts come from its bytes; the trial run and the expiry come from the API. --offline makes no request, for example on a machine that only has a key. An account of a lookup table is shown by the address that the table has now; with --offline as TABLE[place], because only the chain knows it.',
  calls: [paths.transactions.simulate, paths.service.cluster, paths.tokens.batchFetch, paths.accounts.get],
  args: { transaction: required(text('The transaction in base64, @FILE that holds it, or - for standard input')) },
  flags: { offline: toggle('Make no request: no trial run and no expiry') },
  examples: ['svc tx decode @transaction.txt', 'svc tx decode @built.json --offline'],
  async run({ transaction: argument, offline }, session) {
    const { transaction, last_valid_block_height: lastValid, expires_at } = await readTransaction(argument)
    const left = secondsLeft(expires_at, session.clock.now())
    if (offline) {
      const content = await session.wallet.describe(transaction)
      return contentOutcome(content, { trial: null, state: null, lastValid, left, untried: OFFLINE })
    }
    const { content, taken } = await describeWithTables(session, transaction)
    const [{ trial, untried }, names, state] = await Promise.all([
      tried(session, transaction),
      addressNames(session, content),
      clusterState(session, content.nonce_account === null ? content.recent_blockhash : undefined),
    ])
    return contentOutcome(content, { trial, state, lastValid, left, untried, names, taken })
  },
})

/** A trial run that cannot be made becomes a text; what the bytes say is shown anyway. */
async function tried(session: Session, transaction: string): Promise<Pick<Findings, 'trial' | 'untried'>> {
  try {
    const { data: simulation } = await session.client.transactions.simulate({ transaction })
    const { err, logs } = simulation
    const failed = err !== null && err !== undefined
    const fault = failed ? await session.wallet.explain(transaction, err, logs) : null
    return { trial: { simulation, fault }, untried: '' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { trial: null, untried: `could not be made: ${error.message}` }
  }
}
