/** Reads a SQLite file through three connections of which one always has a transaction open, until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'

const [, , file, milliseconds] = process.argv
const rounds = Array.from({ length: 3 }, async (_, turn) => {
  const database = new Database(file, { readonly: true })
  await delay((Number(milliseconds) / 3) * turn)
  for (;;) {
    database.exec('begin')
    database.prepare('select count(*) from settings').get()
    if (turn === 2) process.stdout.write('.')
    await delay(Number(milliseconds))
    database.exec('commit')
  }
})
await Promise.all(rounds)
