/** Gives standard output and standard error of this process, and handles the failure of one of them. */
import { pause } from '../../src/platform/timing.ts'

/** What commands write to. A terminal also has a size. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** Milliseconds that a server waits at its end for the reader of its output. */
const SERVER_END_MS = 250

let outlivesReaders = false

/**
 * Lets a server go on when the reader of its output closes the pipe, as `svc serve | grep -m1 …` does, or when there
 * is no room for its log.
 */
export function outliveReaders(): void {
  outlivesReaders = true
}

const watched = new Set<NodeJS.WriteStream>()

/** The stream of this process with that descriptor. Node opens it on first use. */
export function standardOutput(descriptor: 1 | 2): NodeJS.WriteStream {
  const stream = descriptor === 1 ? process.stdout : process.stderr
  if (watched.has(stream)) return stream
  watched.add(stream)
  const isTerminal = stream.isTTY
  return stream.on('error', (error: NodeJS.ErrnoException) => {
    if (outlivesReaders && (error.code === 'EPIPE' || descriptor === 2)) return
    // `svc … | head` closes the pipe; that is not an error of the command.
    if (error.code === 'EPIPE') process.exit()
    // The terminal was closed; SIGHUP follows and stops the command in order.
    if (error.code === 'EIO' && isTerminal) return
    if (descriptor === 1) standardOutput(2).write(`error: standard output: ${error.message}\n`)
    process.exit(1)
  })
}

/** Resolves when all output has been taken. A process that ends before loses what a slow pipe has not taken. */
export async function outputTaken(): Promise<void> {
  const taken = [...watched].map((stream) => new Promise((resolve) => void stream.write('', resolve)))
  await Promise.race([Promise.all(taken), ...(outlivesReaders ? [pause(SERVER_END_MS)] : [])])
}
