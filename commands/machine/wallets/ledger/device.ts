/** Finds the Ledger that a locator names, and lets one request at a time talk to its Solana app. */
import { base58 } from '@scure/base'
import { ApiError } from '../../../../src/platform/errors.ts'
import { terminal } from '../../../cli/terminal.ts'
import { type Problem, type ProblemExtras, usage } from '../../../ui/problem.ts'
import { type LedgerDevices, LedgerProblem, type LedgerTransport } from '../../../wallet/ledger-devices.ts'
import { derivationPath, type LedgerLocator } from '../../../wallet/ledger-locator.ts'
import { firstLine, isUnloadable, loadSolanaApp, type SolanaApp, unloadable, usbDevices } from './packages.ts'

// Says what state a Ledger is in when it does not answer as asked, and what to do about it.

/** What was asked of the device; it decides what a refusal means. */
type Asked = 'address' | 'transaction' | 'transaction of version 1' | 'text'

const OPEN_THE_APP = 'open the Solana app on it, and run the command again'
const AGAIN = 'run the command again'

/** Status words of the device and of its Solana app. */
const REJECTED = [0x6985, 0x5501]
const LOCKED = [0x5515, 0x6b0c, 0x6982, 0x5303]
/** The dashboard or another app answers so; the Solana app does for an instruction that it does not know. */
const NOT_THE_APP = [0x6e00, 0x6e01, 0x6d02, 0x6511, 0x6a15]
const UNKNOWN_INSTRUCTION = 0x6d00
const BLIND_SIGNING_IS_OFF = 0x6808
const INVALID_MESSAGES = [0x6a80, 0x6a81, 0x6a82]
const TOO_LARGE = [0x6a83, 0x6700]

const failure = (message: string, extras?: ProblemExtras) => new LedgerProblem('internal_error', message, extras)

/** The fault as a problem; a problem of svc itself is returned as it is. */
function ledgerFault(error: unknown, asked: Asked): unknown {
  if (error instanceof ApiError || !(error instanceof Error)) return error
  const { statusCode } = error as { statusCode?: unknown }
  if (typeof statusCode === 'number') return statusFault(statusCode, asked)
  // The package of the app has no code for this one.
  if (/blind sign/i.test(error.message)) return statusFault(BLIND_SIGNING_IS_OFF, asked)
  return isUnloadable(error) ? unloadable(error) : connectionFault(error)
}

function statusFault(status: number, asked: Asked): Problem {
  const subject = asked === 'address' ? 'address' : asked === 'text' ? 'text' : 'transaction'
  const unsigned = asked === 'address' ? '' : `; the ${subject} was not signed`
  if (REJECTED.includes(status)) return failure(`the ${subject} was rejected on the Ledger${unsigned}`)
  if (LOCKED.includes(status))
    return failure(`the Ledger is locked${unsigned}`, { next: `unlock it with its PIN, ${OPEN_THE_APP}` })
  if (NOT_THE_APP.includes(status) || (status === UNKNOWN_INSTRUCTION && asked === 'address'))
    return failure(`the Solana app is not open on the Ledger${unsigned}`, { next: OPEN_THE_APP })
  if (status === BLIND_SIGNING_IS_OFF)
    return failure(`the Solana app cannot show this ${subject}, and blind signing is off${unsigned}`, {
      next: 'allow blind signing in the settings of the Solana app; svc prints the hash that the device then shows',
    })
  if (asked === 'transaction of version 1' && [...INVALID_MESSAGES, ...TOO_LARGE, UNKNOWN_INSTRUCTION].includes(status))
    return usage(`the Solana app on the Ledger does not sign transactions of version 1${unsigned}`, {
      param: '--tx-version',
      next: 'use --tx-version 0, or update the app',
    })
  if (status === UNKNOWN_INSTRUCTION)
    return failure(`the Solana app on the Ledger is too old to sign a ${subject}${unsigned}`, {
      next: 'update the Solana app in Ledger Live',
    })
  if (TOO_LARGE.includes(status)) return failure(`the ${subject} is too large for the Ledger${unsigned}`)
  const code = `0x${status.toString(16).padStart(4, '0')}`
  if (INVALID_MESSAGES.includes(status))
    return failure(`the Solana app on the Ledger does not understand this ${subject} (${code})${unsigned}`, {
      next: 'update the Solana app in Ledger Live',
    })
  return failure(`the Ledger answered with the status ${code}${unsigned}`, {
    next: `close the app and open it again; ${AGAIN}`,
  })
}

/** Faults of the USB connection have a name, or only the message of the operating system. */
function connectionFault(error: Error): Problem {
  const { name, message } = error
  const { id } = error as { id?: unknown }
  if (/^DisconnectedDevice/.test(name) || id === 'DisconnectedDevice')
    return failure('the Ledger was disconnected before it answered', {
      next: `plug it in, ${OPEN_THE_APP}`,
      cause: error,
    })
  if (name === 'TransportRaceCondition' || id === 'TransportLocked' || /invalid (channel|tag|sequence)/i.test(message))
    return failure('the Ledger is busy with another request', {
      next: `answer or reject what it shows, close other programs that use it, and ${AGAIN}`,
      cause: error,
    })
  if (/cannot open device|unable to open|could not open/i.test(message))
    return failure('the Ledger cannot be opened', {
      next: "close other programs that use it, such as Ledger Live; on Linux, Ledger's udev rules must allow this user",
      cause: error,
    })
  return failure(`the Ledger did not answer: ${firstLine(message)}`, {
    next: `plug it in again, ${OPEN_THE_APP}`,
    cause: error,
  })
}

const noLedger = () =>
  failure('no Ledger is connected', {
    next: `plug it in, unlock it, ${OPEN_THE_APP}; on Linux, Ledger's udev rules must allow this user`,
  })

/** `keys` are the public keys at 44'/501' of the devices that answered. */
const severalLedgers = (count: number, keys: readonly string[]) =>
  usage(`${count} Ledgers are connected`, {
    param: '--keypair',
    next:
      keys.length === 0
        ? 'unplug the others, or name one: usb://ledger/PUBKEY'
        : `unplug the others, or name one: ${keys.map((key) => `usb://ledger/${key}`).join(' or ')}`,
  })

const anotherLedger = (expected: string, found: string) =>
  failure(`this is another Ledger, or another of its keys: ${expected} was named, and it has ${found}`, {
    next: 'connect the one with that key, or correct the key and the path in -k',
  })

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
type WantedKey = LedgerLocator & { address?: string | undefined }

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
