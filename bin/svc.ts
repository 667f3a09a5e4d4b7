#!/usr/bin/env node
/** `svc`: the version and the top help answer at once; everything else is loaded first. */
import { VERSION } from '../src/version.ts'
import { rootHelp } from './nouns.ts'

// `svc … | head` closes the pipe: nothing is left to say. Anything else is a line, here too.
for (const stream of [process.stdout, process.stderr]) {
  const isTerminal = stream.isTTY
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    // The terminal is gone: SIGHUP follows, and stops what runs in order.
    if (error.code === 'EIO' && isTerminal) return
    if (stream === process.stdout) process.stderr.write(`error: standard output: ${error.message}\n`)
    process.exit(1)
  })
}

// bigint-buffer, under @solana/spl-token, says at load that it runs without its native part: no user can act on that.
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
  const { main } = await import('./main.ts')
  process.exitCode = await main(argv)
}
