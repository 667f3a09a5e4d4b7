/** Writes log lines to standard error; a reader that is slow, stuck or gone never stops the daemon. */
import type { Writable } from 'node:stream'

/** The most characters that wait for a slow reader; further lines are dropped and counted. */
const MOST_WAITING_CHARACTERS = 1_048_576
/** Access lines are written together, because one write costs as much as the answer to a quick request. */
const WRITE_EVERY_MS = 50

export interface LineWriter {
  /** Writes the buffered lines and this one immediately. */
  write(line: string): void
  /** Writes the line within 50 ms, together with others. */
  writeSoon(line: string): void
  /** Writes what is buffered. */
  flush(): void
  /** Number of lines dropped so far. */
  dropped(): number
}

/**
 * Writes to a stream, by default standard error. pino's own destination writes on a thread; a full pipe blocks this
 * thread, and with it the end of the process. The stream of a pipe never blocks.
 */
export function createLineWriter(stream: Writable = process.stderr): LineWriter {
  let buffered = ''
  let lines = 0
  let droppedLines = 0
  let timer: NodeJS.Timeout | undefined
  // The terminal or the reader of the log is gone, or the disk is full. The daemon continues.
  stream.on('error', () => {})

  function add(line: string): void {
    if (stream.writableLength + buffered.length + line.length > MOST_WAITING_CHARACTERS) {
      droppedLines++
      return
    }
    buffered += line
    lines++
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (lines === 0) return
    const written = lines
    stream.write(buffered, (error) => {
      if (error) droppedLines += written
    })
    buffered = ''
    lines = 0
  }

  return {
    write(line) {
      add(line)
      flush()
    },
    writeSoon(line) {
      add(line)
      timer ??= setTimeout(flush, WRITE_EVERY_MS).unref()
    },
    flush,
    dropped: () => droppedLines,
  }
}
