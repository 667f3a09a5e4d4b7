/** Mounts every route of the contract, only the routes below one path, or those of a daemon with the role `worker`. */
import { paths } from '../../src/api/paths.ts'
import type { RoutePath } from '../../src/api/route.ts'
import { type Noun, REGISTRY } from '../../src/operations/registry.ts'
import type { Mount } from '../mount.ts'
import type { Prepare } from '../pipeline/handler.ts'

const NOUNS = Object.keys(REGISTRY) as Noun[]

/** Mounts the routes of every noun. */
export const mountRoutes = (mount: Mount): Promise<void> => mountNouns(mount, NOUNS)

/** The routes of a daemon with the role `worker`. */
export async function workerRoutes(mount: Mount): Promise<void> {
  for (const { verb, route, operation } of await REGISTRY.service()) {
    if (verb === 'health' || verb === 'workers') mount(route, operation)
  }
}

/** The first segment of a path below /v2: `pools` for `/v2/pools/{address}/swaps`. */
export const pathHead = (path: string): string => path.split(/[/?]/)[2] ?? ''

/** Mounts only nouns with a route below `/v2/HEAD`, so a command without a daemon loads no other. */
export const mountBelow = (mount: Mount, head: string): Promise<void> =>
  mountNouns(
    mount,
    NOUNS.filter((noun) => (Object.values(paths[noun]) as RoutePath[]).some(([, path]) => pathHead(path) === head)),
  )

async function mountNouns(mount: Mount, nouns: readonly Noun[]): Promise<void> {
  const all = await Promise.all(nouns.map(async (noun) => [noun, await REGISTRY[noun]()] as const))
  for (const [noun, verbs] of all) {
    const trees = noun === 'merkleTrees' ? await import('./merkle-trees.ts') : null
    const prepares = await preparesOf(noun)
    for (const { verb, route, operation, isStored } of verbs) {
      const prepare = prepares[verb]
      const how = prepare === undefined ? {} : { prepare }
      mount(route, operation, isStored ? { stored: true } : how)
    }
    trees?.mountWithoutWallet(mount)
  }
}

/** Verbs whose bodies a worker thread parses. */
// biome-ignore lint/suspicious/noExplicitAny: each is checked against its operation where it is written
async function preparesOf(noun: Noun): Promise<Record<string, Prepare<any>>> {
  if (noun === 'merkleTrees') return { create: (await import('./merkle-trees.ts')).prepareTree }
  if (noun === 'raises') return { storeAllowlist: (await import('./raise-proofs.ts')).prepareAllowlist }
  return {}
}
