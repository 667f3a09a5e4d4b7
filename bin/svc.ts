#!/usr/bin/env node
/** The entry point of `svc`, which prints the version and all help without loading anything else. */
import { rootHelp } from '../commands/cli/nouns.ts'
import { standardOutput } from '../commands/cli/standard-output.ts'
import { writtenCommands, writtenHelp } from '../commands/cli/written-help.ts'
import { VERSION } from '../src/platform/version.ts'

if (process.pid === 1) endAtSignals()
const argv = process.argv.slice(2)
const [only] = argv
const help = () => writtenCommands(argv) ?? writtenHelp(argv, () => standardOutput(1).columns)
const text = isVersion() ? `${VERSION}\n` : isRootHelp() ? rootHelp(standardOutput(1).columns) : help()
if (text === undefined) run()
else standardOutput(1).write(text)

/**
 * Linux ignores signals for which the first process of a container has no listener. This listener ends the process
 * until the command has added its own.
 */
function endAtSignals(): void {
  for (const [signal, number] of [['SIGINT', 2] as const, ['SIGTERM', 15] as const]) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number)
    })
  }
}

function isVersion(): boolean {
  return argv.length === 1 && (only === '--version' || only === '-V')
}

function isRootHelp(): boolean {
  return argv.length === 0 || (argv.length === 1 && (only === '--help' || only === '-h' || only === 'help'))
}

function run(): void {
  // The entry file is CommonJS, which has no top-level `await`.
  void import('./main.ts').then(async ({ main, outputTaken }) => {
    process.exitCode = await main(argv)
    await outputTaken()
    process.exit()
  })
}
