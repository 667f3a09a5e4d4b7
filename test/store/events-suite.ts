/** Suite: events are numbered without gaps, and the same one is written once. */
import { describe, expect, test } from 'vitest'
import { appendEvent, appendEvents, findEvent, type NewEvent, pageEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import type { Store } from '../../src/store/store.ts'
import { freshStore, numbers, type TestDatabase, twoStores } from './databases.ts'

const event = (dedupeKey: string, changes: Partial<NewEvent> = {}): NewEvent => ({
  id: newId('evt'),
  type: 'pool.created',
  resource_type: 'pool',
  resource_id: 'pool 1',
  object_json: '{}',
  external_uid: null,
  metadata_json: null,
  dedupe_key: dedupeKey,
  created_at: 1000,
  ...changes,
})

const append = (store: Store, dedupeKey: string, changes?: Partial<NewEvent>) =>
  store.write((tx) => appendEvent(tx, event(dedupeKey, changes)))

const sequences = async (store: Store) =>
  (await store.db.selectFrom('events').select('sequence').orderBy('sequence').execute()).map((row) => row.sequence)

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const upTo = (count: number) => numbers(count).map((n) => n + 1)

export function eventsSuite(database: TestDatabase): void {
  describe('events', () => {
    test('are numbered without a gap by 200 simultaneous writes, some of which are rolled back', async () => {
      const stores = await twoStores(database)
      const outcomes = await Promise.allSettled(
        numbers(200).map((n) =>
          stores[n % 2]!.write(async (tx) => {
            const appended = await appendEvent(tx, event(`${n}`))
            if (n % 10 === 3) throw new Error('rolled back')
            return appended!.sequence
          }),
        ),
      )
      const kept = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      expect(kept.sort((a, b) => a - b)).toEqual(upTo(180))
      expect(await sequences(stores[0]!)).toEqual(upTo(180))
    })

    test('appended together are numbered in order, without known and repeated ones', async () => {
      const stores = await twoStores(database)
      await append(stores[0], '7')
      const batches = numbers(20).map((n) => numbers(60).map((i) => event(`${(n * 30 + i) % 400}`)))
      await Promise.all(batches.map((batch, n) => stores[n % 2]!.write((tx) => appendEvents(tx, batch))))
      const rows = await stores[0].db.selectFrom('events').selectAll().orderBy('sequence').execute()
      expect(rows.map((row) => row.sequence)).toEqual(upTo(400))
      expect(new Set(rows.map((row) => row.dedupe_key)).size).toBe(400)
      await stores[1].write((tx) =>
        appendEvents(
          tx,
          numbers(1_200).map((n) => event(`more ${n}`)),
        ),
      )
      await append(stores[0], 'last')
      expect(await sequences(stores[0])).toEqual(upTo(1_601))
    })

    test('appended in small groups to two stores at once are numbered without a gap and in the order of time', async () => {
      const stores = await twoStores(database)
      const batches = numbers(60).map((n) =>
        numbers(4).map((i) => event(`${(n * 2 + i) % 90}`, { created_at: 1_000 + ((n * 37 + i * 11) % 200) })),
      )
      await Promise.all(batches.map((batch, n) => stores[n % 2]!.write((tx) => appendEvents(tx, batch))))
      const rows = await stores[0].db.selectFrom('events').selectAll().orderBy('sequence').execute()
      expect(rows.map((row) => row.sequence)).toEqual(upTo(90))
      expect(new Set(rows.map((row) => row.dedupe_key)).size).toBe(90)
      let latest = 0
      for (const row of rows) {
        latest = Math.max(latest, row.created_at)
        expect(row.latest_at).toBe(latest)
      }
      const counter = await stores[1].db.selectFrom('counters').select('value').where('name', '=', 'events').execute()
      expect(counter).toEqual([{ value: 90 }])
    })

    test('that are known already do not wait for another process that is writing events', async () => {
      const [one, other] = await twoStores(database)
      await append(one, 'known')
      const writing = deferred()
      const known = deferred()
      const held = one.write(async (tx) => {
        await appendEvent(tx, event('new'))
        writing.resolve()
        // On SQLite there is one writer, which no other may wait for.
        if (one.kind === 'postgres') await known.promise
      })
      await writing.promise
      await other.write((tx) => appendEvents(tx, [event('known'), event('known')]))
      known.resolve()
      await held
      expect(await sequences(one)).toEqual([1, 2])
    })

    test('never show a follower a number before all smaller ones', async () => {
      const [writer, follower] = await twoStores(database)
      let writing = true
      const written = Promise.all(numbers(150).map((n) => append(writer, `${n}`))).finally(() => (writing = false))
      let looks = 0
      while (writing) {
        const seen = await sequences(follower)
        expect(seen).toEqual(upTo(seen.length))
        looks++
        await new Promise(setImmediate)
      }
      await written
      expect(looks).toBeGreaterThan(0)
      expect(await sequences(follower)).toEqual(upTo(150))
    })

    test('seen twice are one event, and the second takes no number', async () => {
      const stores = await twoStores(database)
      const same = await Promise.all(numbers(24).map((n) => append(stores[n % 2]!, 'same')))
      expect(same.filter((row) => row !== null)).toHaveLength(1)
      expect((await append(stores[0]!, 'other'))?.sequence).toBe(2)
      expect(await append(stores[0]!, 'same')).toBeNull()
      expect((await append(stores[1]!, 'third'))?.sequence).toBe(3)
    })

    test('of one transaction are numbered in the order they were appended', async () => {
      const store = await freshStore(database)
      await store.write(async (tx) => {
        for (const name of ['a', 'b', 'a', 'c']) await appendEvent(tx, event(name))
      })
      const { rows } = await pageEvents(store.db, { limit: 10, order: 'asc' })
      expect(rows.map((row) => [row.sequence, row.dedupe_key])).toEqual([
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ])
    })

    test('are found by id, and listed by type, resource and time in either direction', async () => {
      const store = await freshStore(database)
      const first = await append(store, '1', { created_at: 10 })
      await append(store, '2', { created_at: 20, resource_id: 'pool 2' })
      await append(store, '3', { created_at: 30, type: 'token.created', resource_type: 'token' })
      expect(await findEvent(store.db, first!.id)).toEqual({ ...first, latest_at: 10 })
      expect(await findEvent(store.db, 'evt_none')).toBeNull()
      const keys = async (filters: Partial<Parameters<typeof pageEvents>[1]>) =>
        (await pageEvents(store.db, { limit: 10, ...filters })).rows.map((row) => row.dedupe_key)
      expect(await keys({})).toEqual(['3', '2', '1'])
      expect(await keys({ order: 'asc' })).toEqual(['1', '2', '3'])
      expect(await keys({ type: 'pool.created' })).toEqual(['2', '1'])
      expect(await keys({ resource_type: 'token' })).toEqual(['3'])
      expect(await keys({ resource_id: 'pool 1' })).toEqual(['3', '1'])
      expect(await keys({ created_after: 10, resource_type: 'pool' })).toEqual(['2'])
    })

    test('are found by their time, although clocks had jumped', async () => {
      const store = await freshStore(database)
      const moments = [50, 90, 30, 10, 100, 95]
      for (const [n, at] of moments.entries()) await append(store, `${n}`, { created_at: at })
      for (const moment of [0, 10, 30, 50, 60, 90, 94, 95, 100]) {
        const { rows } = await pageEvents(store.db, { limit: 9, order: 'asc', created_after: moment })
        expect(rows.map((row) => row.created_at)).toEqual(moments.filter((at) => at > moment))
      }
    })

    test('have different cursors in each direction', async () => {
      const store = await freshStore(database)
      for (const key of ['1', '2', '3']) await append(store, key)
      const { next_cursor } = await pageEvents(store.db, { limit: 1 })
      const turned = pageEvents(store.db, { limit: 1, order: 'asc', cursor: next_cursor! })
      await expect(turned).rejects.toMatchObject({ code: 'bad_request', param: 'cursor' })
      const next = await pageEvents(store.db, { limit: 1, cursor: next_cursor! })
      expect(next.rows.map((row) => row.sequence)).toEqual([2])
    })
  })
}
