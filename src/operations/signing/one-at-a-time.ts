/** Work on one wallet that must not overlap in this process: what it holds is not read while it pays. */

const ends = new Map<string, Promise<unknown>>()

/** Runs `work` when everything asked for earlier under the same name has ended, well or not. */
export async function oneAtATime<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = ends.get(name) ?? Promise.resolve()
  const own = before.then(work, work)
  const end = own.catch(() => undefined)
  ends.set(name, end)
  try {
    return await own
  } finally {
    if (ends.get(name) === end) ends.delete(name)
  }
}
