/** Reads the signer: its provider, its policy and the spend of the last day. */
import type { Api, SignerState } from '../../api/index.ts'
import type { Result } from '../../api/route.ts'
import type { Signer } from '../../chain/signer/index.ts'
import type { Services } from '../../context.ts'
import type { Reader } from '../../store/store.ts'
import { policyJson, readPolicyState } from '../signing/policy-state.ts'
import { openSigner } from '../signing/require-signer.ts'

type ReadSignerRoute = Api['signer']['get']

export async function readSigner(context: Services): Promise<Result<ReadSignerRoute>> {
  const signer = await openSigner(context)
  const cluster = context.config.values['signer.cluster']
  if (signer === null) return { provider: 'none', address: null, cluster, policy: null, spent: null }
  return readSignerState(context, context.store.db, signer)
}

/** Reads through `reader`, so that the answer to a change includes it. */
export async function readSignerState(
  { clock, config }: Pick<Services, 'clock' | 'config'>,
  reader: Reader,
  { provider, address }: Pick<Signer, 'provider' | 'address'>,
): Promise<SignerState> {
  const { row, policy, spent, since } = await readPolicyState(reader, clock, address)
  return {
    provider,
    address,
    cluster: config.values['signer.cluster'],
    policy: {
      paused: policy.paused,
      paused_reason: row?.paused_reason ?? null,
      ...JSON.parse(policyJson(policy)),
      powers: [...policy.powers],
      updated_at: row === null || row.updated_at === 0 ? null : new Date(row.updated_at).toISOString(),
    },
    spent: {
      since: new Date(since).toISOString(),
      lamports: String(spent.lamports),
      tokens: [...spent.tokens].map(([mint, amount]) => ({ mint, amount: String(amount) })),
    },
  }
}
