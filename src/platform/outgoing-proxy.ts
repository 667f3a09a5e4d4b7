/** The HTTP proxy that the environment names, and its use by every `fetch` of the process. */

/** What is on this machine is reached without it, the embedded chain and a node beside the daemon among them. */
const OWN_HOSTS = 'localhost,127.0.0.1,[::1]'
const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const

/**
 * The HTTP proxy of the environment, for requests to nodes, relay, providers and object storage; never for webhook
 * receivers: the options of undici's EnvHttpProxyAgent, which reads the variables itself, or null without a proxy.
 */
export function outgoingProxy(env: NodeJS.ProcessEnv): { noProxy: string; variables: string[] } | null {
  const variables = VARIABLES.filter((name) => env[name])
  if (variables.length === 0) return null
  const others = env.no_proxy || env.NO_PROXY
  return { noProxy: others ? `${others},${OWN_HOSTS}` : OWN_HOSTS, variables }
}

/** Has every `fetch` of this process go through the proxy of its environment, if there is one. */
export async function useOutgoingProxy(env: NodeJS.ProcessEnv): Promise<void> {
  const proxy = outgoingProxy(env)
  if (proxy === null) return
  const { EnvHttpProxyAgent, setGlobalDispatcher } = await import('undici')
  setGlobalDispatcher(new EnvHttpProxyAgent({ noProxy: proxy.noProxy }))
}
