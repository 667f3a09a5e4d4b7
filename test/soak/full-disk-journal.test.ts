/** The journal of a list on a disk that is full for one line. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { SendJournal } from '../../commands/lists/batches/journal.ts'
import { temporaryFolder } from '../support/service.ts'

const PRLIMIT = spawnSync('prlimit', ['--version']).status === 0

it.skipIf(!PRLIMIT)('A line that a full disk cuts off is removed, so that the next one is whole', async () => {
  const file = join(temporaryFolder(), 'journal')
  const journals = join(import.meta.dirname, '../../commands/lists/batches/journal.ts')
  const script = `
    import { execFileSync } from 'node:child_process'
    const { SendJournal } = await import(${JSON.stringify(journals)})
    const journal = new SendJournal(${JSON.stringify(file)}, { mint: 'mint', payer: 'payer', cluster: null })
    await journal.begin()
    const batch = (transaction) => ({ recipients: [], sending: { transaction, signature: 's', last_valid_block_height: 1 } })
    process.on('SIGXFSZ', () => {})
    execFileSync('prlimit', ['--fsize=4096:', '--pid', String(process.pid)])
    try {
      journal.write('1', batch('x'.repeat(5_000)))
    } catch (error) {
      process.stdout.write(error.message)
    }
    journal.write('2', batch('short'))`
  const { stdout } = await execa('node', ['--import', 'tsx', '--input-type=module', '-e', script])
  expect(stdout).toContain(`the journal ${file} cannot be read or written`)
  expect([...new SendJournal(file, { mint: 'mint', payer: 'payer', cluster: 'embedded' }).entries.keys()]).toEqual([
    '2',
  ])
})
