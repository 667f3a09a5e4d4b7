/** The parts of the daemon that commands run in their own process; `bin/` supplies them. */
import type { DaemonRole } from '../../src/api/daemon-roles.ts'
import type { Transport } from '../../src/client.ts'
import type { Config } from '../../src/settings/config.ts'

export interface LocalRoutes {
  /** Answers with the key in the request's headers. */
  send: Transport
  /** The local operator's key. */
  bearer: string
  close(): Promise<void>
}

export interface ServedChain {
  rpcUrl: string
  wsUrl: string
  /** Messages about what differs from the settings, such as another port. */
  notes: readonly string[]
}

export interface DaemonParts {
  /** Opens the routes of the API in this process. */
  openLocal(config: Config): Promise<LocalRoutes>
  /** Starts the daemon and resolves when it listens; `load` reads the settings anew at SIGHUP. */
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
  /** Serves the embedded chain alone, until a signal arrives. */
  serveLocalnet(config: Config): Promise<ServedChain & { closed: Promise<void> }>
}
