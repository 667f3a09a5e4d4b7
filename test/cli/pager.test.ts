/** Which pager a command uses, and for what. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { pagerOf } from '../../commands/ui/pager.ts'
import { isHigher } from '../../commands/ui/ui.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const folder = makeSharedFolder('svc-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('The pager', () => {
  it('is SVC_PAGER, else PAGER, else less if it is installed', () => {
    const less = join(folder, 'less')
    writeFileSync(less, '')
    chmodSync(less, 0o755)
    expect(pagerOf({ SVC_PAGER: 'most', PAGER: 'more' })).toBe('most')
    expect(pagerOf({ PAGER: 'more -s' })).toBe('more -s')
    expect(pagerOf({ PATH: `/nowhere:${folder}` })).toBe('less')
    for (const env of [{ PATH: '/nowhere' }, { SVC_PAGER: '', PAGER: 'more' }, { PAGER: 'cat' }]) {
      expect(pagerOf(env)).toBeNull()
    }
    expect(pagerOf({ PAGER: 'more', TERM: 'dumb' })).toBeNull()
  })

  it('is used for output that is higher than the screen', () => {
    expect(isHigher('a\nb\n', { write: () => undefined, rows: 3 })).toBe(false)
    expect(isHigher('a\nb\nc\n', { write: () => undefined, rows: 3 })).toBe(true)
    expect(isHigher('a\nb\nc\n', { write: () => undefined })).toBe(false)
  })
})
