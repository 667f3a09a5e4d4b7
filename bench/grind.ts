/** Keys that `svc tokens grind` tries on one core, against `generateKeyPairSync('ed25519')`. */
import { generateKeyPairSync } from 'node:crypto'
import { matcherOf, tryKeys } from '../src/solana/grinding.ts'
import { type Cost, costOf, type Measurement, medianOf, ratiosOf } from './measurement.ts'

const ROUNDS = 9
const KEYS = 10_000
/** Seven letters, so that none is found. */
const matches = matcherOf({ startsWith: 'zzzzzzz', endsWith: '', ignoreCase: true })

/** Ten seconds. */
export async function grind(): Promise<Measurement[]> {
  const [own, floors]: [Cost[], Cost[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await costOf(() => tryKeys(matches, KEYS)))
    floors.push(await costOf(generateKeys))
  }
  return [
    {
      name: 'keys of svc tokens grind, one core',
      value: (KEYS * 1_000) / medianOf(own, 'processor'),
      unit: '/s',
      ...ratiosOf(floors, own),
      floor: 'generateKeyPairSync',
    },
  ]
}

function generateKeys(): void {
  for (let i = 0; i < KEYS; i++) generateKeyPairSync('ed25519')
}
