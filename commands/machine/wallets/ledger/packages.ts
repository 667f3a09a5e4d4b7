/** Loads Ledger's own packages, which are installed beside svc by those who sign with a Ledger. */
import { failure, type Problem, usage } from '../../../ui/problem.ts'
import type { LedgerDevices, LedgerTransport } from '../../../wallet/ledger-devices.ts'

/** The versions that svc was tested with. */
const PACKAGES = '@ledgerhq/hw-app-solana@7.11.0 @ledgerhq/hw-transport-node-hid-noevents@6.36.0'
const APP = '@ledgerhq/hw-app-solana'
const TRANSPORT = '@ledgerhq/hw-transport-node-hid-noevents'

/** The Solana app of a device. Paths are texts, and every answer is bytes. */
export interface SolanaApp {
  getAppConfiguration(): Promise<{ version: string }>
  getAddress(path: string): Promise<{ address: Uint8Array }>
  signTransaction(path: string, message: Buffer): Promise<{ signature: Uint8Array }>
  signOffchainMessage(path: string, message: Buffer): Promise<{ signature: Uint8Array }>
}
type SolanaAppClass = new (transport: LedgerTransport) => SolanaApp

/** The devices at the USB ports of this machine. Throws a usage problem without the package. */
export const usbDevices = (): LedgerDevices => loaded<LedgerDevices>(TRANSPORT)

/** Opens the app of a connected device. Throws a usage problem without the package. */
export function loadSolanaApp(): (transport: LedgerTransport) => SolanaApp {
  const App = loaded<SolanaAppClass>(APP)
  return (transport) => new App(transport)
}

/** The default export of a package, by `require`, because their files for `import` do not load in Node.js. */
function loaded<T>(name: string): T {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)
  try {
    return require(name).default
  } catch (error) {
    throw notLoaded(name, error)
  }
}

function notLoaded(name: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  // A missing package is named in the first line; another one that is missing makes it a broken package.
  const isMissing = code === 'MODULE_NOT_FOUND' && firstLine(message).includes(`'${name}'`)
  if (!isMissing) return unloadable(error)
  return usage(`a Ledger needs the package ${name}, which is not installed`, {
    param: '--keypair',
    next: install(),
  })
}

/** Whether the package of the transport has no binary for this machine, which shows when devices are listed. */
export const isUnloadable = ({ code, message }: NodeJS.ErrnoException): boolean =>
  code === 'ERR_DLOPEN_FAILED' ||
  code === 'MODULE_NOT_FOUND' ||
  message.startsWith('Could not locate the bindings file')

export const unloadable = (error: unknown): Problem =>
  failure(`the packages of a Ledger do not load here: ${firstLine((error as Error).message)}`, {
    next: `install them again: \`${install()}\`; if there is no binary for this machine, npm compiles one, which on Linux needs python3, make, a C++ compiler, libusb-1.0-0-dev and libudev-dev`,
    cause: error,
  })

/** At most 160 characters of it. */
export const firstLine = (message: string) => message.split('\n', 1)[0]?.slice(0, 160) ?? ''
const install = () => `npm install ${isInstalled() ? '--global' : '--no-save'} ${PACKAGES}`

/** Whether this is an installed package rather than a clone. */
const isInstalled = () => /[\\/]node_modules[\\/]/.test(import.meta.dirname ?? import.meta.url)
