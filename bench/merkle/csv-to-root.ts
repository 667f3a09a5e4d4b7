/** Measured as a process: reads the CSV named by its argument, hashes its tree, prints the root. */
import { openSync } from 'node:fs'
import { fileSource } from '../../src/merkle/csv-source.ts'
import { readRecipientCsv, recipientRoot } from '../../src/merkle/recipient-tree.ts'
import { toHex } from '../../src/merkle/tree.ts'

const source = fileSource(openSync(process.argv[2]!, 'r'))
if (source === undefined) throw new Error('a regular file is needed')
process.stdout.write(toHex(recipientRoot(readRecipientCsv(source).list)))
