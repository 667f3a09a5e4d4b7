/** Writes log lines to standard error so that a reader that is slow, stuck or gone never stops the daemon. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'

/** Bytes that wait for a slow reader; further lines are dropped and counted. */
const MOST_WAITING_BYTES = 1_048_576
/** Characters after which buffered lines are written without waiting for their time. */
const FULL_CHARACTERS = 8_192
const WRITE_EVERY_MS = 50
/** Milliseconds that the end of the process waits for a reader that is behind, and between two looks at it. */
const CLOSE_MS = 250
const CLOSE_LOOK_MS = 5

export interface LineWriter {
  /** Writes the line, and those before it, at once. */
  write(line: string): void
  /** Writes the line within 50 ms, together with others. */
  writeSoon(line: string): void
  /** Writes what is buffered, as far as the reader takes it at once. */
  flush(): void
  /** Lines that were dropped so far. */
  dropped(): number
  /** Writes what is buffered, as far as the reader takes it within a quarter of a second. */
  close(): void
}

/** Writes to a file descriptor, by default standard error. A pipe is never waited for. */
export function createLineWriter(descriptor = 2): LineWriter {
  const target = openTarget(descriptor)
  let buffered = ''
  /** What was buffered and not taken yet, in pieces, because joining them again and again would cost more. */
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let droppedLines = 0
  let timer: NodeJS.Timeout | undefined

  const later = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      flush()
    }, WRITE_EVERY_MS).unref()
  }

  function add(line: string): void {
    if (waitingBytes + buffered.length + line.length > MOST_WAITING_BYTES) droppedLines++
    else buffered += line
  }

  function flush(): void {
    if (buffered !== '') {
      const piece = Buffer.from(buffered)
      waiting.push(piece)
      waitingBytes += piece.length
      buffered = ''
    }
    for (let piece = waiting[0]; piece !== undefined; piece = waiting[0]) {
      try {
        const written = writeSync(target.descriptor, piece)
        waitingBytes -= written
        if (written === piece.length) waiting.shift()
        else waiting[0] = piece.subarray(written)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
          later()
          return
        }
        // Nobody can read the log: the terminal or the reader is gone, or the disk is full. The daemon goes on.
        for (const lost of waiting) droppedLines += lineCount(lost)
        waiting = []
        waitingBytes = 0
      }
    }
  }

  return {
    write(line) {
      add(line)
      flush()
    },
    writeSoon(line) {
      add(line)
      if (buffered.length >= FULL_CHARACTERS) flush()
      else later()
    },
    flush,
    dropped: () => droppedLines,
    close() {
      const until = performance.now() + CLOSE_MS
      flush()
      // No timer runs while the process exits, so the thread itself waits.
      while (waiting.length > 0 && performance.now() < until) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CLOSE_LOOK_MS)
        flush()
      }
      clearTimeout(timer)
      if (target.isOwn) closeSync(target.descriptor)
    },
  }
}

const NEWLINE = 10

function lineCount(bytes: Uint8Array): number {
  let lines = 0
  for (const byte of bytes) if (byte === NEWLINE) lines++
  return lines
}

/** A pipe is opened anew, because non-blocking mode would otherwise hold for every process that shares it. */
function openTarget(descriptor: number): { descriptor: number; isOwn: boolean } {
  try {
    if (fstatSync(descriptor).isFIFO()) {
      const flags = constants.O_WRONLY | constants.O_NONBLOCK
      return { descriptor: openSync(`/proc/self/fd/${descriptor}`, flags), isOwn: true }
    }
  } catch {
    // Without /proc, the descriptor itself is used, and a full pipe is waited for.
  }
  return { descriptor, isOwn: false }
}
