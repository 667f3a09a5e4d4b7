/** The same routes in a command's own process, for when no daemon runs. */
import type { Config } from '../src/config.ts'
import { createApp } from './app.ts'
import { openServices, operatorKey } from './services.ts'

export interface Local {
  fetch(request: Request): Promise<Response>
  bearer: string
  close(): Promise<void>
}

export async function openLocal(config: Config): Promise<Local> {
  // Whoever types the command is told the cause: no stranger reads this answer, and there is no log to look into.
  const services = await openServices({ ...config, production: false })
  try {
    const bearer = await operatorKey(services)
    const app = await createApp(services)
    return {
      fetch: app.fetch,
      bearer,
      async close() {
        await app.close()
        await services.close()
      },
    }
  } catch (error) {
    await services.close()
    throw error
  }
}
