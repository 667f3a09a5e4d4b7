/** `mount(route, operation)` connects an endpoint of the contract to the operation that carries it out. */
import type { Hono, Handler as HonoHandler } from 'hono'
import type { AnyRoute, Input, Result } from '../src/api/route.ts'
import type { Context } from '../src/context.ts'
import type { Kernel } from './kernel.ts'
import { answerAsResponse } from './pipeline/answer.ts'
import { answerRequest, askedBy, type Handler, type Operation, type Prepare } from './pipeline/pipeline.ts'
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
   * Mounts a read whose operation needs nothing but stored records: its answers are given again until the database
   * changes.
   */
  stored<R extends AnyRoute>(
    route: R,
    operation: (context: Pick<Context, 'store'>, input: Input<R>) => Promise<Result<R>>,
  ): void
  /** The methods mounted at a path, which the message of a 404 lists. */
  methodsOf(path: string): string[]
  /** What is mounted under a handler of hono's router; undefined for a handler that is not a route of the contract. */
  mountedAs(handler: object): Handler | undefined
}

export function mountOn(hono: Hono<RequestEnv>, kernel: Kernel): Mount {
  const mounted: { method: string; pattern: RegExp }[] = []
  const handlers = new WeakMap<object, Handler>()
  const add = (handler: Handler) => {
    const { route } = handler
    const method = route.method.toUpperCase()
    const answer: HonoHandler<RequestEnv> = async (c) =>
      answerAsResponse(await answerRequest(kernel, handler, askedBy(route, c.req.raw, c.req.param()), c.env))
    handlers.set(answer, handler)
    hono.on(method, route.path.replace(/\{(\w+)\}/g, ':$1'), answer)
    mounted.push({ method, pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`) })
  }
  const mount = (route: AnyRoute, operation: Handler['operation'], prepare?: Prepare<unknown>) =>
    add({ route, operation, ...(prepare ? { prepare } : {}) })
  mount.stored = (route: AnyRoute, operation: Handler['operation']) => add({ route, operation, stored: true })
  mount.methodsOf = (path: string) => mounted.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  mount.mountedAs = (handler: object) => handlers.get(handler)
  return mount as Mount
}
