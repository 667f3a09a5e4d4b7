/** A file whose tests are all skipped, so that no hook of it runs; what it made while it was loaded stays. */
import { it } from 'vitest'
import { commandLine } from '../../cli/command-line.ts'

const before = process.cwd()
commandLine()
if (process.cwd() !== before) throw new Error('the working folder of the files that follow in this worker has changed')

it.skip('is skipped', () => undefined)
