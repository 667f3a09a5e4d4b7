/** Tests the signer's provider with a text that is not a transaction, or with a submitted memo. */
import { hash, randomBytes } from 'node:crypto'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildMemo } from '../../chain/programs/memos.ts'
import type { Context } from '../../context.ts'
import { buildTransaction, signingDraft } from '../building.ts'
import { audit } from '../signing/audit.ts'
import { asApiError, requireSigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'

type TestSignerRoute = Api['signer']['test']

/** The prefix of Solana's off-chain message signing. No transaction message starts with it. */
const OFF_CHAIN_PREFIX = '\xffsolana offchain'

/**
 * The text is signed without the policy, because it cannot move anything. A memo is signed like any other transaction.
 * Throws internal_error when the provider fails.
 */
export async function testSigner(
  context: Context,
  { submit, memo }: Input<TestSignerRoute>,
): Promise<Result<TestSignerRoute>> {
  const { provider, address, sign } = await requireSigner(context)
  if (submit) return submitMemo(context, memo, { provider, address })
  const text = Buffer.concat([
    Buffer.from(OFF_CHAIN_PREFIX, 'latin1'),
    Buffer.from('svc signer test '),
    randomBytes(16),
  ])
  const started = performance.now()
  await sign(text).catch((error: unknown) => {
    throw asApiError(error, context.log)
  })
  const duration_ms = Math.round(performance.now() - started)
  return context.commit(async (tx) => {
    await audit(context, tx, 'signer.tested', address, { text_sha256: hash('sha256', text, 'hex') })
    return { provider, address, duration_ms, signature: null }
  })
}

async function submitMemo(
  context: Context,
  memo: string,
  signer: Pick<Result<TestSignerRoute>, 'provider' | 'address'>,
): Promise<Result<TestSignerRoute>> {
  const run = await openSigningRun<null>(context, 'signer.test')
  const plan = run.resumed ?? (await planMemo(context, memo, run.wallet))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({ ...signer, duration_ms: null, signature }),
  })
}

async function planMemo(context: Context, memo: string, payer: string): Promise<NewSigningPlan<null>> {
  const built = await buildTransaction(context, {
    payer,
    // One and a half times the measured cost of the longest memo.
    fallbackUnits: 150_000,
    build: (envelope) => buildMemo({ ...envelope, memo }),
  })
  return { first: signingDraft(built), state: null }
}
