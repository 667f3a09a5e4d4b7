/** Ids: their shape, and that every character is equally likely. */
import { describe, expect, test } from 'vitest'
import { newId, newTimedId, randomText } from '../../src/store/id.ts'
import { numbers } from './databases.ts'

describe('an id', () => {
  test('is its prefix and 24 base62 characters, and never the same', () => {
    const ids = numbers(1000).map(() => newId('evt'))
    for (const id of ids) expect(id).toMatch(/^evt_[0-9A-Za-z]{24}$/)
    expect(new Set(ids).size).toBe(1000)
  })

  test('takes each byte below 248 as one character, and skips the others', () => {
    let next = 0
    const counting = (size: number) => Uint8Array.from(numbers(size), () => next++ & 255)
    const counts = new Map<string, number>()
    for (const character of randomText(248, counting)) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect([...counts.values()]).toEqual(numbers(62).map(() => 4))
    expect(newId('key', (size) => new Uint8Array(size).fill(61))).toBe(`key_${'z'.repeat(24)}`)
  })

  test('that starts with its time has the same shape, sorts by time, and never repeats', () => {
    const moments = [0, 1, 61, 62, 1_790_000_000_000, 1_790_000_000_001, 8_640_000_000_000_000 / 62]
    const ids = moments.map((at) => newTimedId('whd', at))
    for (const id of ids) expect(id).toMatch(/^whd_[0-9A-Za-z]{24}$/)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(numbers(1000).map(() => newTimedId('whd', 1))).size).toBe(1000)
  })
})
