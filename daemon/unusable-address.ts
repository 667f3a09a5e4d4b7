/** Explains why the daemon cannot listen on an address, and names the setting that chooses another. */
import { internal } from '../src/platform/errors.ts'

type HostSetting = 'host' | 'rpc-host'

const WHY: Record<string, (host: HostSetting) => string> = {
  EADDRNOTAVAIL: (host) => `this machine does not have that address; choose another with --${host}`,
  ENOTFOUND: (host) => `this host does not exist; choose another with --${host}`,
  EAI_AGAIN: (host) => `that name cannot be resolved; choose an address with --${host}`,
  EACCES: (host) => `ports below 1024 need privileges; choose another with --${host === 'host' ? 'port' : 'rpc-port'}`,
}

/**
 * An internal_error for an unusable host or port, with what to change; any other error is returned unchanged.
 */
export function unusableAddress(error: NodeJS.ErrnoException, host: string, setting: HostSetting): Error {
  const why = WHY[error.code ?? '']
  return why === undefined ? error : internal(`cannot listen on ${host}: ${why(setting)}`, { cause: error })
}
