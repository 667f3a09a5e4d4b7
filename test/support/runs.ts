/** How much of an exhaustive test a run does: a sample in `npm test`, all of it in `npm run test:soak`. */
import { it } from 'vitest'

export const inSoak = process.env.SVC_TEST_SOAK === 'yes'

/** How often the soak kills, and how many random stories it tells: `usual` in `.ci/run`, `all` with SVC_SOAK=long. */
export const soakRuns = (usual: number, all: number): number => (process.env.SVC_SOAK === 'long' ? all : usual)

/** A number of runs, rows or cases: `sample` in `npm test`, `all` in the soak. */
export const runs = (sample: number, all: number): number => (inSoak ? all : sample)

/** What `npm test` leaves out runs in the soak, and on PostgreSQL in `npm run test:postgres`. */
const isWhole = inSoak || process.env.SVC_TEST_DATABASE === 'postgres'

/** A test that `npm test` leaves out: a variant or a fault, beside the main way of what it is about. */
export function itInSoak(title: string, test: () => unknown): void {
  it.skipIf(!isWhole)(title, { tags: 'sampled' }, async () => void (await test()))
}

/** One case of each kind in `npm test`, at another place of each next kind; elsewhere all of them. */
export function oneOfEach<T>(cases: readonly T[], kindOf: (each: T, place: number) => unknown): readonly T[] {
  if (isWhole) return cases
  const kinds = new Map<unknown, T[]>()
  for (const [place, each] of cases.entries()) {
    const kind = kindOf(each, place)
    kinds.set(kind, [...(kinds.get(kind) ?? []), each])
  }
  return [...kinds.values()].map((all, i) => all[i % all.length]!)
}

/** One of every `count` cases in `npm test`, and elsewhere all of them. */
export const oneIn = <T>(count: number, cases: readonly T[]): readonly T[] =>
  oneOfEach(cases, (_, place) => Math.floor(place / count))
