/** Runs the daemon's routes inside a command's own process when no daemon is running. */
import type { ClientRequest, Response, Transport } from '../src/client.ts'
import type { Config } from '../src/settings/config.ts'
import { type App, createAppOn } from './app.ts'
import { createKernel } from './kernel.ts'
import { headersOf } from './pipeline/answer.ts'
import { collectionOf, mountCollection } from './routes/index.ts'
import { openServices, operatorKey } from './services.ts'

export interface Local {
  /** Answers with the key in the request's headers. */
  send: Transport
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

const HOST = '127.0.0.1'

/** Most reads are answered without a Request, because Node takes longer to load its fetch than to answer. */
async function answerOf(app: App, { method, path, headers, body }: ClientRequest): Promise<Response> {
  const rawHeaders = ['host', HOST, ...Object.entries(headers).flat()]
  const answered = await app.read({ method, url: path, rawHeaders })
  if (answered !== undefined) {
    const named = Object.entries(headersOf(answered)).map(([name, value]) => [name.toLowerCase(), value])
    return { status: answered.status, headers: Object.fromEntries(named), body: answered.body }
  }
  const init = { method, headers, ...(body === undefined ? {} : { body: body as string }) }
  const answer = await app.fetch(new Request(`http://${HOST}${path}`, init))
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
}
