/** Runs the daemon's routes inside a command's own process when no daemon is running. */
import type { ClientRequest, Response, Transport } from '../src/client.ts'
import type { Config } from '../src/settings/config.ts'
import { type App, createAppOn } from './app.ts'
import { createKernel } from './create-kernel.ts'
import { collectionOf, mountCollection } from './routes/index.ts'
import { openServices, operatorKey } from './services.ts'

export interface Local {
  /** Answers with the key in the request's headers. */
  send: Transport
  bearer: string
  close(): Promise<void>
}

export async function openLocal(config: Config): Promise<Local> {
  // Not in production mode: the answer goes to the user who typed the command, and no log has the cause.
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
      send: async (request) => answerOf(await appOf(collectionOf(request.path)), request),
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

async function answerOf(app: App, { method, path, headers, body }: ClientRequest): Promise<Response> {
  const init = { method, headers, ...(body === undefined ? {} : { body: body as string }) }
  const answer = await app.fetch(new Request(`http://127.0.0.1${path}`, init))
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
}
