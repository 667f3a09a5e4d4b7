/** Tries the config of a preset at the node, if the program cannot be run here. */

import { internal } from '../../../platform/errors.ts'
import { freshKey } from '../../../solana/signatures.ts'
import { type ExplainedError, explainTransactionError } from '../../errors/index.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { buildConfig } from './config.ts'
import type { LaunchCurve } from './types.ts'

/** The parts of the answer of `simulateTransaction` that are used. */
interface ConfigRun {
  value?: { err?: unknown; logs?: string[] | null }
}

/**
 * Returns why the node's run of createConfig failed, or null when it did not. `payer` must be a wallet with SOL. Throws
 * internal_error when the node does not run it.
 */
export async function tryConfigAtNode(
  chain: NodeCalls,
  { curve, tokenBadge, payer }: { curve: LaunchCurve; tokenBadge: string | null; payer: string },
): Promise<ExplainedError | null> {
  const { transaction } = await buildConfig({
    payer,
    recentBlockhash: payer,
    config: freshKey().address,
    feeClaimer: payer,
    leftoverReceiver: payer,
    curve,
    tokenBadge,
  })
  const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' }
  const wire = Buffer.from(transaction).toString('base64')
  const { value } = await chain.call<ConfigRun>('simulateTransaction', [wire, options])
  if (value === undefined || value.err === undefined) throw internal('The RPC node does not answer with a simulation')
  return value.err === null ? null : explainTransactionError(value.err, { logs: value.logs ?? null })
}
