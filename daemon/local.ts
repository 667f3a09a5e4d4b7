/** Runs the daemon's routes inside a command's own process when no daemon is running. */
import type { ClientRequest, ClientResponse, Transport } from '../src/client.ts'
import { lookingFirst } from '../src/operations/programs/look-first.ts'
import type { Config } from '../src/settings/config.ts'
import { type App, createAppOn } from './app.ts'
import { createKernel } from './create-kernel.ts'
import { mountBelow, pathHead } from './routes/index.ts'
import { type OpenServices, openServices, operatorKey } from './services.ts'

interface Local {
  /** Answers with the key in the request's headers. */
  send: Transport
  bearer: string
  close(): Promise<void>
}

/** `change` may replace services before the routes are made. */
export async function openLocal(
  config: Config,
  change: (opened: OpenServices) => OpenServices = (opened) => opened,
): Promise<Local> {
  // Not in production mode: the answer goes to the user who typed the command, and no log has the cause.
  const opened = change(await openServices({ ...config, production: false }))
  const services = { ...opened, programs: lookingFirst(opened) }
  try {
    const bearer = await operatorKey(services)
    const kernel = await createKernel(services)
    const apps = new Map<string, Promise<App>>()
    const appOf = (head: string) => {
      const made = apps.get(head) ?? createAppOn(kernel, (mount) => mountBelow(mount, head))
      apps.set(head, made)
      return made
    }
    return {
      send: async (request) => callApp(await appOf(pathHead(request.path)), request),
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

async function callApp(app: App, { method, path, headers, body }: ClientRequest): Promise<ClientResponse> {
  const init = { method, headers, ...(body === undefined ? {} : { body: body as string }) }
  const answer = await app.fetch(new Request(`http://127.0.0.1${path}`, init))
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
}
