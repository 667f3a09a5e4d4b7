/** Journals of resumable runs: on the disk before anything is sent, and read again as earlier versions wrote them. */
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { keyRows, mintJournal } from '../../commands/nfts/mint-journal.ts'
import { type LaunchedEntry, LaunchListJournal } from '../../commands/pools/list-journal.ts'
import { RunJournal } from '../../commands/signing/journal.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const folder = makeSharedFolder('svc-journals-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const numbers = (file: string) =>
  new RunJournal<number>(join(folder, file), { parse: (value) => (typeof value === 'number' ? value : null) })

describe('a journal', () => {
  it('is begun by one of two runs, and read by both', () => {
    const [first, second] = [numbers('both.json'), numbers('both.json')]
    expect([first.begin(1), second.begin(2), first.read()]).toEqual([1, 1, 1])
    expect(statSync(first.file).mode & 0o777).toBe(0o600)
    second.write(3)
    expect(first.read()).toBe(3)
    first.remove()
    expect([second.read(), second.touchedAt()]).toEqual([null, 0])
    expect(readdirSync(folder)).toEqual([])
  })

  it('of a list of launches is one run’s at a time, and read again by the next', async () => {
    const file = join(folder, 'launches.csv.launch.json')
    const terms = { payer: 'payer', cluster: 'embedded' }
    const entry: LaunchedEntry = {
      sha256: '',
      pool: 'pool',
      mint: 'mint',
      isLive: false,
      built: null,
      signed: null,
      signatures: ['signed'],
    }
    const [first, second] = [new LaunchListJournal(file, terms), new LaunchListJournal(file, terms)]
    second.refuseWhileHeld()
    const release = await first.begin()
    first.write('abc', entry)
    const inUse = expect.objectContaining({ code: 'conflict', message: expect.stringContaining('another run') })
    expect(() => second.refuseWhileHeld()).toThrow(inUse)
    await expect(second.begin()).rejects.toThrow(inUse)
    release()

    const end = await second.begin()
    expect(second.entry('ABC')).toEqual(entry)
    second.write('def', entry)
    end()
    expect(new LaunchListJournal(file, terms).symbols()).toEqual(['ABC', 'DEF'])
    const other = new LaunchListJournal(join(folder, 'later.json'), { ...terms, payer: 'other' })
    writeFileSync(other.file, JSON.stringify({ version: 1, ...terms, launches: {} }))
    await expect(other.begin()).rejects.toThrow('was begun with the keypair payer, not other')
    await (await new LaunchListJournal(other.file, terms).begin())()
    expect(statSync(`${file}.lock`).mode & 0o777).toBe(0o600)
  })

  it('counts as none where the file holds something else', () => {
    const journal = numbers('other.json')
    writeFileSync(journal.file, 'not JSON')
    expect(journal.read()).toBeNull()
    journal.remove()
  })

  it('of a list that an earlier version began leads to the same keys', () => {
    const file = join(folder, 'list.csv.mint.json')
    const terms = { collection: 'collection', payer: 'payer', cluster: 'embedded' }
    const seed = '07'.repeat(32)
    const rows = [{ name: '#1', uri: 'https://example.com/1.json', owner: null, line: 2 }]
    const written = { version: 1, ...terms, seed, rows: [['#1', 'https://example.com/1.json', 'payer']] }
    writeFileSync(file, `${JSON.stringify(written, undefined, 2)}\n`)
    const keyed = keyRows(mintJournal(file), terms, rows, { write: true })
    expect(keyed.gone).toEqual([])
    expect(keyed.rows.map(({ owner, assetSeed }) => [owner, Buffer.from(assetSeed).toString('hex')])).toEqual([
      ['payer', '719453f1e97e63a679e49efa8b204f344f65918c07136333144733cd3c369d0a'],
    ])
    expect(() => keyRows(mintJournal(file), { ...terms, payer: 'other' }, rows, { write: false })).toThrow(
      'was begun with the keypair payer, not other',
    )
  })
})
