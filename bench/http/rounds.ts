/** Rates of servers that are measured in turn, as ratios to each other. */
import { type Cost, type Measurement, medianOf, ratiosOf } from '../measurement.ts'
import type { FloodClient, FloodTarget } from './client.ts'

const ROUNDS = 5

/** What a request costs each target: a warm-up, and then rounds over all of them. */
export async function costsInTurn(
  client: FloodClient,
  targets: readonly FloodTarget[],
  { warmUp, requests }: { warmUp: number; requests: number },
): Promise<Cost[][]> {
  for (const target of targets) await client.flood(target, warmUp)
  const costs = targets.map((): Cost[] => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, target] of targets.entries()) costs[i]?.push(await client.flood(target, requests))
  }
  return costs
}

/** The rate of `own` as a ratio to that of a floor: 2 is twice as many requests a second. */
export function rateBeside(name: string, own: readonly Cost[], floors: readonly Cost[], floor: string): Measurement {
  return { name, value: 1e6 / medianOf(own, 'wall'), unit: '/s', ...ratiosOf(floors, own), floor }
}
