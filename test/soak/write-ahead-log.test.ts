/** The write-ahead log of SQLite while readers of another process overlap without a gap. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../store/databases.ts'
import { token } from '../store/rows.ts'

const MIB = 1024 * 1024

/** Another process in which a read transaction is open at any moment. */
async function readWithoutGap(file: string, milliseconds: number): Promise<void> {
  const reader = spawn(
    process.execPath,
    [join(import.meta.dirname, '../store/overlapping-readers.mjs'), file, String(milliseconds)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(async () => {
    const gone = once(reader, 'exit')
    reader.kill()
    await gone
  })
  await once(reader.stdout, 'data')
}

const large = (name: string) => ({ ...token(name), raw_json: 'x'.repeat(256 * 1024) })

describe('the write-ahead log', () => {
  test('stays bounded while readers of another process overlap without a gap', async () => {
    const [dataDir, unboundDir] = [temporaryFolder(), temporaryFolder()]
    const limit = 4 * MIB
    const written = 24 * MIB
    const grown = async (folder: string, largest: number) => {
      const store = await openSqlite({ dataDir: folder, largestWalBytes: largest })
      onTestFinished(() => store.close())
      const file = join(folder, 'svc.db')
      await readWithoutGap(file, 30)
      let most = 0
      for (let n = 0; n < written / (256 * 1024); n++) {
        await store.write((tx) => insertToken(tx, large(`${n}`)))
        most = Math.max(most, statSync(`${file}-wal`).size)
      }
      expect((await pageTokens(store.db, { limit: 1 })).rows).toHaveLength(1)
      return most
    }
    // As SQLite does by itself.
    const unbound = await grown(unboundDir, Number.POSITIVE_INFINITY)
    const bound = await grown(dataDir, limit)
    process.stdout.write(`  largest log: ${(unbound / MIB).toFixed(0)} MiB, bounded ${(bound / MIB).toFixed(0)} MiB\n`)
    expect(unbound).toBeGreaterThan(3 * limit)
    expect(bound).toBeLessThan(2 * limit)
  })
})
