/** The floor of a build: what the SDK's own call returns, made a transaction by web3.js alone. */
import {
  ComputeBudgetProgram,
  type Connection,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'

/** What becomes one transaction. */
export interface SdkPart {
  payer: PublicKey
  instructions: TransactionInstruction[]
}

/** A build of the product and the SDK's call for the same instructions. */
export interface BuildKind {
  name: string
  /** Which SDK it is; `by hand` where the program has none. */
  sdk: string
  build(): Promise<unknown>
  call(): Promise<SdkPart[]>
  /** Whether the product runs it on trial for its compute limit, which it cannot before what it follows has landed. */
  hasTrial: boolean
}

const MOST_UNITS = 1_400_000

const compiled = ({ payer, instructions }: SdkPart, recentBlockhash: string): VersionedTransaction =>
  new VersionedTransaction(
    new TransactionMessage({ payerKey: payer, recentBlockhash, instructions }).compileToV0Message(),
  )

/** The SDK's call, a blockhash, and the message compiled once: a transaction whose compute limit is the default. */
export async function bareCall(connection: Connection, { call }: BuildKind): Promise<Uint8Array[]> {
  const parts = await call()
  const { blockhash } = await connection.getLatestBlockhash('confirmed')
  return parts.map((part) => compiled(part, blockhash).serialize())
}

/** The same with compute limit and price, for which web3.js asks the node for the fees, and for a trial where there is one. */
export async function budgetedCall(connection: Connection, kind: BuildKind): Promise<Uint8Array[]> {
  const parts = await kind.call()
  const { blockhash } = await connection.getLatestBlockhash('confirmed')
  return Promise.all(parts.map((part) => budgeted(connection, part, blockhash, kind.hasTrial)))
}

async function budgeted(connection: Connection, part: SdkPart, blockhash: string, hasTrial: boolean) {
  const withUnits = (units: number, microLamports: number) => ({
    ...part,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
      ...part.instructions,
    ],
  })
  const trial = compiled(withUnits(MOST_UNITS, 0), blockhash)
  const { staticAccountKeys } = trial.message
  const lockedWritableAccounts = staticAccountKeys.filter((_, i) => trial.message.isAccountWritable(i))
  const [run, fees] = await Promise.all([
    hasTrial ? connection.simulateTransaction(trial, { sigVerify: false, replaceRecentBlockhash: true }) : undefined,
    connection.getRecentPrioritizationFees({ lockedWritableAccounts }),
  ])
  const units = run?.value.unitsConsumed ?? MOST_UNITS
  const price = fees.map(({ prioritizationFee }) => prioritizationFee).sort((a, b) => a - b)[0] ?? 0
  return compiled(withUnits(units, price), blockhash).serialize()
}
