/** The HTTP proxy of the environment, which every `fetch` of the process uses. */

/** Hosts on this machine are reached without the proxy, for example the embedded chain and a local node. */
const OWN_HOSTS = 'localhost,127.0.0.1,[::1]'
const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const

/**
 * The options of undici's EnvHttpProxyAgent, which reads the variables itself; null without a proxy. It serves
 * requests to nodes, relay, providers and object storage, but never to webhook receivers.
 */
export function outgoingProxy(env: NodeJS.ProcessEnv): { noProxy: string; variables: string[] } | null {
  const variables = VARIABLES.filter((name) => env[name])
  if (variables.length === 0) return null
  const others = env.no_proxy || env.NO_PROXY
  return { noProxy: others ? `${others},${OWN_HOSTS}` : OWN_HOSTS, variables }
}

/** Makes every `fetch` of this process use the proxy of its environment, if there is one. */
export async function useOutgoingProxy(env: NodeJS.ProcessEnv): Promise<void> {
  const proxy = outgoingProxy(env)
  if (proxy === null) return
  const { EnvHttpProxyAgent, setGlobalDispatcher } = await import('undici')
  setGlobalDispatcher(new EnvHttpProxyAgent({ noProxy: proxy.noProxy }))
}
