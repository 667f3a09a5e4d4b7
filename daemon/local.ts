/** Runs the daemon's routes inside a command's own process when no daemon is running. */
import type { Config } from '../src/config.ts'
import { createApp } from './app.ts'
import { openServices, operatorKey } from './services.ts'

export interface Local {
  fetch(request: Request): Promise<Response>
  bearer: string
  close(): Promise<void>
}

export async function openLocal(config: Config): Promise<Local> {
  // Not in production mode: the answer goes to the person who typed the command, and there is no log with the cause.
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
