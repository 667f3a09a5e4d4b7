/** The context of an operation: the kernel's services, the caller, and the one commit that the operation may make. */
import type { AnswerMeta } from '../../src/client.ts'
import type { Context, Services, SigningLink } from '../../src/context.ts'
import type { Tx } from '../../src/store/store.ts'
import type { KnownKey } from '../kernel.ts'

/** The signing of a request without an Idempotency-Key: a repeated request gets another signature. */
export const UNLINKED: SigningLink = { earlier: null, async bind() {}, unbind: async () => true }

/** Builds the context; `write` runs the work of the operation's commit in one database transaction. */
export function makeContext(
  kernel: Services,
  key: KnownKey | undefined,
  meta: AnswerMeta,
  signing: SigningLink,
  write: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
): Context {
  let committed = false
  // Fields are copied one by one, because copying the whole kernel costs more than the rest of a quick request.
  const {
    config,
    store,
    vault,
    clock,
    log,
    ending,
    stopping,
    workers,
    role,
    wake,
    trees,
    chain,
    programs,
    signer,
    storage,
    repeat,
  } = kernel
  const context: Context = {
    config,
    store,
    vault,
    clock,
    log,
    ending,
    stopping,
    workers,
    role,
    wake,
    trees,
    chain,
    programs,
    signer,
    storage,
    repeat,
    actor: { apiKeyId: key?.id ?? '', scopes: key ? JSON.parse(key.scopes_json) : [] },
    requestId: meta.request_id,
    externalUid: meta.external_uid,
    metadata: meta.metadata,
    signing,
    txVersion: 0,
    guard: 'when_it_fits',
    force: false,
    dryRun: false,
    status: undefined,
    commit(work) {
      if (committed) throw new Error('an operation commits at most once')
      committed = true
      const { status } = context
      return write((tx) => {
        // The work may run again and must then find the context unchanged.
        context.status = status
        return work(tx)
      })
    },
  }
  if (kernel.resolve !== undefined) context.resolve = kernel.resolve
  return context
}
