/** A server whose requests are answered on their connections, or all by hono, and the number of the former. */
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type App, createApp } from '../../daemon/app.ts'
import { createHttpServer } from '../../daemon/http-server.ts'
import { createMetrics } from '../../daemon/metrics.ts'
import type { Service } from '../support/service.ts'

export interface DirectListening {
  port: number
  /** How many requests were answered without hono. */
  direct(): number
  /** The lines of the metrics that `isCounted` takes, in one order. */
  counted(isCounted: (line: string) => boolean): string
}

/** Listens until the test ends. */
export async function listenDirectly({ services }: Service, isDirect: boolean): Promise<DirectListening> {
  const metrics = createMetrics()
  const app = await createApp(services, { metrics })
  let direct = 0
  const seen: App = {
    ...app,
    answerDirectly(incoming, outgoing) {
      const isAnswered = isDirect && app.answerDirectly(incoming, outgoing)
      if (isAnswered) direct++
      return isAnswered
    },
  }
  const server = createHttpServer(seen, services.config)
  onTestFinished(async () => {
    server.close()
    await app.close()
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  return {
    port: (server.address() as AddressInfo).port,
    direct: () => direct,
    counted: (isCounted) => metrics.http.text().split('\n').filter(isCounted).toSorted().join('\n'),
  }
}
