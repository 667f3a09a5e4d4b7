/** `mount(route, operation)` connects an endpoint of the contract to the operation that carries it out. */
import type { Hono } from 'hono'
import type { AnyRoute, Input, Result } from '../src/api/route.ts'
import type { Context } from '../src/context.ts'
import type { Kernel } from './kernel.ts'
import type { Handler, Operation, Prepare } from './pipeline/handler.ts'
import { answerRequest } from './pipeline/pipeline.ts'
import type { RequestEnv } from './pipeline/request-record.ts'

export interface Mount {
  <R extends AnyRoute>(route: R, operation: Operation<R>): void
  /** For a `raw` route, `prepare` turns the bytes of the body into the operation's input. */
  <R extends AnyRoute, I>(
    route: R,
    operation: (context: Context, input: I) => Promise<Result<R>>,
    prepare: Prepare<I>,
  ): void
  /**
   * Mounts a read whose operation needs only stored records: its answers are reused until the database changes.
   */
  stored<R extends AnyRoute>(
    route: R,
    operation: (context: Pick<Context, 'store'>, input: Input<R>) => Promise<Result<R>>,
  ): void
  /** The methods mounted at a path, which the message of a 404 lists. */
  methodsOf(path: string): string[]
}

export function mountOn(hono: Hono<RequestEnv>, kernel: Kernel): Mount {
  const mounted: { method: string; pattern: RegExp }[] = []
  const add = (handler: Handler) => {
    const { route } = handler
    const method = route.method.toUpperCase()
    hono.on(method, route.path.replace(/\{(\w+)\}/g, ':$1'), (c) => answerRequest(kernel, handler, c))
    mounted.push({ method, pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`) })
  }
  const mount = (route: AnyRoute, operation: Handler['operation'], prepare?: Prepare<unknown>) =>
    add({ route, operation, ...(prepare ? { prepare } : {}) })
  mount.stored = (route: AnyRoute, operation: Handler['operation']) => add({ route, operation, stored: true })
  mount.methodsOf = (path: string) => mounted.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  return mount as Mount
}
