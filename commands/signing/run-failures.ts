/** Explains the failures of a signed run: of its simulation, and of a transaction on chain. */
import type { Simulation, Transaction } from '../../src/api/transactions.ts'
import type { Session } from '../cli/session.ts'
import { failure, Problem } from '../ui/problem.ts'
import type { ShownGuards } from './guard-lines.ts'
import type { Explanation, TransactionContent } from './wallet.ts'

/** What a simulation of the first transaction shows before anything is signed. */
export interface SimulatedBuild extends ShownGuards {
  /** The cluster's label; null if only the API knows it. */
  cluster: string | null
  signer: string
  content: TransactionContent
  simulation: Simulation
  /** The reason of a failed simulation; null if it succeeded. */
  fault: Explanation | null
}

/** Reads and simulates an unsigned transaction; `reported` is what the API says of its guards. */
export async function simulateBuild(
  session: Session,
  transaction: string,
  signer: string,
  reported?: ShownGuards['reported'],
): Promise<SimulatedBuild> {
  const content = await session.wallet.decode(transaction)
  const { guardsIn } = await import('./guards.ts')
  const { data: simulation } = await session.client.transactions.simulate({ transaction })
  const cluster = await session.cluster()
  const { guards } = guardsIn(content)
  const fault = await simulationFault(session, transaction, simulation)
  return { cluster, signer, content, simulation, fault, guards, reported }
}

/** Explains a failed simulation; null if it succeeded. */
async function simulationFault(
  { wallet }: Session,
  transaction: string,
  { err, logs }: Simulation,
): Promise<Explanation | null> {
  return err === null || err === undefined ? null : wallet.explain(transaction, err, logs)
}

/** Texts with which programs and the runtime report a lack of SOL. */
const LACKS_SOL = /AccountNotFound|InsufficientFunds|insufficient (lamports|funds)/

/** The failure of a run whose simulation failed: nothing was signed. */
export function wouldFail({ cluster, signer, simulation }: SimulatedBuild, fault: Explanation) {
  const { err, logs } = simulation
  const lacksSol = LACKS_SOL.test(`${JSON.stringify(err)} ${logs.join(' ')}`)
  const money = cluster === 'embedded' ? `\`svc localnet airdrop ${signer} 10\`` : `send SOL to ${signer}`
  return new Problem(
    lacksSol ? 'bad_request' : 'internal_error',
    `it would fail, so nothing was sent: ${sentenceOf(fault)}`,
    {
      next: lacksSol ? `give the signer SOL: ${money}` : (fault.hint ?? '--dry-run shows the simulation again'),
      details: { err, logs: logs.slice(-20) },
    },
  )
}

/** The failure of a transaction that failed on chain or expired; its error can only be explained with its bytes. */
export async function transactionFailure(
  { wallet }: Session,
  transaction: string | undefined,
  { signature, err }: Pick<Transaction, 'signature' | 'err'>,
) {
  const fault = transaction === undefined ? null : await wallet.explain(transaction, err, null)
  return failure(`${signature} failed: ${fault === null ? JSON.stringify(err) : sentenceOf(fault)}`, {
    next: fault?.hint ?? `\`svc tx get ${signature}\` shows its error`,
    details: { signature, err },
  })
}

const sentenceOf = ({ program, message }: Explanation) => (program === null ? message : `${program}: ${message}`)
