/** Runs a command inside the test's own process, with streams, an environment and a working folder of its own. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { main } from '../../bin/main.ts'
import type { Host } from '../../commands/cli/open-session.ts'
import type { LedgerDevices } from '../../commands/wallet/ledger-devices.ts'

interface InProcessOptions {
  env: Record<string, string>
  cwd: string
  input: string | Uint8Array
  /** The hardware wallets that are connected; none without it. */
  ledgers?: LedgerDevices | undefined
}

const NO_LEDGERS: LedgerDevices = {
  list: async () => [],
  open: async () => {
    throw new Error('nothing is connected')
  },
}

/** What the command running here has written to the process itself instead of its own streams. */
const strayOutput = new AsyncLocalStorage<string[]>()

/** What the built command's entry keeps from the terminal: a dependency says it once in each process. */
const SILENCED = 'bigint: Failed to load bindings'

/** Notes writes to the process from within a command instead of doing them; gives back what puts it as it was. */
function watchProcess(): () => void {
  const undo: (() => void)[] = []
  const watch = <T extends object>(owner: T, names: readonly (keyof T & string)[], of: string) => {
    for (const name of names) {
      const original = owner[name] as (...args: unknown[]) => unknown
      const watched = (...args: unknown[]) => {
        const stray = strayOutput.getStore()
        if (stray === undefined) return original.apply(owner, args)
        const written = args.filter((arg) => typeof arg !== 'function').join(' ')
        if (!written.startsWith(SILENCED)) stray.push(`${of}.${name}: ${written.trimEnd()}`)
        for (const done of args) if (typeof done === 'function') done()
        return true
      }
      Object.assign(owner, { [name]: watched })
      undo.push(() => void Object.assign(owner, { [name]: original }))
    }
  }
  watch(process.stdout, ['write'], 'process.stdout')
  watch(process.stderr, ['write'], 'process.stderr')
  watch(console, ['debug', 'dir', 'error', 'info', 'log', 'table', 'trace', 'warn'], 'console')
  return () => {
    for (const act of undo) act()
  }
}

/** How many commands run; the first one watches the process and the last one stops. */
let running = 0
let unwatch: () => void = () => undefined

/** Rejects when the command wrote to the process itself: no test would see what it said there. */
async function withoutStrayOutput<T>(argv: readonly string[], run: () => Promise<T>): Promise<T> {
  if (running++ === 0) unwatch = watchProcess()
  const stray: string[] = []
  const result = await strayOutput.run(stray, run).finally(() => {
    if (--running === 0) unwatch()
  })
  if (stray.length > 0) throw new Error(`svc ${argv.join(' ')} wrote to the process: ${stray.join('\n')}`)
  return result
}

/** Resolves as the process would have ended; events of the real process do not reach the command. */
export async function runInProcess(
  argv: readonly string[],
  { env, cwd, input, ledgers = NO_LEDGERS }: InProcessOptions,
) {
  if (argv[0] === 'serve' || (argv[0] === 'localnet' && argv[1] === 'start'))
    throw new Error(`svc ${argv.join(' ')} takes signals and files of a process: give it one of its own`)
  const [stdout, stderr] = [collector(), collector()]
  const events = new EventEmitter()
  let exit: (code: number) => void = () => undefined
  const exited = new Promise<number>((settle) => {
    exit = settle
  })
  const host: Host = Object.assign(events, {
    env,
    cwd: () => cwd,
    stdin: Readable.from(input.length === 0 ? [] : [Buffer.from(input)], { objectMode: false }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    exit,
    ledgers,
  })
  const exitCode = await withoutStrayOutput(argv, () => Promise.race([main(argv, host), exited]))
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

function collector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
