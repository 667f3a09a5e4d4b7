/** Builds the account that holds a launch's curve and who receives its fees: the program's config. */
import { createHash } from 'node:crypto'
import type { AccountMeta, TransactionInstruction } from '@solana/web3.js'
import { internal } from '../../../platform/errors.ts'
import { freshKey } from '../../../solana/signatures.ts'
import { type ExplainedError, explainTransactionError } from '../../errors/index.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { type Dbc, openDbc } from './program.ts'
import type { LaunchCurve } from './types.ts'

/** The whole content of a config account. */
export interface ConfigContent {
  /** Address of the partner, which may claim the fees. */
  feeClaimer: string
  /** Address that receives the remainder of the supply, left by rounding, after the migration. */
  leftoverReceiver: string
  curve: LaunchCurve
}

/** Names the badge of a launch's quote, as the program reads it: after the accounts of the instruction. */
export const badgeAccounts = ({ key }: Dbc, tokenBadge: string | null | undefined): AccountMeta[] =>
  tokenBadge ? [{ pubkey: key(tokenBadge), isSigner: false, isWritable: false }] : []

interface NewConfig extends ConfigContent {
  /** Address of a fresh key, which signs too. */
  config: string
  payer: string
  /** Address of the badge of the curve's quote, if it needs one. */
  tokenBadge?: string | null | undefined
}

export async function configInstruction(content: NewConfig): Promise<TransactionInstruction> {
  const dbc = await openDbc()
  const { methods, key, systemProgram, events } = dbc
  return methods
    .createConfig(content.curve.parameters)
    .accountsStrict({
      config: key(content.config),
      feeClaimer: key(content.feeClaimer),
      leftoverReceiver: key(content.leftoverReceiver),
      quoteMint: key(content.curve.quoteMint),
      payer: key(content.payer),
      systemProgram,
      ...events,
    })
    .remainingAccounts(badgeAccounts(dbc, content.tokenBadge))
    .instruction()
}

/** Builds the creation of only a config, for several launches. Its compute limit is `DBC_LAUNCH_UNITS.config`. */
export async function buildConfig(input: Envelope & Omit<NewConfig, 'payer'>): Promise<UnsignedTransaction> {
  return compileUnsigned(input, [await configInstruction(input)])
}

/** Returns the SHA-256 in hex of everything that creates an account with this content. */
export async function configContentHash(content: ConfigContent): Promise<string> {
  const { feeClaimer, leftoverReceiver } = content
  // Address and payer are not part of the account's content, so any will do.
  const { data, keys } = await configInstruction({ ...content, config: feeClaimer, payer: leftoverReceiver })
  const hash = createHash('sha256').update(data)
  const [, ...receiversAndQuote] = keys.slice(0, CONTENT_KEYS_END)
  for (const { pubkey } of receiversAndQuote) hash.update(pubkey.toBytes())
  return hash.digest('hex')
}

/** The instruction's accounts begin with the config, fee claimer, leftover receiver and the quote's mint. */
const CONTENT_KEYS_END = 4

/** The parts of the answer of `simulateTransaction` that are used. */
interface ConfigRun {
  value?: { err?: unknown; logs?: string[] | null }
}

/**
 * Tries the config of a preset at the node, if the program cannot be run here. Returns why the node's run of createConfig failed, or null when it did not. `payer` must be a wallet with SOL. Throws
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
