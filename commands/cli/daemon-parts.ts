/** Declares the parts of the daemon that commands run in their own process; `bin/` supplies them. */
import type { DaemonRole } from '../../src/api/daemon-roles.ts'
import type { Transport } from '../../src/client.ts'
import type { Config } from '../../src/settings/config.ts'

interface LocalRoutes {
  /** Answers a request, which has the key in its headers. */
  send: Transport
  /** The key of the local operator. */
  bearer: string
  close(): Promise<void>
}

export interface ServedChain {
  rpcUrl: string
  wsUrl: string
  /** Messages about differences from the settings, such as another port. */
  notes: readonly string[]
}

export interface DaemonParts {
  /** Opens the routes of the API in this process. */
  openLocal(config: Config): Promise<LocalRoutes>
  /** Starts the daemon and resolves when it listens; `load` reads the settings again at SIGHUP. */
  serve(
    config: Config,
    load: () => Promise<Config>,
  ): Promise<{
    url: string
    role: DaemonRole
    cluster: string
    localnet: ServedChain | undefined
    closed: Promise<void>
  }>
  /** Serves only the embedded chain, until a signal arrives. */
  serveLocalnet(config: Config): Promise<ServedChain & { closed: Promise<void> }>
}
