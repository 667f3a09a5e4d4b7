/** Runs the daemon's routes inside a command's own process when no daemon is running. */
import type { Config } from '../src/config.ts'
import { type App, createAppOn } from './app.ts'
import { createKernel } from './kernel.ts'
import { collectionOf, mountCollection } from './routes/index.ts'
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
    const kernel = await createKernel(services)
    const apps = new Map<string, Promise<App>>()
    const appOf = (collection: string) => {
      const made = apps.get(collection) ?? createAppOn(kernel, (mount) => mountCollection(mount, collection))
      apps.set(collection, made)
      return made
    }
    return {
      fetch: async (request) => (await appOf(collectionOf(new URL(request.url).pathname))).fetch(request),
      bearer,
      async close() {
        await kernel.limiter.close()
        await services.close()
      },
    }
  } catch (error) {
    await services.close()
    throw error
  }
}
