#!/usr/bin/env node
/** The entry point of `svc`, which prints the version and all help without loading anything else. */
import { VERSION } from '../src/version.ts'
import { rootHelp } from './nouns.ts'
import { writtenHelp } from './written-help.ts'

// `svc … | head` closes the pipe, which is no error. Any other error is reported on one line.
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

// bigint-buffer, a dependency of @solana/spl-token, warns at load that it runs without its native part, about which a
// user can do nothing.
const { console } = globalThis
const { warn } = console
console.warn = (...line: unknown[]) => {
  if (!String(line[0]).startsWith('bigint: Failed to load bindings')) warn(...line)
}

const argv = process.argv.slice(2)
const [only] = argv
if (argv.length === 1 && (only === '--version' || only === '-V')) process.stdout.write(`${VERSION}\n`)
else if (argv.length === 0 || (argv.length === 1 && (only === '--help' || only === '-h' || only === 'help')))
  process.stdout.write(rootHelp(process.stdout.columns))
else {
  const help = writtenHelp(argv, process.stdout.columns)
  if (help !== undefined) process.stdout.write(help)
  else run()
}

function run(): void {
  // The file that starts is CommonJS, which knows no `await` outside of a function.
  void import('./main.ts').then(async ({ main }) => {
    process.exitCode = await main(argv)
  })
}
