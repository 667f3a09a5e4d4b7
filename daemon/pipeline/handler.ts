/** What the pipeline gets of a mounted route and of a request. */
import type { AnyRoute } from '../../src/api/route.ts'
import type { Operation } from '../../src/operations/registry.ts'
import type { Kernel } from '../kernel.ts'

/** Replaces body validation for a `raw` route: reads the bytes before the Idempotency-Key is claimed. */
export type Prepare<I> = (kernel: Kernel, raw: Uint8Array<ArrayBuffer>) => Promise<I>

export interface Handler {
  route: AnyRoute
  // biome-ignore lint/suspicious/noExplicitAny: the pair of route and operation is checked where it is mounted
  operation: Operation<any>
  /** Of a `raw` route: turns the bytes of the body into the operation's input. */
  prepare?: Prepare<unknown>
  /** The operation reads only stored records, so its answer is valid until the database changes. */
  stored?: true
}

/** The parts of a request that the pipeline reads. */
export interface AskedRequest {
  /** Version of the database when the request arrived; undefined if neither key nor answer can be remembered. */
  version: number | undefined
  headers: Headers
  /** Path and query. */
  target: string
  params: Record<string, string>
}
