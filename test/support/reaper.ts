/** Outlives a test run that ends without its last step, killed for example: ends the run's processes and removes its folder. */
import { clear } from './leftovers.ts'

// The run holds the other end of this pipe, which closes with it whatever ended it.
process.stdin.resume().on('end', () => void clear(process.argv[2] ?? '').then(() => process.exit()))
