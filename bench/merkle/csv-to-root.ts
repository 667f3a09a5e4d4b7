/** Measured as a process: reads the CSV named by its argument, builds the tree, prints the root. */
import { readFileSync } from 'node:fs'
import { readCsv } from '../../src/merkle/csv.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'

process.stdout.write(toHex(buildTree(readCsv(readFileSync(process.argv[2]!)).list).root))
