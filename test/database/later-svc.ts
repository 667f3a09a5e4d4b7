/** The program with one more migration, as its next version has it; with STOPS_AFTER that migration does not end. */
import { main } from '../../bin/main.ts'
import { addLaterMigration } from '../store/later-migration.ts'

addLaterMigration(Number(process.env.STOPS_AFTER ?? Number.POSITIVE_INFINITY))
process.exitCode = await main(process.argv.slice(2))
