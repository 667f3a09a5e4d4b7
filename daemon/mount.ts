/** `mount(route, operation)` connects an endpoint of the contract to the operation that carries it out. */
import type { Hono } from 'hono'
import type { AnyRoute } from '../src/api/route.ts'
import type { Operation } from '../src/operations/registry.ts'
import type { Kernel } from './kernel.ts'
import type { Handler } from './pipeline/handler.ts'
import { answerRequest } from './pipeline/pipeline.ts'
import type { RequestEnv } from './pipeline/request-record.ts'

export interface Mount {
  <R extends AnyRoute>(route: R, operation: Operation<R>, how?: Pick<Handler, 'stored' | 'prepare'>): void
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
  const mount = (route: AnyRoute, operation: Handler['operation'], how: Pick<Handler, 'stored' | 'prepare'> = {}) =>
    add({ route, operation, ...how })
  mount.methodsOf = (path: string) => mounted.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  return mount as Mount
}
