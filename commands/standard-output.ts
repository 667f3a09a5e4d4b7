/** Standard output and standard error, without their streams for files and pipes, as a stream takes long to set up. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'

/** What commands write to. A terminal is its stream, which has the size and can be used by a prompt. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

const opened = new Set<NodeJS.WriteStream>()

const outputs = new Map<1 | 2, Output>()

/** The output of this process with that descriptor, which is set up when it is first asked for. */
export function standardOutput(descriptor: 1 | 2): Output {
  const output = outputs.get(descriptor) ?? openOutput(descriptor)
  outputs.set(descriptor, output)
  return output
}

/** The stream is used for a terminal, and when a text is not taken at once. */
function openOutput(descriptor: 1 | 2): Output {
  const target = unwaitedTarget(descriptor)
  if (target === undefined) return streamOf(descriptor)
  let stream: NodeJS.WriteStream | undefined
  return {
    write(text) {
      if (stream !== undefined) return stream.write(text)
      let rest = Buffer.from(text)
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(target, rest))
      } catch {
        // The stream waits for a pipe that is full, and reports what went wrong.
        stream = streamOf(descriptor)
        stream.write(rest)
      }
      return
    },
  }
}

/** Whether no stream was needed, so that the system has taken everything: a stream tells later of what it could not write. */
export const isAllTaken = () => opened.size === 0

let outlivesReaders = false

/** Lets the process go on when whoever read its output has closed the pipe, as `svc serve | grep -m1 …` does. */
export function outliveReaders(): void {
  outlivesReaders = true
}

/** `svc … | head` closes the pipe, which is no error. Any other error is reported on one line. */
function streamOf(descriptor: 1 | 2): NodeJS.WriteStream {
  const stream = descriptor === 1 ? process.stdout : process.stderr
  if (opened.has(stream)) return stream
  opened.add(stream)
  const isTerminal = stream.isTTY
  return stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && outlivesReaders) return
    if (error.code === 'EPIPE') process.exit()
    // The terminal was closed; SIGHUP follows and stops the command in order.
    if (error.code === 'EIO' && isTerminal) return
    if (descriptor === 1) standardOutput(2).write(`error: standard output: ${error.message}\n`)
    process.exit(1)
  })
}

/** The major number of `/dev/null` and its like on Linux. */
const MEMORY_DEVICES = 1

/**
 * A descriptor that takes a text without waiting for a reader; undefined where only the stream does. A pipe is opened
 * anew, because non-blocking mode would otherwise hold for every process that shares it.
 */
function unwaitedTarget(descriptor: 1 | 2): number | undefined {
  try {
    const stats = fstatSync(descriptor)
    if (stats.isFile()) return descriptor
    if (process.platform !== 'linux') return undefined
    if (stats.isCharacterDevice()) return stats.rdev >> 8 === MEMORY_DEVICES ? descriptor : undefined
    if (!stats.isFIFO()) return undefined
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}
