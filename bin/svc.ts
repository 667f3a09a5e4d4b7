#!/usr/bin/env node
/** The entry point of `svc`, which prints the version and all help without loading anything else. */
import { fstatSync, writeSync } from 'node:fs'
import { VERSION } from '../src/version.ts'
import { rootHelp } from './nouns.ts'
import { writtenHelp } from './written-help.ts'

const STDOUT = 1

const argv = process.argv.slice(2)
const [only] = argv
if (argv.length === 1 && (only === '--version' || only === '-V')) print(`${VERSION}\n`)
else if (argv.length === 0 || (argv.length === 1 && (only === '--help' || only === '-h' || only === 'help')))
  print(rootHelp(columnsOf()))
else {
  const help = writtenHelp(argv, columnsOf)
  if (help !== undefined) print(help)
  else run()
}

/** Writes without the stream of standard output, which takes longer to set up than all the rest of such a command. */
function print(text: string): void {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest))
  } catch {
    // The stream waits for a pipe that is full, and reports what went wrong.
    watchStreams()
    process.stdout.write(rest)
  }
}

/** The width of the terminal; undefined for a file or a pipe, of which the stream need not be asked. */
function columnsOf(): number | undefined {
  return fstatSync(STDOUT).isCharacterDevice() ? process.stdout.columns : undefined
}

function run(): void {
  watchStreams()
  silenceBindings()
  // The file that starts is CommonJS, which knows no `await` outside of a function.
  void import('./main.ts').then(async ({ main }) => {
    process.exitCode = await main(argv)
  })
}

/** `svc … | head` closes the pipe, which is no error. Any other error is reported on one line. */
function watchStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const isTerminal = stream.isTTY
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit()
      // The terminal was closed; SIGHUP follows and stops the command in order.
      if (error.code === 'EIO' && isTerminal) return
      if (stream === process.stdout) process.stderr.write(`error: standard output: ${error.message}\n`)
      process.exit(1)
    })
  }
}

/**
 * bigint-buffer, a dependency of @solana/spl-token, warns at load that it runs without its native part, about which a
 * user can do nothing.
 */
function silenceBindings(): void {
  const { console } = globalThis
  const { warn } = console
  console.warn = (...line: unknown[]) => {
    if (!String(line[0]).startsWith('bigint: Failed to load bindings')) warn(...line)
  }
}
