#!/usr/bin/env node
/** The entry point of `svc`, which prints the version and all help without loading anything else. */
import { standardOutput } from '../commands/standard-output.ts'
import { VERSION } from '../src/version.ts'
import { rootHelp } from './nouns.ts'
import { writtenCommands, writtenHelp } from './written-help.ts'

const argv = process.argv.slice(2)
const [only] = argv
const help = () => writtenCommands(argv) ?? writtenHelp(argv, () => standardOutput(1).columns)
const text = isVersion() ? `${VERSION}\n` : isRootHelp() ? rootHelp(standardOutput(1).columns) : help()
if (text === undefined) run()
else standardOutput(1).write(text)

function isVersion(): boolean {
  return argv.length === 1 && (only === '--version' || only === '-V')
}

function isRootHelp(): boolean {
  return argv.length === 0 || (argv.length === 1 && (only === '--help' || only === '-h' || only === 'help'))
}

function run(): void {
  silenceBindings()
  // The file that starts is CommonJS, which knows no `await` outside of a function.
  void import('./main.ts').then(async ({ main, isAllTaken }) => {
    process.exitCode = await main(argv)
    // A command has closed what it opened. To take JavaScript's world apart takes Node longer than to end.
    if (isAllTaken()) process.exit()
  })
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
