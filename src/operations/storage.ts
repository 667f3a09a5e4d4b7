/** Lets an owner upload to the storage with a short-lived key. */
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import type { Context } from '../context.ts'
import { delegateUploads } from '../storage/delegation.ts'

type Routes = Api['storage']

/** Delegates uploads of images and metadata to the storage space, for at most a day. */
export async function delegateStorage(
  { config, clock }: Context,
  { agent_did }: Input<Routes['delegate']>,
): Promise<Result<Routes['delegate']>> {
  const { car, expiresAt } = await delegateUploads(config, agent_did, clock.now())
  return { delegation: Buffer.from(car).toString('base64'), expires_at: new Date(expiresAt).toISOString() }
}
