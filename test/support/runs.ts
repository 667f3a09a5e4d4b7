/** How much of an exhaustive test a run does: a sample in `npm test`, all of it in `npm run test:soak`. */

export const inSoak = process.env.SVC_TEST_SOAK === 'yes'

/** How often the soak kills, and how many random stories it tells: `usual` in `.ci/run`, `all` with SVC_SOAK=long. */
export const soakRuns = (usual: number, all: number): number => (process.env.SVC_SOAK === 'long' ? all : usual)

/** A number of runs, rows or cases: `sample` in `npm test`, `all` in the soak. */
export const runs = (sample: number, all: number): number => (inSoak ? all : sample)
