/** Finds the Ledger that a locator names, and lets one request at a time talk to its Solana app. */
import { base58 } from '@scure/base'
import { terminal } from '../../../cli/terminal.ts'
import type { LedgerDevices, LedgerTransport } from '../../../wallet/ledger-devices.ts'
import { derivationPath, type LedgerLocator } from '../../../wallet/ledger-locator.ts'
import { type Asked, anotherLedger, ledgerFault, noLedger, severalLedgers } from './faults.ts'
import { loadSolanaApp, type SolanaApp, usbDevices } from './packages.ts'

/** The most devices that are asked for their keys. */
const MOST_DEVICES = 8
const KEY_BYTES = 32
/** The public key at this path names a device, as for the Solana command line. */
const PATH_OF_DEVICE = derivationPath([])

/** What a locator led to: the open app, and the address and path of the key. */
export interface LedgerKey {
  app: SolanaApp
  transport: LedgerTransport
  address: string
  path: string
}
/** A locator, and the address of its key if that is known already. */
export type WantedKey = LedgerLocator & { address?: string | undefined }

let turns: Promise<unknown> = Promise.resolve()

/**
 * Calls `work` with the key that is wanted, and closes the device afterwards. Throws a problem for each state of the
 * device.
 */
export function onLedger<T>(wanted: WantedKey, asked: Asked, work: (key: LedgerKey) => Promise<T>): Promise<T> {
  const devices = terminal().ledgers ?? usbDevices()
  const machine = { devices, appOf: loadSolanaApp() }
  // A device answers one request at a time, so the next one waits, whatever becomes of this one.
  const turn = turns.then(() => endingAtOnce(() => withKey(machine, wanted, asked, work)))
  turns = turn.catch(() => undefined)
  return turn
}

interface Machine {
  devices: LedgerDevices
  appOf: ReturnType<typeof loadSolanaApp>
}

async function withKey<T>(
  machine: Machine,
  wanted: WantedKey,
  asked: Asked,
  work: (key: LedgerKey) => Promise<T>,
): Promise<T> {
  const found = [...(await asProblem('address', () => machine.devices.list()))].slice(0, MOST_DEVICES)
  if (found.length === 0) throw noLedger()
  if (found.length > 1 && wanted.device === undefined && wanted.address === undefined) {
    const keys = await Promise.allSettled(
      found.map((one) => withApp(machine, one, (app) => keyAt(app, PATH_OF_DEVICE))),
    )
    throw severalLedgers(
      found.length,
      keys.flatMap((key) => (key.status === 'fulfilled' ? [key.value] : [])),
    )
  }
  const path = derivationPath(wanted.key)
  let fault: unknown
  for (const descriptor of found) {
    const worked = await withApp(machine, descriptor, async (app, transport) => {
      const address = await asProblem('address', () => keyAt(app, path)).catch((error: unknown) => {
        // With several devices, a locked one may be another than the wanted one.
        fault = error
      })
      if (address === undefined) return undefined
      if (!(await isWanted(wanted, address, app))) {
        fault ??= anotherLedger(wanted.address ?? wanted.device ?? '', address)
        return undefined
      }
      return { result: await asProblem(asked, () => work({ app, transport, address, path })) }
    })
    if (worked !== undefined) return worked.result
  }
  throw fault
}

async function isWanted({ address: known, device }: WantedKey, address: string, app: SolanaApp): Promise<boolean> {
  if (known !== undefined) return known === address
  return (
    device === undefined ||
    device === address ||
    device === (await asProblem('address', () => keyAt(app, PATH_OF_DEVICE)))
  )
}

/** The device is open only meanwhile, so that it can be unplugged, or used by another program, between two requests. */
async function withApp<T>(
  { devices, appOf }: Machine,
  descriptor: unknown,
  work: (app: SolanaApp, transport: LedgerTransport) => Promise<T>,
): Promise<T> {
  const transport = await asProblem('address', () => devices.open(descriptor))
  try {
    return await work(appOf(transport), transport)
  } finally {
    await transport.close().catch(() => undefined)
  }
}

async function keyAt(app: SolanaApp, path: string): Promise<string> {
  const { address } = await app.getAddress(path)
  if (address.length !== KEY_BYTES)
    throw new Error(`its public key has ${address.length} bytes instead of ${KEY_BYTES}`)
  return base58.encode(Uint8Array.from(address))
}

/** Ledger's packages throw, or return a promise that rejects. */
async function asProblem<T>(asked: Asked, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw ledgerFault(error, asked)
  }
}

const SIGNALS: Readonly<Record<number, NodeJS.Signals>> = { 129: 'SIGHUP', 130: 'SIGINT', 143: 'SIGTERM' }

/**
 * While a device is asked, a thread reads from its port, and `process.exit` would wait for that thread for as long as
 * the person takes. Ctrl-C therefore ends the process by the signal itself.
 */
async function endingAtOnce<T>(work: () => Promise<T>): Promise<T> {
  const end = (code: number) => {
    const signal = SIGNALS[code] ?? 'SIGKILL'
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  }
  process.once('exit', end)
  try {
    return await work()
  } finally {
    process.removeListener('exit', end)
  }
}
