#!/usr/bin/env node
/** `svc`: the version and the top help answer at once; everything else is loaded first. */
import { VERSION } from '../src/version.ts'
import { rootHelp } from './nouns.ts'

const argv = process.argv.slice(2)
const [only] = argv
if (argv.length === 1 && (only === '--version' || only === '-V')) process.stdout.write(`${VERSION}\n`)
else if (argv.length === 1 && (only === '--help' || only === '-h' || only === 'help')) process.stdout.write(rootHelp())
else {
  const { main } = await import('./main.ts')
  process.exitCode = await main(argv)
}
